/**
 * Random histories of a session: answers of four providers in turn, cut off anywhere; messages that programs and imports make, with any ids, names,
 * blocks and images; results that are missing, doubled or of no call; edits, deletions, branches, compactions.
 */
import type { ContentBlock, ModelMessage, NewEntry, Session } from "@sessions/core"
import * as fc from "fast-check"
import { accumulateAnthropic } from "../src/anthropic/index.ts"
import { accumulateGemini } from "../src/gemini/index.ts"
import { toolCalls, toolResult } from "../src/index.ts"
import { accumulateOpenAIChat } from "../src/openai-chat/index.ts"
import { accumulateOpenAIResponses } from "../src/openai-responses/index.ts"
import { appendStream } from "../src/shared/stream.ts"
import { saidByAiSdk } from "./ai-sdk-answers.ts"
import { newSession } from "./answers.ts"
import { anthropicAnswer, chatAnswer, geminiAnswer, responsesAnswer } from "./arbitraries.ts"
import { anthropicEvents, chatChunks, geminiChunks, responsesEvents } from "./streams.ts"

/** Does something to the session. */
export type Step = (session: Session) => Promise<unknown>

export const LONG = "z".repeat(90)
const TEXTS = ["hi", "", " ", "\n", "ends in a space ", "half \ud83d", "\udc00 half", "読む"]
const IDS = [
  "call_1",
  "call_1",
  "call_2",
  "",
  "a.b|c:d",
  "functions.read:0",
  "日本",
  LONG,
  `${LONG}2`,
  "x".repeat(41),
  "123456789",
]
const NAMES = ["read", "read", "", "server.tool/x", "read file", "読む", "1st", "_run", LONG, `${LONG}2`, "__proto__"]
const PNG = "iVBORw0KGgo="
/** The header of a PNG with sides of 9,000 pixels. */
const HUGE = btoa(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x23\x28\0\0\x23\x28`)
const IMAGES: readonly ContentBlock[] = [
  { type: "image", mimeType: "image/png", data: PNG },
  { type: "image", mimeType: "IMAGE/PNG", data: PNG },
  { type: "image", mimeType: "image/jpg", data: "/9j/AAAA" },
  { type: "image", mimeType: "image/heic", data: "AAAA" },
  { type: "image", mimeType: "image/svg+xml", data: "AAAA" },
  { type: "image", mimeType: "image/gif", data: "R0lGODlh" },
  { type: "image", mimeType: "application/pdf", data: "AAAA" },
  { type: "image", mimeType: "", data: "AAAA" },
  { type: "image", mimeType: "image/png", data: HUGE },
  { type: "image", mimeType: "image/jpeg", data: PNG },
  { type: "image", mimeType: "image/png", data: "/9j/4AAQSkZJRg==" },
  { type: "image", mimeType: "image/png", data: "AA AA" },
  { type: "image", mimeType: "image/png", data: "AAAA=" },
  { type: "image", mimeType: "image/png", data: "not base64!" },
]
/** Blocks of the providers that ours do not have, whole, and halves of which the other one is missing. */
const FOREIGN: readonly ContentBlock[] = [
  { type: "anthropic:redacted_thinking", data: "cg==" },
  { type: "anthropic:server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
  { type: "anthropic:web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
  { type: "anthropic:mcp_tool_use", id: "mcptoolu_1", name: "echo", server_name: "s", input: {} },
  { type: "anthropic:mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false, content: [] },
  ...[
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "q" } },
    {
      type: "local_shell_call",
      id: "lsh_1",
      call_id: "call_9",
      status: "completed",
      action: { type: "exec", command: ["ls"], env: {} },
    },
    { type: "reasoning", id: "rs_9", summary: [], encrypted_content: "ZQ==" },
    { type: "mcp_approval_request", id: "mcpr_1", server_label: "s", name: "echo", arguments: "{}" },
  ].map((item): ContentBlock => ({ type: "openai:item", item })),
  { type: "gemini:part", part: { executableCode: { code: "1", language: "PYTHON" } } },
  { type: "gemini:part", part: { toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: {} } } },
  { type: "gemini:part", part: { text: "", thoughtSignature: "c2ln" } },
  { type: "acme:chart", data: "x" },
  { type: "providers:partial_call", id: "call_7", name: "read", text: '{"pa' },
]

const anyOf = <T>(values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values)
const text: fc.Arbitrary<ContentBlock> = anyOf(TEXTS).map((value) => ({ type: "text", text: value }))
const call: fc.Arbitrary<ContentBlock> = fc.record({
  type: fc.constant("toolCall" as const),
  id: anyOf(IDS),
  name: anyOf(NAMES),
  arguments: anyOf([{}, { path: "a" }, { "half \ud83d": "\ud83d" }]),
})
const thinking: fc.Arbitrary<ContentBlock> = fc.record(
  {
    type: fc.constant("thinking" as const),
    thinking: anyOf(TEXTS),
    signature: anyOf(["", "c2ln", "c2ln", "claude#c2ln"]),
  },
  { requiredKeys: ["type", "thinking"] },
)
const PROVIDERS = [undefined, "anthropic", "openai", "google", "mistral", "deepseek", "kimi", "openrouter", "acme"]
const STOPS = [undefined, "end_turn", "tool_use", "pause_turn", "max_tokens", "aborted", "error", "toolUse", "stop"]

const given = (message: ModelMessage): NewEntry => ({ type: "message", message })

const FILE: ContentBlock = { type: "file", path: "a.pdf", mimeType: "application/pdf" }
/** What a user says, or a tool gives. */
export const blocks: fc.Arbitrary<readonly ContentBlock[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: text }, anyOf(IMAGES), fc.constant(FILE)),
  { maxLength: 3 },
)

const question: fc.Arbitrary<Step> = blocks.map(
  (content) => async (session) => session.append(given({ role: "user", content })),
)

const made: fc.Arbitrary<Step> = fc
  .record({
    content: fc.array(fc.oneof(text, { weight: 2, arbitrary: call }, thinking, anyOf(FOREIGN), anyOf(IMAGES)), {
      maxLength: 5,
    }),
    provider: anyOf(PROVIDERS),
    stopReason: anyOf(STOPS),
  })
  .map(({ content, provider, stopReason }) => {
    const more = {
      ...(provider === undefined ? {} : { provider }),
      ...(stopReason === undefined ? {} : { stopReason }),
    }
    return async (session) => session.append(given({ role: "assistant", content, ...more }))
  })

const system: fc.Arbitrary<Step> = anyOf(TEXTS).map(
  (content) => async (session) => session.append({ type: "message", message: { role: "system", content } }),
)

/** What a provider answers, as much of it as arrives. */
export const said: fc.Arbitrary<Step> = fc
  .record({
    events: fc.oneof(
      anthropicAnswer.map((answer) => streamOf(() => anthropicEvents(answer, 5), accumulateAnthropic)),
      chatAnswer.map((answer) => streamOf(() => chatChunks(answer, 5), accumulateOpenAIChat)),
      responsesAnswer.map((answer) => streamOf(() => responsesEvents(answer, 5), accumulateOpenAIResponses)),
      geminiAnswer.map((answer) => streamOf(() => geminiChunks(answer, 5), accumulateGemini)),
    ),
    cut: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.nat(30)),
    fails: fc.boolean(),
  })
  .map(
    ({ events, cut, fails }) =>
      (session) =>
        events(session, cut, fails),
  )

function streamOf<E>(events: () => Iterable<E>, accumulate: () => Parameters<typeof appendStream<E>>[2]) {
  return async (session: Session, cut: number, fails: boolean) => {
    async function* stream() {
      let count = 0
      for (const event of events()) {
        if (count++ === cut) {
          if (fails) throw new Error("overloaded")
          return
        }
        yield event
      }
    }
    await appendStream(session, stream(), accumulate(), {}).catch(() => undefined)
  }
}

/** Results of the last answer's calls, as many as the program came to. */
const results: fc.Arbitrary<Step> = fc
  .record({
    count: fc.nat(4),
    content: blocks,
    isError: fc.boolean(),
    reversed: fc.boolean(),
  })
  .map(({ count, content, isError, reversed }) => async (session) => {
    const { messages } = await session.messages({ limit: 1 })
    const answer = messages[0]?.message
    if (answer?.role !== "assistant") return
    const calls = toolCalls(answer).slice(0, count)
    for (const one of reversed ? calls.toReversed() : calls)
      await session.append(toolResult(one, content.length === 0 ? "" : content, { isError }))
  })

/** A result that the program made for a call that may be of any answer, or of none. */
const strayResult: fc.Arbitrary<Step> = fc
  .record({ toolCallId: anyOf(IDS), toolName: anyOf(NAMES), value: anyOf(TEXTS), isError: fc.boolean() })
  .map(({ toolCallId, toolName, value, isError }) => async (session) => {
    const content: readonly ContentBlock[] = [{ type: "text", text: value }]
    await session.append(given({ role: "toolResult", toolCallId, toolName, isError, content }))
  })

/** Of the visible messages, the one in this place. */
async function messageAt(session: Session, place: number): Promise<string | undefined> {
  const { messages } = await session.messages({ limit: 200 })
  return messages[place % Math.max(1, messages.length)]?.entryId
}

const change: fc.Arbitrary<Step> = fc
  .record({ kind: anyOf(["edit", "delete", "branch", "compact"] as const), place: fc.nat(50), to: anyOf(TEXTS) })
  .map(({ kind, place, to }) => async (session) => {
    const id = await messageAt(session, place)
    if (id === undefined) return
    // What a session refuses, such as an edit that changes a role, leaves it as it was.
    await changed(session, kind, id, to).catch(() => undefined)
  })

async function changed(
  session: Session,
  kind: "edit" | "delete" | "branch" | "compact",
  id: string,
  to: string,
): Promise<unknown> {
  if (kind === "edit") return session.edit(id, { content: to })
  if (kind === "delete") return session.tombstone(id)
  if (kind === "branch") return session.branch(id)
  return session.append({
    type: "compaction",
    summary: "SUMMARY",
    firstKeptEntryId: id,
    tokensBefore: 9,
    readFiles: [],
    modifiedFiles: [],
  })
}

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: question },
    { weight: 5, arbitrary: said },
    { weight: 3, arbitrary: saidByAiSdk },
    { weight: 3, arbitrary: made },
    { weight: 6, arbitrary: results },
    { weight: 1, arbitrary: strayResult },
    { weight: 1, arbitrary: system },
    { weight: 2, arbitrary: change },
  ),
  { minLength: 1, maxLength: 14 },
)

export async function sessionAfter(list: readonly Step[], begun?: Session): Promise<Session> {
  const session = begun ?? (await newSession())
  for (const step of list) await step(session)
  return session
}
