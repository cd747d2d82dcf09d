import { autoCompact, automaticCompaction, compact } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY, type Told } from "../../../test/compacting.ts"
import { assistant, codeOf, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"

/** A thousand tokens; FILLER fills half of them. */
const SMALL: CompactionSettings = {
  contextWindow: 2_000,
  thresholdTokens: 1_500,
  keepRecentTokens: 0,
  summarize: async () => SUMMARY,
}
const TALK = [user(FILLER), assistant(FILLER)]

const names = (told: readonly Told[]): string[] => told.map(([name]) => name)

test("a turn that makes the context too long compacts it after its end, before its promise resolves", async () => {
  const { session, told, location } = await startCompacting({ compaction: automaticCompaction(SMALL) })
  const inside: string[][] = []
  const answer = await session.turn(async (turn) => {
    await turn.append(TALK)
    inside.push(names(told))
    return "answer"
  })
  expect(answer).toBe("answer")
  expect(inside).toEqual([[]])
  expect(told).toMatchObject([
    ["compact_start", { reason: "threshold" }],
    ["compact_complete", { messagesSummarized: 2 }],
  ])
  expect((await storedEntries(location)).at(-1)?.type).toBe("compaction")
})

test("a context that is too long is compacted before the turn's function runs, which sees the short one", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction(SMALL) })
  await session.append(TALK)
  const texts = await session.turn((turn) => contextTexts(turn))
  expect(texts).toHaveLength(1)
  expect(texts[0]).toContain("<summary>")
})

test("a turn that throws is not compacted afterwards; its error is passed on", async () => {
  const { session, told } = await startCompacting({ compaction: automaticCompaction(SMALL) })
  const turn = session.turn(async (inner) => {
    await inner.append(TALK)
    throw new Error("thrown in the turn")
  })
  await expect(turn).rejects.toThrow("thrown in the turn")
  expect(told).toEqual([])
})

test("below the threshold, without a summarizer, or if disabled, no automatic compaction runs", async () => {
  const { summarize: _, ...without } = SMALL
  for (const compaction of [
    { ...SMALL, contextWindow: 20_000, thresholdTokens: 9_999 },
    without,
    { ...SMALL, enabled: false },
  ]) {
    const { session, told } = await startCompacting({ compaction: automaticCompaction(compaction) })
    await session.turn((turn) => turn.append(TALK))
    await session.turn(() => undefined)
    expect(told).toEqual([])
  }
})

test("settings of the handle override those of the sessions, and a turn has those of its handle", async () => {
  const { session, sessions, told } = await startCompacting({
    compaction: automaticCompaction({ ...SMALL, enabled: false }),
  })
  const other = await sessions.open("s", { compaction: automaticCompaction({ enabled: true }) })
  await session.turn((turn) => turn.append(TALK))
  expect(told).toEqual([])
  await other.turn(() => undefined)
  expect(names(told)).toEqual(["compact_start", "compact_complete"])
})

test("invalid settings are rejected by the call that gives them", async () => {
  const wrong = { thresholdShare: 0.5, thresholdTokens: 5 }
  const { session } = await startCompacting()
  expect(() => automaticCompaction(wrong)).toThrow(/exclude each other/)
  expect(await codeOf(compact(session, { ...SMALL, ...wrong }))).toBe("invalid")
  expect(await codeOf(autoCompact(session, { ...SMALL, ...wrong }))).toBe("invalid")
  expect(await codeOf(compact(session, { keepRecentTokens: 0 }))).toBe("invalid")
  expect(await codeOf(autoCompact(session))).toBe("invalid")
  expect(await codeOf(compact(session, { ...SMALL, reason: "threshold" as never }))).toBe("invalid")
  expect(await codeOf(compact(session, { ...SMALL, instructions: 5 as never }))).toBe("invalid")
})

test("the settings given for a handle are not part of its log", async () => {
  const { sessions, location } = await startCompacting()
  const made = await sessions.create({ id: "t", compaction: automaticCompaction(SMALL) })
  expect(made.header).not.toHaveProperty("compaction")
  await made.turn((turn) => turn.append(TALK))
  expect((await storedEntries(location, "t")).at(-1)?.type).toBe("compaction")
})

test("autoCompact by hand returns its result, or that nothing was due", async () => {
  const { session, told } = await startCompacting()
  expect(await autoCompact(session, SMALL)).toBe(undefined)
  await session.append(TALK)
  expect(await autoCompact(session, { ...SMALL, enabled: false })).toBe(undefined)
  const done = await autoCompact(session, SMALL)
  expect(done).toMatchObject({ tokensBefore: 2_000, window: 2_000, fits: true })
  expect(told[0]).toEqual(["compact_start", { reason: "threshold" }])
  // There was no message since.
  expect(await autoCompact(session, { ...SMALL, thresholdTokens: 1 })).toBe(undefined)
  expect(names(told)).toEqual(["compact_start", "compact_complete"])
})

test("autoCompact waits for the running turn, and within a turn it is invalid", async () => {
  let inTurn = false
  const asked: boolean[] = []
  const summarize = async (): Promise<string> => (asked.push(inTurn), SUMMARY)
  const { session } = await startCompacting()
  await session.turn(async (turn) => {
    await expect(autoCompact(turn, { ...SMALL, summarize })).rejects.toThrow(/between the turns/)
    await turn.append(TALK)
  })
  let reached = (): void => undefined
  const running = session.turn(async () => {
    inTurn = true
    reached()
    // Long enough for a call that does not wait.
    for (let n = 0; n < 100 && asked.length === 0; n++) await new Promise((resolve) => setImmediate(resolve))
    inTurn = false
  })
  await new Promise<void>((resolve) => (reached = resolve))
  const waiting = autoCompact(session, { ...SMALL, summarize })
  await running
  await waiting
  expect(new Set(asked)).toEqual(new Set([false]))
})

test("the provider's report decides before any estimate; only later messages are added", async () => {
  const reported = { role: "assistant" as const, content: FILLER, usage: { input: 4_000, output: 50 } }
  // The answer is a new message of the next request, whatever it took to think of it.
  for (const [thresholdTokens, due] of [
    [6_000, true],
    [6_001, false],
  ] as const) {
    const { session } = await startCompacting()
    await session.append([user(FILLER), { type: "message", message: reported }, user(FILLER)])
    expect((await autoCompact(session, { ...SMALL, contextWindow: 20_000, thresholdTokens })) !== undefined).toBe(due)
  }
})

test("if everything is estimated, the system prompt in the log counts", async () => {
  const { sessions } = await startCompacting()
  const session = await sessions.create({ id: "t", systemPromptOverride: FILLER })
  await session.append(TALK)
  const settings = { ...SMALL, contextWindow: 9_000 }
  expect(await autoCompact(session, { ...settings, thresholdTokens: 3_001 })).toBeUndefined()
  expect(await autoCompact(session, { ...settings, thresholdTokens: 3_000 })).toBeDefined()
})

test("the window is the current model's: from the call, from the caller's rows, or from the table", async () => {
  const cases: readonly (readonly [CompactionSettings, boolean])[] = [
    [{ windows: { small: 1_500 } }, true],
    [{ windows: { small: 9_000 } }, false],
    [{}, false],
    [{ contextWindow: 1_500, windows: { small: 9_000 } }, true],
  ]
  for (const [more, due] of cases) {
    const { session } = await startCompacting()
    await session.append([{ type: "model_change", provider: "p", model: "small-1" }, ...TALK])
    const settings = { summarize: async () => SUMMARY, reserveTokens: 100, keepRecentTokens: 0, ...more }
    expect((await autoCompact(session, settings)) !== undefined).toBe(due)
  }
})

test("a model whose window is not known is reported once, until another one is used", async () => {
  const { session } = await startCompacting()
  const reports: string[] = []
  session.on("diagnostic", ({ code, message }) => code === "unknown_window" && reports.push(message))
  const use = (model: string) => session.append([{ type: "model_change", provider: "p", model }, ...TALK])
  const settings = { summarize: async () => SUMMARY, reserveTokens: 100, keepRecentTokens: 0 }
  await use("openai/gpt-4o")
  await autoCompact(session, settings)
  expect(reports).toEqual([])
  await use("local-7b")
  for (let round = 0; round < 3; round++) await autoCompact(session, settings)
  expect(reports).toEqual([expect.stringContaining('"local-7b" is not known; 200000 tokens are assumed')])
  expect(session.diagnostics.map(({ code }) => code)).toEqual(["unknown_window"])
  await autoCompact(session, { ...settings, windows: { local: 32_000 } })
  expect(session.diagnostics).toEqual([])
  await compact(session, settings)
  expect(reports).toHaveLength(2)
})

test("with fewer messages since the last compaction than minMessages, only a compaction by hand runs", async () => {
  const { session, told } = await startCompacting({ compaction: automaticCompaction({ ...SMALL, minMessages: 3 }) })
  await session.append(TALK)
  expect(await autoCompact(session)).toBe(undefined)
  expect(told).toEqual([])
  await session.append(user("third"))
  expect(await autoCompact(session, { keepMessages: 2 })).toBeDefined()
  // The kept messages are older than the compaction.
  await session.append(TALK)
  expect((await session.context()).messages).toHaveLength(4)
  expect(await autoCompact(session)).toBe(undefined)
  expect(told).toHaveLength(2)
  expect(await compact(session, { reason: "overflow" })).toMatchObject({ fits: true })
})

test("a reserve that leaves nothing of the window is reported, and does not compact forever", async () => {
  const { session, told } = await startCompacting()
  await session.append(TALK)
  const settings = { summarize: async () => SUMMARY, contextWindow: 8_000, reserveTokens: 8_000, keepRecentTokens: 0 }
  expect(await autoCompact(session, settings)).toBe(undefined)
  expect(told).toMatchObject([["compact_failed", { kind: "failed", failures: 1 }]])
  expect(session.diagnostics.map(({ message }) => message).join()).toMatch(/is not below the window \(8000\)/)
})
