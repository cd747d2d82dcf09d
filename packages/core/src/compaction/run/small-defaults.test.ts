/** Small windows, and settings that cannot work, with default numbers and with wrong ones. */
import { autoCompact, automaticCompaction, compact } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, user } from "../../../test/writers.ts"

const TALK = [user(FILLER), assistant(FILLER)]
const summarize = async (): Promise<string> => SUMMARY

test("with default numbers, windows from 4,000 tokens on are not exceeded, turn by turn, and nothing fails", async () => {
  for (const contextWindow of [4_000, 8_000, 16_000, 32_000]) {
    const { session, told } = await startCompacting({ compaction: automaticCompaction({ summarize, contextWindow }) })
    for (let turn = 0; turn < 40; turn++) {
      await session.turn(async (inner) => inner.append([user("x".repeat(2_000)), assistant("y".repeat(1_000))]))
      expect((await session.context({ window: contextWindow })).fits).toBe(true)
    }
    const names = told.map(([name]) => name)
    expect(names).not.toContain("compact_failed")
    expect(names).toContain("compact_complete")
  }
})

test("a rule that keeps more than the limit gives way, turn by turn", async () => {
  const { session, told } = await startCompacting({
    compaction: automaticCompaction({
      summarize,
      thresholdTokens: 1_500,
      keepRecentTokens: 20_000,
      maxSummaryTokens: 100,
    }),
  })
  for (let turn = 0; turn < 5; turn++) await session.turn(async (inner) => inner.append(TALK))
  expect(told.map(([name]) => name)).not.toContain("compact_failed")
  expect((await session.context()).tokens).toBeLessThan(1_500)
})

test("a session that stays due however much is cut pays nothing; the cause is reported once, and again for another limit", async () => {
  let paid = 0
  const counting = async (): Promise<string> => (paid++, SUMMARY)
  const { session, told } = await startCompacting({
    compaction: automaticCompaction({ summarize: counting, thresholdTokens: 1_500, overheadTokens: 1_450 }),
  })
  for (let turn = 0; turn < 5; turn++) await session.turn(async (inner) => inner.append(TALK))
  expect(told).toMatchObject([["compact_failed", { kind: "nothing_to_cut", failures: 0, breakerOpen: false }]])
  expect(session.diagnostics.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /your prompt and tools have at most 1450 of the 1500 tokens at which it is due; shorten them/,
    ),
  ])
  await autoCompact(session, { thresholdTokens: 1_600 })
  expect(told).toHaveLength(2)
  expect(paid).toBe(0)
  // By hand a summary is asked for all the same.
  await compact(session, { keepMessages: 0 })
  expect(paid).toBe(1)
})

test("an unread message that alone is too large is named, and no summary is paid for it", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ summarize, thresholdTokens: 1_500 }) })
  const { ids } = await session.append([...TALK, user(FILLER.repeat(2))])
  expect(await autoCompact(session)).toBeUndefined()
  expect(session.diagnostics[0]?.message).toMatch(new RegExp(`the entry ${ids[2]}, .* has 2000 of the 1500 tokens`))
})

test("a compaction whose first report is due again is a failure: the breaker opens after three", async () => {
  let paid = 0
  const counting = async (): Promise<string> => (paid++, SUMMARY)
  const { session } = await startCompacting({
    compaction: automaticCompaction({ summarize: counting, thresholdTokens: 3_000, keepMessages: 0 }),
  })
  for (let turn = 0; turn < 9; turn++) {
    // The provider counts 3,500 tokens that no entry shows, which is known from its first report on.
    const reported = { role: "assistant" as const, content: FILLER, usage: { input: 3_500 } }
    await session.append([user(FILLER), user(FILLER), { type: "message", message: reported }])
    await autoCompact(session)
  }
  expect(paid).toBeLessThanOrEqual(3)
})
