/** Small session files of Claude Code, made by hand: one for each rule and each oddity. */
import type { Golden } from "./laws.ts"

export const SESSION: string = "11111111-1111-4111-8111-111111111111"

/** A `uuid` for a small number. */
export const id = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

export type Fields = Readonly<Record<string, unknown>>

/** A line of the conversation. `after` is the number of its parent. */
function line(n: number, after: number | null, fields: Fields): Fields {
  return {
    parentUuid: after === null ? null : id(after),
    isSidechain: false,
    userType: "external",
    cwd: "/w",
    sessionId: SESSION,
    version: "2.1.330",
    ...fields,
    uuid: id(n),
    timestamp: `2026-09-21T14:13:${String(n % 60).padStart(2, "0")}.000Z`,
  }
}
export const user = (n: number, after: number | null, content: unknown, more: Fields = {}) =>
  line(n, after, { type: "user", message: { role: "user", content }, ...more })
const answer = (n: number, after: number | null, messageId: string, content: unknown, more: Fields = {}) =>
  line(n, after, {
    type: "assistant",
    requestId: `req_${messageId}`,
    message: {
      id: messageId,
      type: "message",
      role: "assistant",
      model: "claude-opus-5-5",
      content,
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 10, output_tokens: n, cache_read_input_tokens: 3, service_tier: "standard" },
    },
    ...more,
  })
export const text = (text: string) => ({ type: "text", text })
const call = (callId: string, input: unknown = {}) => ({ type: "tool_use", id: callId, name: "Read", input })
const result = (callId: string, content: unknown, more: Fields = {}) => ({
  type: "tool_result",
  tool_use_id: callId,
  content,
  ...more,
})
const attachment = (n: number, after: number) => line(n, after, { type: "attachment", attachment: { type: "date" } })
const boundary = (n: number, logical: number | null, compactMetadata: Fields) =>
  line(n, null, {
    type: "system",
    subtype: "compact_boundary",
    logicalParentUuid: logical === null ? undefined : id(logical),
    content: "Conversation compacted",
    compactMetadata: { trigger: "auto", preTokens: 7, ...compactMetadata },
  })
const summary = (n: number, after: number) => user(n, after, "SUMMARY", { isCompactSummary: true })

export const file = (...lines: readonly (Fields | string)[]): Golden => ({
  text: lines.map((line) => (typeof line === "string" ? line : `${JSON.stringify(line)}\n`)).join(""),
})

export const goldens = {
  "a chat with attachments, titles and lines of unknown types": file(
    { type: "queue-operation", operation: "enqueue", timestamp: "2026-09-21T14:13:00.000Z", sessionId: SESSION },
    user(1, null, [text("q1")]),
    attachment(2, 1),
    { type: "unknown", some: { thing: [1, null] } },
    answer(3, 2, "m1", [text("a1")]),
    { type: "ai-title", aiTitle: "Made", sessionId: SESSION },
    { type: "custom-title", customTitle: "Mine", sessionId: SESSION, more: 1 },
    { type: "summary", summary: "Older", leafUuid: id(3) },
    { type: "custom-title", customTitle: 7 },
    user(4, 3, "q2"),
    { type: "last-prompt", lastPrompt: "q2", leafUuid: id(4), sessionId: SESSION },
  ),
  "parallel calls with results and an attachment between the lines of the message": file(
    user(1, null, "q"),
    answer(2, 1, "m1", [{ type: "thinking", thinking: "hm", signature: "sig" }]),
    answer(3, 2, "m1", [call("a", { path: "/x" })]),
    attachment(4, 3),
    user(5, 4, [result("a", "r a", { is_error: false })], { toolUseResult: { file: { lines: 2 } } }),
    answer(6, 3, "m1", [{ ...call("b"), caller: { type: "direct" } }]),
    user(7, 6, [result("b", [text("r b")], { is_error: true })], { sourceToolAssistantUUID: id(6) }),
    answer(8, 7, "m2", [text("done"), text("twice")]),
    user(9, 8, [{ type: "text", text: "next", cache_control: { type: "ephemeral" } }]),
  ),
  "results with an image, with a text, and two on one line": file(
    user(1, null, "q"),
    answer(2, 1, "m1", [call("a"), call("b"), call("c")]),
    user(3, 2, [
      result("a", [
        text("see"),
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
      ]),
      result("b", ""),
      text("and also"),
    ]),
    user(4, 3, [text("before"), result("c", undefined)]),
    answer(5, 4, "m2", [text("done")]),
  ),
  "blocks that are none, or not as they should be": file(
    user(1, null, [7, { type: "image", source: { type: "url", url: "https://a.test/b.png" } }, { type: "text" }]),
    answer(2, 1, "m1", [
      { type: "redacted_thinking", data: "secret" },
      { type: "tool_use", id: 7, name: null, input: "text" },
      { type: "tool_use", id: "a", name: "Read", input: "text" },
      { type: "toolCall", id: "x" },
      { type: "claude-code:block", value: 1 },
    ]),
    user(3, 2, { a: 1 }),
    user(4, 3, ""),
    user(5, 4, []),
    answer(6, 5, "m2", "text"),
    answer(7, 6, "m3", []),
    { type: "user", message: "none", uuid: id(8), parentUuid: id(7) },
    line(9, 8, { type: "assistant", message: { role: "assistant", content: [text("a")] } }),
  ),
  "a compaction that keeps a suffix": file(
    user(1, null, "q1"),
    answer(2, 1, "m1", [text("a1")]),
    user(3, 2, "q2"),
    answer(4, 3, "m2", [call("a")]),
    user(5, 4, [result("a", "r")]),
    answer(6, 5, "m3", [text("a2")]),
    boundary(7, 6, {
      preservedMessages: { anchorUuid: id(8), uuids: [id(3), id(6)], allUuids: [id(3), id(6)] },
    }),
    summary(8, 7),
    user(9, 8, "next"),
  ),
  "a compaction that keeps a segment": file(
    user(1, null, "q1"),
    answer(2, 1, "m1", [text("a1")]),
    user(3, 2, "q2"),
    answer(4, 3, "m2", [text("a2")]),
    boundary(5, 4, { preservedSegment: { headUuid: id(3), anchorUuid: id(6), tailUuid: id(4) } }),
    { type: "mode", mode: "normal" },
    summary(6, 5),
    user(7, 6, "next"),
  ),
  "a compaction that keeps a prefix": file(
    user(1, null, "q1"),
    answer(2, 1, "m1", [text("a1")]),
    user(3, 2, "q2"),
    answer(4, 3, "m2", [text("a2")]),
    boundary(5, 4, { preservedMessages: { anchorUuid: id(5), uuids: [id(1), id(2)] } }),
    summary(6, 5),
    user(7, 6, "next"),
  ),
  "a compaction that keeps nothing, and boundaries without a summary": file(
    user(1, null, "q1"),
    answer(2, 1, "m1", [text("a1")]),
    line(3, 2, { type: "system", subtype: "compact_boundary", content: "microcompact" }),
    user(4, 3, "q2"),
    boundary(5, 4, {}),
    summary(6, 5),
    answer(7, 6, "m2", [text("a2")]),
    boundary(8, null, {}),
    user(9, 8, "cut off"),
  ),
  "inline sidechains between the lines of a message": file(
    user(1, null, "q"),
    answer(2, 1, "m1", [call("task")]),
    user(20, null, "do it", { isSidechain: true }),
    answer(21, 20, "s1", [text("part")], { isSidechain: true }),
    answer(3, 2, "m1", [call("b")]),
    answer(22, 21, "s1", [call("c")], { isSidechain: true }),
    user(23, 22, [result("c", "r c")], { isSidechain: true }),
    user(4, 2, [result("task", "done")]),
    user(5, 3, [result("b", "r b")]),
    answer(24, 23, "s2", [text("end")], { isSidechain: true, agentId: "a7" }),
  ),
  "branches, the older one continued last": file(
    user(1, null, "q"),
    answer(2, 1, "m1", [text("one")]),
    user(3, 1, "again"),
    answer(4, 3, "m2", [text("two")]),
    user(5, 2, "back"),
  ),
  "missing parents, repeated uuids, lines without a uuid, a cut last line": file(
    user(2, 1, "q"),
    answer(3, 2, "m1", [text("a")]),
    answer(3, 2, "m1", [text("a")]),
    user(5, 4, "on"),
    { type: "user", message: { role: "user", content: "no uuid" } },
    { ...user(6, 5, "no session"), sessionId: "other", timestamp: "soon" },
    '{"type":"assist',
  ),
  "a message of the program, an error of the API, and a summary alone": file(
    user(1, null, "caveat", { isMeta: true }),
    answer(2, 1, "m1", [text("API Error: 500")], { isApiErrorMessage: true }),
    user(3, 2, "SUMMARY", { isCompactSummary: true }),
    user(4, 3, "on", { isMeta: false }),
  ),
  "a folder that is null": file(user(1, null, "q", { cwd: null }), answer(2, 1, "m1", [text("a")])),
  "an id of the session that only a later line has": file(
    user(1, null, "q", { sessionId: undefined }),
    answer(2, 1, "m1", [text("a")]),
  ),
  "the file of a subagent": file(
    { type: "agent_metadata", agentType: "general-purpose", description: "look it up", toolUseId: "t" },
    user(1, null, "go", { isSidechain: true, agentId: "a1" }),
    answer(2, 1, "m1", [text("found")], { isSidechain: true, agentId: "a1" }),
  ),
}
