/** The caller's token counter is used for every token count. */
import { automaticCompaction, compact, shorten } from "../index.ts"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { assistant, codeOf, user } from "../../../test/writers.ts"
import { buildSessionContext } from "../../context/build.ts"
import type { Message } from "../../format/message.ts"

const summarize = async (): Promise<string> => SUMMARY
/** Ten times the estimate. */
const count = ({ content }: Message): number => Math.ceil((JSON.stringify(content ?? "").length / 4) * 10)

test("context() counts with it, whether the context fits, including the system prompt, and why not", async () => {
  const { sessions } = await startCompacting({ compaction: automaticCompaction({ countTokens: () => 100 }) })
  const session = await sessions.create({ id: "t", systemPromptOverride: "x" })
  await session.append([user("a"), assistant("b")])
  expect(await session.context({ window: 300 })).toMatchObject({ tokens: 300, fits: true })
  const { fits, diagnostics } = await session.context({ window: 250 })
  expect(fits).toBe(false)
  expect(diagnostics.at(-1)).toMatchObject({ code: "does_not_fit", message: expect.stringMatching(/about 300 tokens/) })
  expect((await session.context({ window: 99 })).diagnostics.at(-1)?.message).toMatch(
    /system prompt alone has about 100/,
  )
})

test("pruning by shares of the window uses it", async () => {
  const { session, sessions } = await startCompacting()
  const content = [{ type: "toolCall" as const, id: "c", name: "bash", arguments: {} }]
  await session.append([
    user("a"),
    { type: "message", message: { role: "assistant", content } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: FILLER.repeat(2) } },
    ...[1, 2, 3].map((n) => assistant(`${n}`)),
  ])
  const view = { window: 20_000, shorten: shorten() }
  expect((await session.context(view)).pruned).toEqual([])
  const counting = await sessions.open("s", { compaction: automaticCompaction({ countTokens: count }) })
  expect((await counting.context(view)).pruned).toMatchObject([{ how: "trimmed" }])
})

test("a compaction's counts come from it, and context() gives the same afterwards", async () => {
  const { session } = await startCompacting({ compaction: automaticCompaction({ countTokens: count }) })
  await session.append([user(FILLER), assistant(FILLER), user("c")])
  const before = (await session.context()).tokens
  const { tokensBefore, tokensAfter } = await compact(session, { summarize, keepRecentTokens: 1 })
  expect(tokensBefore).toBe(before)
  expect((await session.context()).tokens).toBe(tokensAfter)
})

test("one that returns no number is reported by every call that counts", async () => {
  for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY, undefined, "7", Promise.resolve(7)]) {
    const { session } = await startCompacting({
      compaction: automaticCompaction({ countTokens: () => wrong as never }),
    })
    await session.append([user(FILLER), assistant(FILLER)])
    expect(await codeOf(session.context())).toBe("invalid")
    expect(await codeOf(compact(session, { summarize, keepRecentTokens: 0 }))).toBe("invalid")
  }
  await expect(
    (async () => buildSessionContext([undefined, ENTRY], undefined, { countTokens: () => Number.NaN }))(),
  ).rejects.toThrow(/countTokens must give a number/)
  expect(buildSessionContext([undefined, ENTRY], undefined, { countTokens: () => 7, window: 6 })).toMatchObject({
    tokens: 7,
    fits: false,
  })
})

test("what it changes in its message reaches neither the context, nor a compaction, nor the entries of the caller", async () => {
  const spoil = (message: Message): number => {
    const tokens = count(message)
    for (const block of message.content ?? []) Object.assign(block, { text: "changed" })
    Object.assign(message, { role: "changed", content: [] })
    return tokens
  }
  const contexts = []
  const prompts: string[] = []
  for (const countTokens of [count, spoil]) {
    const { session } = await startCompacting({ compaction: automaticCompaction({ countTokens }) })
    await session.append([user(FILLER), assistant(FILLER), user("c")])
    const before = await session.context({ window: 100_000 })
    await compact(session, {
      keepRecentTokens: 1,
      summarize: async ({ prompt }) => {
        prompts.push(prompt)
        return SUMMARY
      },
    })
    contexts.push(
      [before, await session.context()].map(({ messages, tokens }) => [messages.map((one) => one.message), tokens]),
    )
  }
  expect(contexts[1]).toEqual(contexts[0])
  expect(new Set(prompts).size).toBe(1)
  const entry = { ...ENTRY, message: { role: "user", content: [{ type: "text", text: "mine" }] } } as const
  const { messages } = buildSessionContext([undefined, entry], undefined, { countTokens: spoil })
  expect([messages[0]?.message, entry.message.content]).toMatchObject([{ role: "user" }, [{ text: "mine" }]])
})

const ENTRY = {
  type: "message",
  id: "a",
  parentId: null,
  seq: 1,
  timestamp: "",
  message: { role: "user", content: [] },
} as const
