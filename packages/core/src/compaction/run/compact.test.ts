import { compact } from "../index.ts"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { createCountingStorage } from "../../../test/counting-storage.ts"
import { assistant, codeOf, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import { SUMMARY_HEADINGS, SUMMARY_SYSTEM_PROMPT } from "../summary/prompts.ts"
import type { SummarizeRequest } from "../../compaction-settings/types.ts"
import { createSessions } from "../../session/repository.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { ToolCallBlock } from "../../format/message.ts"

test("the summary replaces the messages before the kept part, here and in a session that is opened again", async () => {
  const { session, reopen, location } = await startCompacting()
  const { ids } = await session.append([user(`a ${FILLER}`), assistant(`b ${FILLER}`), user("c"), assistant("d")])
  const before = await storedEntries(location)
  const { tokens } = await session.context()
  const done = await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 1 })
  const after = await storedEntries(location)
  expect(after.slice(0, -1)).toEqual(before)
  expect(after.at(-1)).toMatchObject({
    id: done.entryId,
    type: "compaction",
    firstKeptEntryId: ids[3],
    firstKeptSeq: 4,
    tokensBefore: tokens,
    state: { thinkingLevel: "off" },
    readFiles: [],
    modifiedFiles: [],
  })
  expect(done.tokensBefore).toBe(tokens)
  expect(done.tokensAfter).toBeLessThan(tokens)
  await session.append(user("e"))
  for (const open of [session, await reopen()]) {
    const texts = await contextTexts(open)
    expect(texts.slice(1)).toEqual(["d", "e"])
    expect(texts[0]).toContain(`<summary>\n${done.summary}\n</summary>`)
  }
  expect((await session.messages()).messages).toHaveLength(5)
})

test("over five compactions, each summary is in the next prompt, and files accumulate", async () => {
  const { session, reopen, location } = await startCompacting()
  const written: string[] = []
  for (let round = 1; round <= 5; round++) {
    const path = (name: string, args: { readonly path: string }): ToolCallBlock => ({
      type: "toolCall",
      id: `${name}${round}`,
      name,
      arguments: args,
    })
    const content = [
      path("read", { path: `read${round}.ts` }),
      path("edit_file", { path: `edit${round}.ts` }),
      ...(round === 3 ? [path("write", { path: "read1.ts" })] : []),
    ]
    const results = content.map((call) => ({
      type: "message" as const,
      message: { role: "toolResult" as const, toolCallId: call.id, isError: false, content: FILLER },
    }))
    const turn: NewEntry[] = [
      user(`ask ${round} ${FILLER}`),
      { type: "message", message: { role: "assistant", content } },
      ...results,
      assistant("ok"),
    ]
    await session.append([...turn, { type: "model_change", provider: "p", model: `m${round}` }])
    const asked: SummarizeRequest[] = []
    const summarize = async (request: SummarizeRequest): Promise<string> => (
      asked.push(request), `${SUMMARY}\nround ${round}`
    )
    const { summary } = await compact(session, { summarize, keepRecentTokens: 0 })
    expect(asked).toHaveLength(1)
    expect(asked[0]?.prompt).toContain(`ask ${round}`)
    expect(asked[0]?.prompt).not.toContain(`ask ${round - 1} `)
    if (round > 1)
      expect(asked[0]?.prompt).toContain(`<previous-summary>\n${SUMMARY}\nround ${round - 1}\n</previous-summary>`)
    else expect(asked[0]?.prompt).not.toContain("<previous-summary>")
    written.push(summary)
  }
  const last = (await storedEntries(location)).at(-1)
  expect(last).toMatchObject({
    readFiles: ["read2.ts", "read3.ts", "read4.ts", "read5.ts"],
    modifiedFiles: ["edit1.ts", "edit2.ts", "edit3.ts", "edit4.ts", "edit5.ts", "read1.ts"],
    state: { models: { default: { provider: "p", model: "m5" } } },
  })
  expect(written[4]?.match(/<read-files>/g)).toHaveLength(1)
  const context = await (await reopen()).context()
  expect(context.model).toEqual({ provider: "p", model: "m5" })
  expect(context.messages).toHaveLength(1)
})

test("a compacted session opens by reading only its live end", async () => {
  const location = createMemoryLocation()
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).create({ id: "s" })
  for (let n = 0; n < 5; n++) {
    await session.append(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? user(FILLER) : assistant(FILLER))))
    await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 1_500 })
  }
  const storage = createCountingStorage(createMemoryStorage({ location }))
  const opened = await createSessions({ storage }).open("s")
  expect((await opened.context()).messages).toHaveLength(3)
  const { bytes } = (await storage.head("s")) as { bytes: number }
  expect(storage.counted.units).toBeLessThan(bytes / 6)
})

test("the beginning of a split turn is summarized separately", async () => {
  const { session } = await startCompacting()
  await session.append([
    user(`one ${FILLER}`),
    assistant(`two ${FILLER}`),
    user(`three ${FILLER}`),
    assistant(`four ${FILLER}`),
    assistant("five"),
  ])
  const asked: SummarizeRequest[] = []
  const summarize = async (request: SummarizeRequest): Promise<string> => (
    asked.push(request), `answer ${asked.length}`
  )
  const { summary } = await compact(session, { summarize, keepRecentTokens: 1, instructions: "Mind the tests." })
  expect(asked.map(({ prompt }) => markers(prompt, ["one", "two", "three", "four", "five"]))).toEqual([
    ["one", "two"],
    ["three", "four"],
  ])
  for (const { system, prompt } of asked) {
    expect(system).toBe(SUMMARY_SYSTEM_PROMPT)
    expect(prompt.endsWith("\n\nMind the tests.")).toBe(true)
  }
  expect((asked[0]?.maxTokens ?? 0) > (asked[1]?.maxTokens ?? 0)).toBe(true)
  expect(summary).toBe("answer 1\n\n---\n\n**Turn Context (split turn):**\n\nanswer 2")
})

test("a turn that is compacted again and again before it ends has one summary, made with one request each time", async () => {
  const { session } = await startCompacting()
  const asked: SummarizeRequest[] = []
  const summarize = async (request: SummarizeRequest): Promise<string> => (
    asked.push(request), `answer ${asked.length}`
  )
  await session.append([user(`one ${FILLER}`), assistant(`two ${FILLER}`), user("three")])
  for (const round of [1, 2, 3]) {
    const call = { type: "toolCall", id: `c${round}`, name: "read", arguments: {} } as const
    const result = { role: "toolResult", toolCallId: call.id, toolName: "read", content: FILLER } as const
    await session.append([
      { type: "message", message: { role: "assistant", content: [call] } },
      { type: "message", message: result },
      { type: "message", message: { role: "assistant", content: [{ ...call, id: `d${round}` }] } },
      { type: "message", message: { ...result, toolCallId: `d${round}` } },
    ])
    expect(await compact(session, { summarize, keepRecentTokens: 1 })).toMatchObject({ summary: `answer ${round}` })
    expect((await contextTexts(session))[1]).toBe("three")
  }
  expect(asked.map(({ prompt }) => /<previous-summary>\n(.*)\n/.exec(prompt)?.[1])).toEqual([
    undefined,
    "answer 1",
    "answer 2",
  ])
})

test("if only the beginning of a turn is new, the previous summary stays in front", async () => {
  const { session } = await startCompacting()
  await session.append([user(`one ${FILLER}`), assistant(`two ${FILLER}`)])
  const { summary } = await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 0 })
  await session.append([user(`three ${FILLER}`), assistant(`four ${FILLER}`), assistant("five")])
  const again = await compact(session, { summarize: async () => "the beginning", keepRecentTokens: 1 })
  expect(again.summary).toBe(`${summary}\n\n---\n\n**Turn Context (split turn):**\n\nthe beginning`)
})

test("changes of model and mode just before the cut belong to the kept part", async () => {
  const { session, location } = await startCompacting()
  await session.append([
    user(FILLER),
    assistant(FILLER),
    { type: "mode_change", mode: "plan", id: "mode" },
    user("kept"),
    assistant("kept too"),
  ])
  await compact(session, { summarize: async () => SUMMARY, keepRecentTokens: 3 })
  expect((await storedEntries(location)).at(-1)).toMatchObject({ firstKeptEntryId: "mode", firstKeptSeq: 3 })
  expect((await contextTexts(session)).slice(1)).toEqual(["kept", "kept too"])
})

test("if there is nothing to cut, or nothing to save, it rejects and writes nothing", async () => {
  const { session, location } = await startCompacting()
  const summarize = async (): Promise<string> => SUMMARY
  expect(await codeOf(compact(session, { summarize }))).toBe("compaction_failed")
  await session.append([user("a"), assistant("b")])
  await expect(compact(session, { summarize })).rejects.toThrow(/nothing to cut/)
  await expect(compact(session, { summarize: async () => FILLER, keepRecentTokens: 1 })).rejects.toThrow(
    /would not be shorter/,
  )
  for (const keepRecentTokens of [-1, Number.NaN, "5" as never]) {
    expect(await codeOf(compact(session, { summarize, keepRecentTokens }))).toBe("invalid")
  }
  expect(await storedEntries(location)).toHaveLength(2)
})

test("a compaction reports its start and its result, and the headings that the summary lacks", async () => {
  const { session, told } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER), user("c"), assistant("d")])
  const done = await compact(session, { summarize: async () => "## Goal\nonly that", keepRecentTokens: 1 })
  expect(told).toEqual([
    ["compact_start", { reason: "manual" }],
    [
      "compact_complete",
      {
        entryId: done.entryId,
        tokensBefore: done.tokensBefore,
        tokensAfter: done.tokensAfter,
        tokensFreed: done.tokensBefore - done.tokensAfter,
        messagesSummarized: 3,
        messagesKept: 1,
        missingHeadings: SUMMARY_HEADINGS.slice(1),
      },
    ],
  ])
})

function markers(text: string, names: readonly string[]): string[] {
  return names.filter((name) => text.includes(`${name} -`) || text.includes(`: ${name}\n`))
}

test("a question that was included and is summarized now does not bring back what was summarized after it", async () => {
  const { session, reopen } = await startCompacting()
  const note = (text: string): NewEntry => ({ type: "custom_message", customType: "n", content: text, display: true })
  const call = { type: "toolCall", id: "c", name: "bash", arguments: {} } as const
  await session.append([
    user(`question ${FILLER}`),
    note(`summarized ${FILLER}`),
    { type: "message", message: { role: "bashExecution", command: "kept" } },
    { type: "message", message: { role: "assistant", content: [call] } },
  ])
  await compact(session, { summarize: async () => "first", keepMessages: 2 })
  expect((await contextTexts(session)).join()).toMatch(/first.*question.*kept/s)
  await session.append([
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: FILLER } },
    assistant("answer"),
  ])
  await compact(session, { summarize: async () => "second", keepMessages: 4 })
  for (const one of [session, await reopen()]) {
    const texts = (await contextTexts(one)).join()
    expect(texts).toMatch(/second.*kept.*answer/s)
    expect(texts).not.toContain("summarized")
  }
})
