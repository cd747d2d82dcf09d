import { branchWithSummary, compact } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting } from "../../../test/compacting.ts"
import { assistant, storedEntries, user } from "../../../test/writers.ts"
import type { Summarize } from "../../compaction-settings/types.ts"
import { sumOfUsage } from "./usage.ts"

const TALK = [user(FILLER), assistant(FILLER)]

test("the total usage of a compaction's requests is in its entry, and in the session's usage", async () => {
  const { session, location } = await startCompacting()
  await session.append([...TALK, ...TALK, assistant("end")])
  const summarize: Summarize = async () => ({ text: "short", usage: { input: 1_000, output: 10, cost: 0.25 } })
  // Two requests: the turn is split.
  await compact(session, { summarize, keepRecentTokens: 1 })
  const usage = { input: 2_000, output: 20, cost: 0.5 }
  expect((await storedEntries(location)).at(-1)).toMatchObject({ type: "compaction", usage })
  expect((await session.info()).metrics).toMatchObject({ input: 2_000, output: 20, cost: 0.5 })
})

test("the usage of a branch summary is too", async () => {
  const { session, location } = await startCompacting()
  const { ids } = await session.append(TALK)
  const summarize: Summarize = async () => ({ text: "short", usage: { input: 7, tier: "flex" } })
  await branchWithSummary(session, ids[0] as string, { summarize })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ type: "branch_summary", usage: { input: 7 } })
})

test("a summarizer may report `inputTokens` and `outputTokens`", async () => {
  const { session, location } = await startCompacting()
  await session.append(TALK)
  const summarize: Summarize = async () => ({ text: "short", usage: { inputTokens: 7, outputTokens: 3 } })
  await compact(session, { summarize, keepRecentTokens: 0 })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ usage: { input: 7, output: 3 } })
})

test("a summarizer that reports no usage, or invalid numbers, leaves no usage", async () => {
  const answers: readonly Awaited<ReturnType<Summarize>>[] = [
    "short",
    { text: "short", usage: { input: "7" as never } },
  ]
  for (const answer of answers) {
    const { session, location } = await startCompacting()
    await session.append(TALK)
    await compact(session, { summarize: async () => answer, keepRecentTokens: 0 })
    expect((await storedEntries(location)).at(-1)).not.toHaveProperty("usage")
  }
})

test("if only one of two reports has a total, the other's is the sum of its parts", () => {
  expect(sumOfUsage({ totalTokens: 10, cost: 1 }, { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 })).toEqual({
    input: 1,
    output: 2,
    cacheRead: 3,
    cacheWrite: 4,
    totalTokens: 20,
    cost: 1,
  })
  expect(sumOfUsage({ input: 1, cacheRead: 9, totalTokens: 1 }, { input: 2 })).toMatchObject({ totalTokens: 12 })
  expect(sumOfUsage(undefined, { input: 1 })).toEqual({ input: 1 })
  expect(sumOfUsage({ input: 1 }, undefined)).toEqual({ input: 1 })
  expect(sumOfUsage(undefined, undefined)).toBeUndefined()
})
