/** Chats that were interrupted anywhere, with answers of several models: each provider of the AI SDK takes what a route sends of them. */
import { createSessions, type Entry, type Session, type Sessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { convertToModelMessages, tool, type UIMessage } from "ai"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { runs } from "../../../.config/runs.ts"
import { fitAiSdk } from "@sessions/providers/ai-sdk"
import { AI_SDK, bodyOf } from "../../providers/test/clients/ai-sdk.ts"
import { type ChatStore, createChatStore, withRepair } from "../src/index.ts"
import { user } from "./model.ts"

type Part = UIMessage["parts"][number]

const tools = { look: tool({ inputSchema: z.object({}), execute: async () => "seen" }) }
const toModelMessages = withRepair(convertToModelMessages)

const call = fc
  .record({
    toolCallId: fc.constantFrom("c1", "c2", "functions.look:0", `toolu_${"x".repeat(60)}`, "abcDEF123"),
    fields: fc.constantFrom<object>(
      { state: "input-streaming", rawInput: "{" },
      { state: "input-available" },
      { state: "approval-requested", approval: { id: "a" } },
      { state: "approval-responded", approval: { id: "a", approved: true } },
      { state: "approval-responded", approval: { id: "a", approved: false } },
      { state: "output-available", preliminary: true, output: "half" },
      { state: "output-available", output: "seen" },
      { state: "output-available", output: { seen: [1, null] } },
      { state: "output-error", errorText: "no" },
      // The model has called with what is no JSON.
      { state: "output-error", errorText: "no", input: "{half" },
      { state: "output-denied", approval: { id: "a", approved: false } },
    ),
  })
  .map(({ toolCallId, fields }) => {
    const approval =
      "approval" in fields ? { approval: { ...(fields.approval as object), id: `of ${toolCallId}` } } : {}
    return { type: "tool-look", toolCallId, input: {}, ...fields, ...approval } as unknown as Part
  })
/** Calls that Anthropic and OpenAI execute themselves. */
const hosted = fc
  .record({
    made: fc.constantFrom(
      {
        toolCallId: "srvtoolu_1",
        callProviderMetadata: { anthropic: {} },
        output: [
          { type: "web_search_result", url: "https://a.example/", title: "A", pageAge: null, encryptedContent: "ZQ==" },
        ],
      },
      { toolCallId: "ws_sdk_1", output: { action: { type: "search", query: "q" } } },
    ),
    fields: fc.constantFrom<object>(
      { state: "input-streaming", rawInput: "{" },
      { state: "input-available" },
      { state: "approval-requested", approval: { id: "mcpr_sdk_1" } },
      { state: "approval-responded", approval: { id: "mcpr_sdk_1", approved: true } },
      { state: "approval-responded", approval: { id: "mcpr_sdk_1", approved: false } },
      { state: "output-available" },
    ),
  })
  .map(({ made: { output, ...made }, fields }) => {
    const more = "state" in fields && fields.state === "output-available" ? { output } : {}
    return {
      type: "tool-web_search",
      providerExecuted: true,
      input: { query: "q" },
      ...made,
      ...fields,
      ...more,
    } as unknown as Part
  })
const words = fc.constantFrom("", " ", "words")
/** The rest of the id of an item that OpenAI has made in 2020, and stores no more. */
const OLD = `5f000000${"0".repeat(40)}`
const part = fc.oneof(
  { weight: 4, arbitrary: call },
  { weight: 2, arbitrary: hosted },
  {
    weight: 2,
    arbitrary: fc
      .record({ text: words, itemId: fc.constantFrom(undefined, "msg_sdk_1", "msg_sdk_2", `msg_${OLD}`) })
      .map(
        ({ text, itemId }): Part => ({
          type: "text",
          text,
          ...(itemId === undefined ? {} : { providerMetadata: { openai: { itemId } } }),
        }),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        text: words,
        providerMetadata: fc.constantFrom(
          undefined,
          { openai: { itemId: "rs_sdk_1", reasoningEncryptedContent: "ZQ==" } },
          { openai: { itemId: "rs_sdk_2", reasoningEncryptedContent: "ZQ==" } },
          { openai: { itemId: `rs_${OLD}`, reasoningEncryptedContent: "ZQ==" } },
          { anthropic: { signature: "c2ln" } },
          { google: { thoughtSignature: "c2ln" } },
        ),
      })
      .map(
        ({ text, providerMetadata }): Part => ({
          type: "reasoning",
          text,
          ...(providerMetadata === undefined ? {} : { providerMetadata }),
        }),
      ),
  },
  { weight: 2, arbitrary: fc.constant<Part>({ type: "step-start" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Part>(
      { type: "file", mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" },
      { type: "data-note", data: 1 },
      { type: "source-url", sourceId: "s", url: "https://example.org" },
    ),
  },
)
const files = [undefined, "image/png", "application/pdf", "text/plain", "audio/ogg"].map((mediaType): Part[] =>
  mediaType === undefined ? [] : [{ type: "file", mediaType, url: `data:${mediaType};base64,iVBORw0KGgo=` }],
)

/** The answer as it was when its stream broke. OpenAI has stored nothing of the last step then. */
function cutOff(answer: readonly Part[]): readonly Part[] {
  const last = answer.findLastIndex(({ type }) => type === "step-start") + 1
  const step = JSON.parse(JSON.stringify(answer.slice(last)).replaceAll("_sdk_", "_cut_")) as Part[]
  const words: Part = {
    type: "text",
    text: "I s",
    state: "streaming",
    providerMetadata: { openai: { itemId: "msg_cut_9" } },
  }
  return [...answer.slice(0, last), ...step, words]
}

const turn = fc.record({
  answer: fc
    .record({ parts: fc.array(part, { maxLength: 7 }), isCut: fc.boolean() })
    .map(({ parts, isCut }) => (isCut ? cutOff(parts) : parts)),
  shows: fc.constantFrom(...files),
})
const chat = fc
  .record({ turns: fc.array(turn, { minLength: 1, maxLength: 4 }), asksOn: fc.boolean() })
  .map(({ turns, asksOn }): readonly UIMessage[] => [
    ...turns.flatMap(({ answer, shows }, n): readonly UIMessage[] => [
      { id: `u${n}`, role: "user", parts: shows.length > 0 ? shows : [{ type: "text", text: `question ${n}` }] },
      { id: `a${n}`, role: "assistant", parts: [...answer] },
    ]),
    ...(asksOn ? [user("next", "and?")] : []),
  ])

/** Something that a page, or another program in the log of the chat, does to it. */
const change = fc.record({
  kind: fc.constantFrom("regenerate", "ask otherwise", "tombstone", "edit", "branch", "compact", "note"),
  place: fc.nat(20),
})
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never

async function apply(sessions: Sessions, store: ChatStore<UIMessage>, id: string, { kind, place }: Change) {
  const messages = await store.loadChat(id)
  const at = place % Math.max(1, messages.length)
  if (kind === "regenerate") return store.saveChat({ id, messages: messages.slice(0, at) })
  if (kind === "ask otherwise")
    return store.saveChat({ id, messages: [...messages.slice(0, at), user("other", "or?"), ...messages.slice(at + 1)] })
  const log = await sessions.open(id)
  const entries: Entry[] = []
  for await (const entry of log.entries()) if (entry.type === "message") entries.push(entry)
  const entry = entries[place % Math.max(1, entries.length)]?.id ?? ""
  await changed(log, kind, entry).catch(() => undefined)
  await log.close()
}

/** What the log refuses, such as an edit of a result, leaves it as it was. */
async function changed(log: Session, kind: Change["kind"], id: string): Promise<unknown> {
  if (kind === "tombstone") return log.tombstone(id)
  if (kind === "edit") return log.edit(id, { content: "edited" })
  if (kind === "branch") return log.branch(id)
  if (kind === "note") return log.append({ type: "message", message: { role: "user", content: "a note" } })
  const compaction = { summary: "S", firstKeptEntryId: id, tokensBefore: 9, readFiles: [], modifiedFiles: [] }
  return log.append({ type: "compaction", ...compaction })
}

test.each(AI_SDK)("$provider takes what a route sends of any chat", (receiver) => {
  const model = receiver.model({ url: "http://127.0.0.1:9" })
  let chats = 0
  const sessions = createSessions({ storage: createMemoryStorage() })
  const store = createChatStore<UIMessage>(sessions)
  return fc.assert(
    fc.asyncProperty(chat, fc.array(change, { maxLength: 3 }), async (messages, changes) => {
      const id = `c${chats++}`
      await store.saveChat({ id, messages: [...messages] })
      for (const one of changes) await apply(sessions, store, id, one)
      const converted = await toModelMessages(await store.loadChat(id), { tools })
      // A route has a question.
      if (converted.length === 0) return
      const before = JSON.stringify(converted)
      const fitted = fitAiSdk(converted, { model, store: receiver.isStored ?? false })
      expect(JSON.stringify(converted)).toBe(before)
      // The SDK executes what the user has approved.
      const body = await bodyOf({ messages: fitted }, receiver, tools)
      expect({ refused: receiver.refused(body).map(({ message }) => message), fitted }).toEqual({ refused: [], fitted })
    }),
    { numRuns: runs(25) },
  )
})

test("a chat that every provider takes stays as it is, with the user's decision at its end", async () => {
  const messages: UIMessage[] = [
    user("u1", "go"),
    {
      id: "a1",
      role: "assistant",
      parts: [
        { type: "step-start" },
        { type: "text", text: "I look." },
        { type: "tool-look", toolCallId: "c1", state: "output-available", input: {}, output: "seen" },
        {
          type: "tool-look",
          toolCallId: "c2",
          state: "approval-responded",
          input: {},
          approval: { id: "of c2", approved: true },
        },
      ],
    },
  ]
  const converted = await toModelMessages(messages, { tools })
  const asJson = (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown
  expect(asJson(fitAiSdk(converted, { model: "anthropic/claude-sonnet-5-5" }))).toEqual(asJson(converted))
  const mistral = fitAiSdk(converted, { model: "mistral/magistral-medium-latest" })
  const [, answer, decision] = mistral as { content: { toolCallId?: string; type: string }[] }[]
  const ids = answer?.content.flatMap(({ toolCallId }) => toolCallId ?? [])
  expect(new Set(ids).size).toBe(2)
  expect(ids?.every((one) => /^[a-zA-Z0-9]{9}$/.test(one))).toBe(true)
  expect(decision?.content.map(({ type }) => type)).toEqual(["tool-result", "tool-approval-response"])
})
