/** Small windows, and settings that cannot work, with default numbers and with wrong ones. */
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, user } from "../../../test/writers.ts"

const TALK = [user(FILLER), assistant(FILLER)]
const summarize = async (): Promise<string> => SUMMARY

test("with default numbers, windows from 4,000 tokens on are not exceeded, turn by turn, and nothing fails", async () => {
  for (const contextWindow of [4_000, 8_000, 16_000, 32_000]) {
    const { session, told } = await startCompacting({ compaction: { summarize, contextWindow } })
    for (let turn = 0; turn < 40; turn++) {
      await session.turn(async (inner) => inner.append([user("x".repeat(2_000)), assistant("y".repeat(1_000))]))
      expect((await session.context({ window: contextWindow })).fits).toBe(true)
    }
    const names = told.map(([name]) => name)
    expect(names).not.toContain("compact_failed")
    expect(names).toContain("compact_complete")
  }
})

test("a rule that keeps the whole context when compaction is due is reported once, and again if the rule changes", async () => {
  const { session, told } = await startCompacting({
    compaction: { summarize, thresholdTokens: 1_500, keepRecentTokens: 20_000 },
  })
  for (let turn = 0; turn < 5; turn++) await session.turn(async (inner) => inner.append(TALK))
  expect(told).toMatchObject([["compact_failed", { kind: "nothing_to_cut", failures: 0, breakerOpen: false }]])
  expect(session.diagnostics.map(({ message }) => message)).toEqual([
    expect.stringMatching(
      /keepRecentTokens \(20000\) keeps the whole context, .* compaction starts at 1500: lower keepRecentTokens/,
    ),
  ])
  await session.autoCompact({ keepTurns: 50 })
  expect(told).toHaveLength(2)
  session.resetCompactionBreaker()
  await session.autoCompact({ keepTurns: 50 })
  expect(told).toHaveLength(3)
  // By hand a caller waits for the answer.
  await expect(session.compact()).rejects.toThrow(/nothing to cut/)
  expect(told).toHaveLength(4)
})
