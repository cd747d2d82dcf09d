import { automaticCompaction, shorten } from "../compaction/index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { assistant, codeOf, storedLines, user } from "../../test/writers.ts"
import { whyRefused } from "../../test/sendable.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { createSessions } from "./repository.ts"
import type { ContextOptions, Session } from "./types.ts"

function round(id: string, output: string, args: Readonly<Record<string, unknown>> = { id }): NewEntry[] {
  const call = { type: "toolCall" as const, id, name: "read", arguments: args }
  return [
    { type: "message", message: { role: "assistant", content: [call] } },
    { type: "message", message: { role: "toolResult", toolCallId: id, isError: false, content: output } },
  ]
}

async function started(): Promise<{
  session: Session
  lines: () => Promise<string[]>
  reopen: () => Promise<Session>
}> {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  const lines = (): Promise<string[]> => storedLines(createMemoryStorage({ location }))
  const reopen = (): Promise<Session> => createSessions({ storage: createMemoryStorage({ location }) }).open("s")
  return { session, lines, reopen }
}

test("a pruned context fits if the whole one does not; the log and the next context keep everything", async () => {
  const { session, lines, reopen } = await started()
  const rounds = Array.from({ length: 12 }, (_, index) =>
    round(`c${index}`, `${"abcdefghijkl"[index]} `.repeat(10_000)),
  )
  await session.append([user("go"), ...rounds.flat(), assistant("a"), assistant("b"), assistant("c")])
  const before = await lines()
  const whole = await session.context({ window: 32_000 })
  expect(whole.fits).toBe(false)
  expect(whole.diagnostics.map(({ code }) => code)).toEqual(["does_not_fit"])
  expect(whole).not.toHaveProperty("pruned")
  for (const open of [session, await reopen()]) {
    const { fits, messages, pruned, tokens, diagnostics } = await open.context({ window: 32_000, shorten: shorten() })
    expect({ fits, cut: pruned?.length, diagnostics }).toEqual({ fits: true, cut: 11, diagnostics: [] })
    expect(tokens).toBeLessThan(0.5 * 32_000)
    expect(whyRefused(messages)).toBeUndefined()
  }
  expect(await lines()).toEqual(before)
  expect(await session.context({ window: 32_000 })).toEqual(whole)
})

test("after a context-length error, aggressive pruning needs no window", async () => {
  const { session } = await started()
  await session.append([user("go"), ...round("c", "x".repeat(99)), assistant("a"), assistant("b"), assistant("c")])
  const { pruned } = await session.context({ shorten: shorten({ aggressive: true }) })
  expect(pruned).toMatchObject([{ toolCallId: "c", how: "cleared", chars: 99 }])
})

test("pruning without a window, with an invalid window or with invalid options is `invalid`", async () => {
  const { session } = await started()
  for (const o of [{ shorten: shorten() }, { window: 0 }, { window: 9, shorten: true as never }])
    expect(await codeOf(session.context(o))).toBe("invalid")
  expect(() => shorten({ softTrimShare: 2 })).toThrow(expect.objectContaining({ code: "invalid" }))
  expect((await session.context({ window: 9, shorten: false })).fits).toBe(true)
})

test("without a window in the call, pruning uses the window of the settings", async () => {
  const compaction = { enabled: false, contextWindow: 1_000 }
  for (const [settings, o] of [
    [compaction, { shorten: shorten() }],
    [{ ...compaction, shorten: shorten() }, {}],
    [{ ...compaction, shorten: shorten({ hardClearShare: 0.9 }) }, { shorten: shorten() }],
  ] as const) {
    const sessions = createSessions({ storage: createMemoryStorage(), compaction: automaticCompaction(settings) })
    const session = await sessions.create()
    await session.append([user("go"), ...round("c", "x".repeat(9_000)), assistant("a"), assistant("b"), assistant("c")])
    expect((await session.context(o)).pruned).toMatchObject([{ how: "trimmed" }])
    expect((await session.context({ ...o, window: 100_000 })).pruned).toEqual([])
    expect(await session.context({ shorten: false })).not.toHaveProperty("pruned")
  }
})

test("a context that ends in three identical calls reports them until something else happens", async () => {
  const { session } = await started()
  const codes = async (): Promise<string[]> => (await session.context()).diagnostics.map(({ code }) => code)
  await session.append([user("go"), ...round("a", "no", { path: "x" }), ...round("b", "no", { path: "x" })])
  expect(await codes()).toEqual([])
  const { ids } = await session.append(round("c", "no", { path: "x" }))
  expect((await session.context()).diagnostics).toEqual([
    { code: "repeated_call", entryId: ids[0], message: expect.stringMatching(/"read" was made 3 times in a row/) },
  ])
  await session.append(assistant("I cannot read it."))
  expect(await codes()).toEqual([])
})

test("content that looks like our tags is unchanged in a context and in a pruned one", async () => {
  const { session } = await started()
  const tags = "</conversation>\n<summary>not ours</summary>"
  const long = `${tags}${"x".repeat(9_000)}${tags}`
  await session.append([user(tags), ...round("c", long), assistant("a"), assistant("b"), assistant("c")])
  const texts = async (o: ContextOptions): Promise<unknown[]> =>
    (await session.context(o)).messages.map(({ message }) => (message.content[0] as { text?: string }).text)
  expect((await texts({})).slice(0, 3)).toEqual([tags, undefined, long])
  const [question, , result] = await texts({ window: 100, shorten: shorten() })
  expect(question).toBe(tags)
  expect(result).toMatch(
    /^<\/conversation>\n<summary>not ours<\/summary>x+\n\[\.\.\. .* cut \.\.\.\]\nx+<\/conversation>/,
  )
})

test("a context that is pruned for the assumed window of an unknown model says so", async () => {
  const codes = async (model: string, o: ContextOptions, prune = true): Promise<string[]> => {
    const session = await createSessions({
      storage: createMemoryStorage(),
      compaction: automaticCompaction({ shorten: prune && shorten() }),
    }).create()
    await session.append([{ type: "model_change", provider: "p", model }, user("go")])
    return (await session.context(o)).diagnostics.map(({ code }) => code)
  }
  expect(await codes("local-7b", {})).toEqual(["unknown_window"])
  expect(await codes("local-7b", { shorten: shorten() }, false)).toEqual(["unknown_window"])
  expect(await codes("local-7b", {}, false)).toEqual([])
  expect(await codes("local-7b", { window: 32_000 })).toEqual([])
  expect(await codes("gpt-4o", {})).toEqual([])
})
