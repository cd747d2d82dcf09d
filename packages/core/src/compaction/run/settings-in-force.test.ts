/** The effect of each compaction setting. */
import { autoCompact, automaticCompaction, compact, shorten } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import type { CompactOptions, SummarizeRequest } from "../../compaction-settings/types.ts"
import type { NewEntry } from "../../format/new-entry.ts"

const summarize = async (): Promise<string> => SUMMARY
const LONG = FILLER.repeat(4)

test("summaryAs is stored in the log: every later open gets the pair, and may request the other form", async () => {
  const { session, reopen, location } = await startCompacting({
    compaction: automaticCompaction({ summaryAs: "pair" }),
  })
  await session.append([user(FILLER), assistant(FILLER)])
  const { summary, tokensAfter } = await compact(session, { summarize, keepRecentTokens: 0 })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ type: "compaction", summaryAs: "pair" })
  for (const open of [session, await reopen()]) {
    const { messages, tokens } = await open.context()
    expect(messages).toMatchObject([
      { kind: "compaction", message: { role: "user", synthetic: true, summary: true } },
      { kind: "compaction", message: { role: "assistant", content: [{ type: "text", text: summary }], summary: true } },
    ])
    expect(tokens).toBe(tokensAfter)
    expect((await open.context({ summaryAs: "user" })).messages).toHaveLength(1)
  }
})

test("without summaryAs the log has no such field, and the summary is one user message", async () => {
  const { session, location } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  await compact(session, { summarize, keepRecentTokens: 0 })
  expect((await storedEntries(location)).at(-1)).not.toHaveProperty("summaryAs")
  expect((await session.context()).messages).toHaveLength(1)
  expect((await session.context({ summaryAs: "pair" })).messages).toHaveLength(2)
})

test("a pair is summarized again like any summary", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ summaryAs: "pair" }) })
  const prompts: string[] = []
  const asking = async ({ prompt }: SummarizeRequest): Promise<string> => (
    prompts.push(prompt), `summary ${prompts.length}`
  )
  for (let round = 0; round < 2; round++) {
    await session.append([user(FILLER), assistant(FILLER)])
    await compact(session, { summarize: asking, keepRecentTokens: 0 })
  }
  expect(prompts[1]).toContain("<previous-summary>\nsummary 1\n</previous-summary>")
})

test("the summarizer gets the maximum tokens and the temperature of the settings", async () => {
  const { session } = await startCompacting({
    compaction: automaticCompaction({ reserveTokens: 1_000, temperature: 0.3 }),
  })
  const asked: SummarizeRequest[] = []
  const asking = async (request: SummarizeRequest): Promise<string> => (asked.push(request), "short")
  const split = [user(FILLER), assistant(FILLER), user(FILLER), assistant(FILLER), assistant("end")]
  await session.append(split)
  await compact(session, { summarize: asking, keepRecentTokens: 1 })
  await session.append(split)
  await compact(session, { summarize: asking, keepRecentTokens: 1, maxSummaryTokens: 50, temperature: 0 })
  expect(asked.map(({ maxTokens, temperature }) => [maxTokens, temperature])).toEqual([
    [800, 0.3],
    [500, 0.3],
    [50, 0],
    [50, 0],
  ])
})

test("the caller's counter counts everything", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ countTokens: () => 10 }) })
  await session.append([user("a"), assistant("b"), user("c"), assistant("d")])
  expect(await compact(session, { summarize, keepRecentTokens: 20 })).toMatchObject({
    tokensBefore: 40,
    tokensAfter: 30,
  })
  expect((await contextTexts(session)).slice(1)).toEqual(["c", "d"])
})

test("turns and messages are kept by their number; 0 keeps nothing", async () => {
  const cases: readonly (readonly [Partial<CompactOptions>, readonly string[]])[] = [
    [{ keepTurns: 1 }, ["c", "d"]],
    [{ keepMessages: 1 }, ["d"]],
    [{ keepTurns: 0 }, []],
    [{ keepMessages: 0 }, []],
  ]
  for (const [keep, kept] of cases) {
    const { session } = await startCompacting()
    await session.append([user(FILLER), assistant(FILLER), user("c"), assistant("d")])
    await compact(session, { summarize, ...keep })
    expect((await contextTexts(session)).slice(1)).toEqual(kept)
  }
})

test("with rounds, a history larger than the summarizer's window is summarized in several requests", async () => {
  const { session } = await startCompacting()
  const turns = Array.from({ length: 4 }, (_, n) => [user(`ask ${n} ${FILLER}`), assistant(FILLER)])
  await session.append(turns.flat())
  const prompts: string[] = []
  const asking = async ({ prompt }: SummarizeRequest): Promise<string> => (
    prompts.push(prompt), `part ${prompts.length}`
  )
  const { summary } = await compact(session, {
    summarize: asking,
    keepRecentTokens: 0,
    maxSummaryTokens: 100,
    summarizerWindow: 5_500,
    rounds: true,
  })
  expect(prompts.length).toBeGreaterThan(1)
  expect(summary).toContain(
    "<context_summary>\npart 1\n</context_summary>\n\n<context_summary>\npart 2\n</context_summary>",
  )
})

test("a history longer than the summarizer's window is summarized, and no request exceeds the window", async () => {
  const { session, told } = await startCompacting({ compaction: automaticCompaction({ contextWindow: 20_000 }) })
  const turns = Array.from({ length: 60 }, (_, n) => [user(`«${n}» ${FILLER}`), assistant(FILLER)])
  await session.append(turns.flat())
  const asked: SummarizeRequest[] = []
  const asking = async (request: SummarizeRequest): Promise<string> => {
    if (request.prompt.length / 4 + request.maxTokens > 20_000) throw new Error("prompt is too long")
    asked.push(request)
    return `${SUMMARY}\n${asked.length}`
  }
  const { summary, fits } = await compact(session, { summarize: asking, keepTurns: 3 })
  expect(asked.length).toBeGreaterThan(5)
  expect(summary).toBe(`${SUMMARY}\n${asked.length}`)
  expect(fits).toBe(true)
  const marks = asked.flatMap(({ prompt }) => [...prompt.matchAll(/«(\d+)»/g)].map(([, n]) => Number(n)))
  const kept = (await contextTexts(session)).slice(1).flatMap((text) => /«(\d+)»/.exec(text)?.[1] ?? [])
  expect([...marks, ...kept.map(Number)]).toEqual(Array.from({ length: 60 }, (_, n) => n))
  expect(told.at(-1)).toMatchObject(["compact_complete", { missingHeadings: [] }])
})

test("a request that the summarizer finds too long is split in halves", async () => {
  const { session } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER), user(FILLER), assistant(FILLER)])
  const asking = async ({ prompt }: SummarizeRequest): Promise<string> => {
    if (prompt.length > 3 * FILLER.length) throw new Error("prompt is too long")
    return "half"
  }
  const { summary } = await compact(session, { summarize: asking, keepRecentTokens: 0 })
  expect(summary).toBe("half")
  await session.append([user(FILLER), assistant(FILLER), user(FILLER), assistant(FILLER)])
  const again = await compact(session, { summarize: asking, keepRecentTokens: 0, rounds: true })
  expect(again.summary.match(/<context_summary>\nhalf\n/g)).toHaveLength(2)
})

test("a system prompt that fills the window is reported before any request, and nothing is written", async () => {
  const { sessions, location } = await startCompacting()
  const session = await sessions.create({ id: "t", systemPromptOverride: "x".repeat(4_000) })
  await session.append([user(FILLER), assistant(FILLER)])
  let asked = 0
  const asking = async (): Promise<string> => String(asked++)
  const compacted = compact(session, { summarize: asking, contextWindow: 1_000, keepRecentTokens: 0 })
  await expect(compacted).rejects.toThrow(/system prompt alone has about 1000 tokens and the window has 1000/)
  expect(asked).toBe(0)
  expect(await storedEntries(location, "t")).toHaveLength(2)
})

test("if the kept part alone is too large, the compaction is written and names the rule and its tokens", async () => {
  const { session, reopen } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER), ...calling(LONG)])
  const done = await compact(session, { summarize, keepRecentTokens: 500, contextWindow: 3_000 })
  expect(done).toMatchObject({ window: 3_000, fits: false })
  expect(done.tooLarge).toMatch(
    /keepRecentTokens \(500\) keeps \d+ of them, and the tool result of entry \S+ alone has 4000/,
  )
  expect(await (await reopen()).context({ window: 3_000 })).toMatchObject({ fits: false })
  expect((await session.context()).messages).toHaveLength(3)
})

test("a context that fits is reported as such, including the system prompt", async () => {
  const { sessions } = await startCompacting()
  const session = await sessions.create({ id: "t", systemPromptOverride: "x".repeat(4_000) })
  await session.append([user(FILLER), assistant(FILLER)])
  const { tokensAfter, fits, ...rest } = await compact(session, {
    summarize,
    keepRecentTokens: 0,
    contextWindow: 1_100,
  })
  expect({ tokensAfter, fits }).toEqual({ tokensAfter, fits: true })
  expect(rest).not.toHaveProperty("tooLarge")
  await session.append([user(FILLER), assistant("kept ".repeat(40))])
  const again = await compact(session, { summarize, keepRecentTokens: 1, contextWindow: 1_290 })
  expect(again).toMatchObject({ fits: false })
  expect(again.tooLarge).toMatch(/Lower keepRecentTokens/)
})

test("a minimum of turns that alone exceeds the window is replaced by keepRecentTokens", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ keepRecentTokens: 100 }) })
  await session.append([user(FILLER), ...calling(LONG), assistant("end ".repeat(100))])
  const done = await compact(session, { summarize, keepTurns: 2, contextWindow: 4_000 })
  expect(done.fits).toBe(true)
  expect((await contextTexts(session)).slice(1)).toEqual(["end ".repeat(100)])
})

test("if the settings prune, context() prunes by the model's window, and reports `fits` only on request", async () => {
  const { session, sessions } = await startCompacting({
    compaction: automaticCompaction({ shorten: shorten(), contextWindow: 5_000 }),
  })
  await session.append([user("a"), ...calling(LONG.repeat(2)), ...[1, 2, 3].map((n) => assistant(`${n}`))])
  const pruned = await session.context()
  expect(pruned.pruned).toMatchObject([{ how: "trimmed" }])
  expect(pruned).not.toHaveProperty("fits")
  expect((await session.context({ shorten: false })).pruned).toBeUndefined()
  expect((await session.context({ window: 1_000_000 })).pruned).toEqual([])
  const other = await sessions.open("s", { compaction: automaticCompaction({ shorten: false }) })
  expect((await other.context()).pruned).toBeUndefined()
  const preset = await sessions.open("s", { compaction: automaticCompaction({ preset: "share-90" }) })
  expect((await preset.context()).pruned).toEqual([])
})

test("pruned content counts neither for the trigger nor for whether the context fits", async () => {
  const settings = { summarize, contextWindow: 10_000, thresholdShare: 0.8, keepRecentTokens: 8_200 }
  const { session } = await startCompacting()
  await session.append([
    user("a"),
    ...calling(LONG.repeat(2)),
    ...[1, 2, 3].map((n) => assistant(`${n}`)),
    user(FILLER),
  ])
  expect(await autoCompact(session, { ...settings, shorten: shorten() })).toBeUndefined()
  const { ids } = await session.append(user(FILLER.repeat(3)))
  expect(ids).toHaveLength(1)
  const done = await autoCompact(session, {
    ...settings,
    thresholdShare: 0.45,
    maxSummaryTokens: 100,
    shorten: shorten(),
  })
  expect(done).toMatchObject({ fits: true })
})

test("a rule that keeps the whole context is an error that names it, unless the context is too large: then it gives way", async () => {
  const { session, location } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  await expect(compact(session, { summarize, keepTurns: 5 })).rejects.toThrow(
    /keepTurns \(5\) keeps the whole context\. Nothing/,
  )
  expect(await storedEntries(location)).toHaveLength(2)
  await compact(session, { summarize, keepTurns: 0 })
  await expect(compact(session, { summarize, keepTurns: 0 })).rejects.toThrow(
    /keepTurns \(0\) leaves no message that a summary can replace\. Nothing/,
  )
  await session.append([user(FILLER), assistant(FILLER)])
  const small = { contextWindow: 1_500, maxSummaryTokens: 100 }
  const done = await compact(session, { summarize, ...small, keepRecentTokens: 20_000 })
  expect(done).toMatchObject({ fits: true, window: 1_500 })
})

function calling(result: string): NewEntry[] {
  const content = [{ type: "toolCall" as const, id: "c", name: "bash", arguments: {} }]
  return [
    { type: "message", message: { role: "assistant", content } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: result } },
  ]
}
