import { createMemoryStorage } from "@sessions/memory"
import { automaticCompaction, branchWithSummary } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, codeOf, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import { BRANCH_PREAMBLE } from "../summary/branch-summary.ts"
import { BRANCH_SUMMARY_PROMPT, SUMMARY_SYSTEM_PROMPT } from "../summary/prompts.ts"
import type { SummarizeRequest } from "../../compaction-settings/types.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"

test("the abandoned branch is summarized from the common ancestor, and the conversation continues behind the summary", async () => {
  const { session, reopen, location } = await startCompacting()
  const { ids } = await session.append([user("first"), assistant("second")])
  await session.append([user("third"), reading("a.ts"), done(), assistant("fourth")])
  const left = session.leafId
  const asked: SummarizeRequest[] = []
  const summarize = async (request: SummarizeRequest): Promise<string> => (asked.push(request), SUMMARY)
  const o = { details: { why: "tried" } }
  await branchWithSummary(
    session,
    ids[1] as string,
    { summarize, instructions: "Mind the tests.", temperature: 0.5 },
    o,
  )
  expect(asked).toHaveLength(1)
  const [{ prompt, system, maxTokens, temperature }] = asked as [SummarizeRequest]
  expect(prompt).toBe(
    `<conversation>\n[User]: third\n\n[Assistant tool calls]: read(path="a.ts")\n\n[Tool result]: done\n\n[Assistant]: fourth\n</conversation>\n\n${BRANCH_SUMMARY_PROMPT}\n\nMind the tests.`,
  )
  expect({ system, maxTokens, temperature }).toEqual({
    system: SUMMARY_SYSTEM_PROMPT,
    maxTokens: 13_107,
    temperature: 0.5,
  })
  const summary = `${BRANCH_PREAMBLE}\n\n${SUMMARY.trim()}\n\n<read-files>\na.ts\n</read-files>`
  expect((await storedEntries(location)).at(-1)).toMatchObject({
    type: "branch_summary",
    parentId: ids[1],
    fromId: left,
    summary,
    details: { why: "tried", readFiles: ["a.ts"], modifiedFiles: [] },
  })
  for (const open of [session, await reopen()]) {
    const texts = await contextTexts(open)
    expect(texts.slice(0, 2)).toEqual(["first", "second"])
    expect(texts[2]).toContain(`<summary>\n${summary}\n</summary>`)
    expect(texts).toHaveLength(3)
  }
})

test("back at the beginning, the whole branch is abandoned; a summary within it passes its files on", async () => {
  const { session, location } = await startCompacting()
  await session.append([user("one"), reading("a.ts"), done()])
  await branchWithSummary(session, null, { summarize: async () => "inner" })
  await session.append(assistant("two"))
  const asked: string[] = []
  await branchWithSummary(session, null, { summarize: async ({ prompt }) => (asked.push(prompt), "outer") })
  expect(asked[0]).toContain("inner")
  expect(asked[0]).toContain("two")
  expect((await storedEntries(location)).at(-1)).toMatchObject({
    parentId: null,
    details: { readFiles: ["a.ts"], modifiedFiles: [] },
  })
})

test("settings of the sessions apply to it too, and a budget takes the newest messages first and says what it left out", async () => {
  const asked: string[] = []
  const summarize = async ({ prompt }: SummarizeRequest): Promise<string> => (asked.push(prompt), "short")
  const { session, location } = await startCompacting({ compaction: automaticCompaction({ summarize }) })
  await session.append([user(`old ${FILLER}`), assistant(`new ${FILLER}`)])
  await branchWithSummary(session, null, { budget: 1_500 })
  expect(asked[0]).toContain("[Assistant]: new")
  expect(asked[0]).not.toContain("[User]: old")
  const summary = `${BRANCH_PREAMBLE}\n\n(Its 1 oldest message is not in the summary.)\n\nshort`
  expect((await storedEntries(location)).at(-1)).toMatchObject({ summary, details: { leftOut: 1 } })
})

test("a branch larger than the summarizer's window takes several requests, and every message is in one of them", async () => {
  const { session, location } = await startCompacting()
  const { ids } = await session.append(user("start"))
  const findings = Array.from({ length: 12 }, (_, n) =>
    assistant(`finding ${n}. ${FILLER}${n === 6 ? FILLER.repeat(9) : ""}`),
  )
  await session.append(findings)
  const asked: string[] = []
  const usage = { input: 10, output: 1 }
  const summarize = async ({ prompt }: SummarizeRequest) => {
    // A window that is smaller than the settings say: refused, and asked again in halves.
    if (prompt.length > 24_000) throw new Error("Prompt exceeds max length")
    asked.push(prompt)
    return { text: `## Goal\nanswer ${asked.length}`, usage }
  }
  await branchWithSummary(session, ids[0] as string, { summarize, summarizerWindow: 8_000, maxSummaryTokens: 500 })
  expect(asked.length).toBeGreaterThan(2)
  for (let n = 0; n < findings.length; n++)
    expect(asked.filter((prompt) => prompt.includes(`finding ${n}. `))).toHaveLength(1)
  for (const [index, prompt] of asked.entries())
    expect(prompt.includes(`<previous-summary>\n## Goal\nanswer ${index}\n`)).toBe(index > 0)
  const stored = (await storedEntries(location)).at(-1)
  expect(stored).toMatchObject({
    summary: `${BRANCH_PREAMBLE}\n\n## Goal\nanswer ${asked.length}`,
    details: { readFiles: [], modifiedFiles: [] },
    usage: { input: 10 * asked.length, output: asked.length },
  })
  expect(stored?.["details"]).not.toHaveProperty("leftOut")
})

test("if the branch cannot be summarized nothing is written, and the branch is not left", async () => {
  const { session, location } = await startCompacting()
  const { ids } = await session.append([user("one"), assistant("two"), user("three")])
  const [first = "", second = ""] = ids
  const summarize = async (): Promise<string> => SUMMARY
  const lines = (await storedEntries(location)).length
  const fails: [() => Promise<unknown>, string, RegExp][] = [
    [() => branchWithSummary(session, first, {}), "invalid", /no `summarize`/],
    [() => branchWithSummary(session, first, { summarize, budget: 0 }), "invalid", /budget/],
    [() => branchWithSummary(session, first, { summarize }, { details: 5 }), "invalid", /details/],
    [() => branchWithSummary(session, "nowhere", { summarize }), "not_found", /nowhere/],
    [() => branchWithSummary(session, ids[2] as string, { summarize }), "compaction_failed", /branch\(\)/],
    [() => branchWithSummary(session, first, { summarize, budget: 1 }), "compaction_failed", /budget/],
    [
      () => branchWithSummary(session, first, { summarize: async () => " " }),
      "compaction_failed",
      /branch .* no text/s,
    ],
    [
      () => branchWithSummary(session, first, { summarize: () => new Promise(() => undefined), timeout: 5 }),
      "compaction_failed",
      /5 ms/,
    ],
    [() => branchWithSummary(session, first, { summarize }, { signal: AbortSignal.abort() }), "aborted", /abort/],
  ]
  for (const [make, code, says] of fails) {
    const made = make()
    await expect(made).rejects.toThrow(says)
    expect(await codeOf(made)).toBe(code)
  }
  expect(session.leafId).toBe(ids[2])
  expect((await storedEntries(location)).length).toBe(lines)
  await branchWithSummary(session, second, { summarize })
  expect((await storedEntries(location)).length).toBe(lines + 1)
})

test("a session that continued meanwhile is not branched; a title or an annotation changes nothing", async () => {
  const ways: ((session: Session, first: string) => Promise<unknown>)[] = [
    (session) => session.append(user("meanwhile")),
    (session, first) => session.edit(first, null),
    (session, first) => session.branch(first),
  ]
  for (const way of ways) {
    const { session, location } = await startCompacting()
    const { ids } = await session.append([user("one"), assistant("two")])
    const summarize = async (): Promise<string> => (await way(session, ids[0] as string), SUMMARY)
    await expect(branchWithSummary(session, null, { summarize })).rejects.toThrow(/moved/)
    expect((await storedEntries(location)).filter(({ type }) => type === "branch_summary")).toEqual([])
  }
  const { session } = await startCompacting()
  await session.append([user("one"), assistant("two")])
  await branchWithSummary(session, null, { summarize: async () => (await session.title("named"), SUMMARY) })
  expect(await contextTexts(session)).toHaveLength(1)
})

function reading(path: string): NewEntry {
  const content = [{ type: "toolCall" as const, id: "c", name: "read", arguments: { path } }]
  return { type: "message", message: { role: "assistant", content } }
}

function done(): NewEntry {
  return { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: "done" } }
}

test("a proxy of a session may say what a conflict does: the summary is appended through it", async () => {
  const { session, sessions, location } = await startCompacting()
  const { ids } = await session.append([user("first"), assistant("second")])
  const other = await createSessions({ storage: createMemoryStorage({ location }) }).open("s")
  await other.append(user("of another writer"))
  const failing = new Proxy(session, {
    get(target, name): unknown {
      if (name !== "branch") return Reflect.get(target, name, target)
      return (id: string, o: object) => target.branch(id, { onConflict: "fail", ...o })
    },
  })
  expect(await codeOf(branchWithSummary(failing, ids[0] as string, "what was tried"))).toBe("conflict")
  await branchWithSummary(session, ids[0] as string, "what was tried")
  expect((await storedEntries(location)).at(-1)).toMatchObject({ type: "branch_summary", parentId: ids[0] })
  await sessions.close()
})
