import { autoCompact, automaticCompaction, makeRoom } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, storedEntries, user } from "../../../test/writers.ts"
import type { Session } from "../../session/types.ts"

const TALK = [user(FILLER), assistant(FILLER)]
const TOO_LONG = new Error("prompt is too long")
/** As Anthropic says it. */
const tooLong = (tokens: number): Error => new Error(`prompt is too long: ${tokens} tokens > 200000 maximum`)

/** The loop of the documentation, with a model that counts `overhead` tokens and `scale` for each unit. */
async function ask(session: Session, model: { window: number; overhead: number; scale?: number }, answer = "ok") {
  let refused = 0
  await makeRoom(session)
  for (;;) {
    const { messages } = await session.context()
    const units = messages.reduce((all, { message }) => all + Math.ceil(JSON.stringify(message.content).length / 4), 0)
    const input = model.overhead + Math.round(units * (model.scale ?? 1))
    if (input <= model.window) {
      const usage = { input, output: 1 }
      await session.append({ type: "message", message: { role: "assistant", content: answer, usage } })
      return refused
    }
    refused++
    await makeRoom(session, { error: TOO_LONG })
  }
}

test("a context that fits is left as it is, and an error that is no refusal is thrown on", async () => {
  const { session, location } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY }),
  })
  await session.append(TALK)
  expect(await makeRoom(session)).toEqual({ step: "none", tokens: 2_000, limit: 200_000, fits: true })
  const error = new Error("overloaded")
  await expect(makeRoom(session, { error })).rejects.toBe(error)
  expect(await storedEntries(location)).toHaveLength(2)
})

test("a context that does not fit is compacted before a request", async () => {
  const { session } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY, contextWindow: 8_000 }),
  })
  await session.append([...TALK, ...TALK, ...TALK, ...TALK, user("and now?")])
  expect(await makeRoom(session)).toMatchObject({ step: "compacted", fits: true, limit: 8_000 })
  expect((await session.context()).messages.at(-1)?.message.content).toEqual([{ type: "text", text: "and now?" }])
})

test("a refusal is stored, and teaches every process the limit of the model", async () => {
  const { session, reopen, location } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY }),
  })
  await session.append([{ type: "model_change", provider: "p", model: "m" }, ...TALK, ...TALK, user("and now?")])
  const { tokens } = await session.context()
  expect(await makeRoom(session, { error: tooLong(9_000) })).toMatchObject({ step: "compacted", limit: 8_820 })
  const stored = (await storedEntries(location)).find(({ type }) => type === "context_refusal")
  expect(stored).toMatchObject({ kind: "tokens", provider: "p", model: "m", units: tokens, count: 9_000 })
  for (const open of [session, await reopen()]) expect((await open.context({ window: 200_000 })).fits).toBe(true)
  await session.append(user("x".repeat(36_000)))
  for (const open of [session, await reopen()]) expect((await open.context({ window: 200_000 })).fits).toBe(false)
})

test("the limit of a model with the name of a field is stored, and read again", async () => {
  const { session, reopen } = await startCompacting({
    compaction: automaticCompaction({ summarize: async () => SUMMARY }),
  })
  await session.append([
    { type: "model_change", provider: "p", model: "__proto__" },
    ...TALK,
    ...TALK,
    user("and now?"),
  ])
  await makeRoom(session, { error: tooLong(9_000) })
  expect((await makeRoom(session)).limit).toBe(8_820)
  expect((await makeRoom(await reopen())).limit).toBe(8_820)
})

test("by the documented loop a session goes on with a window that is smaller than the table's and an unknown overhead", async () => {
  const summarize = async (): Promise<string> => "short"
  const { session, told } = await startCompacting({
    compaction: automaticCompaction({ summarize, contextWindow: 50_000 }),
  })
  const refusals: number[] = []
  for (let turn = 0; turn < 40; turn++) {
    await session.append(user(FILLER))
    await autoCompact(session)
    refusals.push(await ask(session, { window: 36_000, overhead: 6_000, scale: 1.5 }, FILLER))
  }
  // The first one teaches the limit.
  expect(refusals.reduce((all, one) => all + one, 0)).toBeLessThanOrEqual(3)
  expect(told.filter(([name]) => name === "compact_start").length).toBeLessThan(12)
})

test("at most three compactions run until the model answers, then the error names the figures; a new message allows one more", async () => {
  const summarize = async (): Promise<string> => "short"
  const { session, told } = await startCompacting({
    compaction: automaticCompaction({ summarize, contextWindow: 20_000 }),
  })
  await session.append([...TALK, ...TALK, ...TALK, user("and now?")])
  const never = { window: 10, overhead: 50_000 }
  const error = await ask(session, never).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: "no_room", cause: TOO_LONG })
  expect(String(error)).toMatch(/about \d+ tokens/)
  const started = (): number => told.filter(([name]) => name === "compact_start").length
  expect(started()).toBeLessThanOrEqual(3)
  const before = started()
  await expect(makeRoom(session, { error: TOO_LONG })).rejects.toMatchObject({ code: "no_room" })
  expect(started()).toBe(before)
  await session.append(user(FILLER))
  await ask(session, never).catch(() => undefined)
  expect(started()).toBeLessThanOrEqual(before + 1)
})

test("what was done is read from the log: another process asks for no summary that has failed", async () => {
  let paid = 0
  const summarize = async (): Promise<string> => {
    paid++
    throw new Error("the summarizer is down")
  }
  const settings = { summarize, contextWindow: 20_000 }
  const { session, reopen } = await startCompacting()
  await session.append([...TALK, ...TALK, user("and now?")])
  expect((await makeRoom(session, { ...settings, error: TOO_LONG })).step).toBe("cut")
  expect(paid).toBe(3)
  const other = await reopen()
  expect((await makeRoom(other, { ...settings, error: TOO_LONG })).step).toBe("cut")
  expect(paid).toBe(3)
})

test("an automatic compaction that has failed since the last answer is one of the three", async () => {
  let paid = 0
  const summarize = async (): Promise<string> => {
    paid++
    throw new Error("the summarizer is down")
  }
  const { session } = await startCompacting({
    compaction: automaticCompaction({
      summarize,
      contextWindow: 20_000,
      thresholdTokens: 3_000,
      keepRecentTokens: 100,
    }),
  })
  await session.append([...TALK, ...TALK, user("and now?")])
  expect(await autoCompact(session)).toBeUndefined()
  expect(paid).toBe(1)
  expect((await makeRoom(session, { error: TOO_LONG })).step).toBe("cut")
  expect(paid).toBe(3)
})

test("without a summarizer messages are only cut and left out, and the end comes behind the last of these steps", async () => {
  const { session } = await startCompacting()
  await session.append([...TALK, user("and now?")])
  expect(await makeRoom(session, { contextWindow: 1_000 })).toMatchObject({ step: "none", fits: false })
  const steps: unknown[] = []
  const refuse = (): Promise<unknown> => makeRoom(session, { error: TOO_LONG }).then(({ step }) => steps.push(step))
  await expect(
    (async () => {
      for (;;) await refuse()
    })(),
  ).rejects.toMatchObject({ code: "no_room" })
  expect(steps).toEqual([...new Array<string>(steps.length - 1).fill("cut"), "left_out"])
  expect((await session.context()).messages.map(({ message }) => message.content)).toEqual([
    [{ type: "text", text: expect.stringContaining("2 messages were left out") }],
    [{ type: "text", text: "and now?" }],
  ])
})

test("after a refusal a summary is asked to take at most half of the room that is left", async () => {
  const asked: number[] = []
  const summarize = async ({ maxTokens }: { readonly maxTokens: number }): Promise<string> => (
    asked.push(maxTokens), "short"
  )
  const { session } = await startCompacting({ compaction: automaticCompaction({ summarize, contextWindow: 20_000 }) })
  await session.append([...TALK, ...TALK, user("x".repeat(6_000))])
  await makeRoom(session, { error: tooLong(2_500) })
  // 2,450 tokens, of which the question has 1,500.
  expect(Math.max(...asked)).toBeLessThanOrEqual(475)
})

test("calls at once pay for one summary: a session runs one compaction at a time", async () => {
  let running = 0
  let most = 0
  const summarize = async (): Promise<string> => {
    most = Math.max(most, ++running)
    await Promise.resolve()
    running--
    return SUMMARY
  }
  const { session, told } = await startCompacting({
    compaction: automaticCompaction({ summarize, contextWindow: 4_000, keepRecentTokens: 100 }),
  })
  await session.append([...TALK, ...TALK, ...TALK, user("q")])
  const calls = await Promise.allSettled([1, 2, 3].map(async () => makeRoom(session)))
  const refused = calls.flatMap((call) => (call.status === "rejected" ? [call.reason as { code: string }] : []))
  expect(refused.map(({ code }) => code)).toEqual(["compaction_failed", "compaction_failed"])
  expect([most, told.filter(([name]) => name === "compact_start").length]).toEqual([1, 1])
})

test("a summary that fails is in the diagnostics of the session until one succeeds", async () => {
  let fails = true
  const summarize = async (): Promise<string> => {
    if (fails) throw new Error("The server is busy.")
    return "short"
  }
  const { session } = await startCompacting({ compaction: automaticCompaction({ summarize, contextWindow: 2_000 }) })
  await session.append([user(FILLER), assistant(FILLER), user("go on")])
  await makeRoom(session)
  expect(session.diagnostics.map(({ code }) => code)).toEqual(["compaction_failed"])
  expect(session.diagnostics[0]?.message).toContain("The server is busy.")
  fails = false
  await session.append(user("and on"))
  await makeRoom(session)
  expect(session.diagnostics).toEqual([])
})
