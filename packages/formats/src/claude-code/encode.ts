/** Encodes entries as lines of Claude Code: for the codec of imported entries, and for entries that were appended. */
import type { AssistantMessage, ContentBlock, Entry, ToolResultMessage, UserMessage } from "@sessions/core"
import type { Fields } from "../base/values.ts"
import { apiBlockOf, apiContentOf, apiResultOf, apiUsageOf } from "./blocks.ts"

/** The fields that most lines of a file repeat, as `sessionId` and `cwd`. */
export const REPEATED_FIELDS = [
  "isSidechain",
  "userType",
  "entrypoint",
  "cwd",
  "sessionId",
  "version",
  "gitBranch",
  "agentId",
] as const

/** What the lines of an entry need besides it. */
export interface LineContext {
  /** The values of {@link REPEATED_FIELDS} in this file. */
  readonly repeated: Fields
  /** `uuid` of the line that the first line of the entry continues. */
  readonly parentUuid: string | null
}

/** The form of an imported line, where an entry can be written in several ways: the `hint` of its source. */
export interface Hint {
  /** The content of an assistant is a text. */
  readonly text?: boolean
  /** The number of blocks of each line of an assistant; one each if missing. */
  readonly blocks?: readonly number[]
  /** A content of one text is a list of blocks. */
  readonly list?: boolean
  /** The number of entries that were made of one line; the others have `part`. */
  readonly parts?: number
  readonly part?: number
  /** The type of a line that is no message of the API, but of which a model gets one. */
  readonly aside?: string
}

/** Line `i` of the lines of an assistant entry. `previous` is the `uuid` of the line before it. */
export function assistantLine(
  entry: Entry & { readonly message: AssistantMessage },
  i: number,
  count: number,
  previous: unknown,
  hint: Hint,
  { repeated, parentUuid }: LineContext,
): Fields {
  const { content, model, usage, stopReason } = entry.message
  const isLast = i === count - 1
  const message: Record<string, unknown> = {
    type: "message",
    role: "assistant",
    content: hint.text === true ? apiContentOf(content, false) : blocksOfLine(content, i, count, hint).map(apiBlockOf),
    stop_reason: isLast ? (stopReason ?? null) : null,
  }
  if (model !== undefined) message["model"] = model
  if (usage !== undefined) message["usage"] = apiUsageOf(usage)
  const line: Record<string, unknown> = { ...repeated, type: "assistant" }
  if (i === 0) line["uuid"] = entry.id
  line["parentUuid"] = i === 0 ? parentUuid : previous
  line["timestamp"] = entry.timestamp
  line["message"] = message
  return line
}

function blocksOfLine(
  content: readonly ContentBlock[],
  i: number,
  count: number,
  { blocks }: Hint,
): readonly ContentBlock[] {
  let from = i
  if (blocks !== undefined) {
    from = 0
    for (const length of blocks.slice(0, i)) from += length
  }
  const isLast = i === count - 1
  return isLast ? content.slice(from) : content.slice(from, from + (blocks?.[i] ?? 1))
}

/** The line of a user message and of the tool results that are on the same line, before it. */
export function userLine(
  results: readonly ToolResultMessage[],
  user: UserMessage | undefined,
  { id, timestamp }: Pick<Entry, "id" | "timestamp">,
  hint: Hint,
  { repeated, parentUuid }: LineContext,
): Fields {
  const asList = hint.list === true
  const content =
    results.length === 0
      ? apiContentOf(user?.content ?? [], asList)
      : [...results.map((result) => apiResultOf(result, asList)), ...(user?.content ?? []).map(apiBlockOf)]
  const line: Record<string, unknown> = { ...repeated, type: "user", uuid: id, parentUuid, timestamp }
  if (user?.synthetic === true) line["isMeta"] = true
  if (user?.summary === true) line["isCompactSummary"] = true
  line["message"] = { role: "user", content }
  return line
}

/** The line of a message that {@link Hint.aside} names. The other fields of such a line are the codec's difference. */
export function asideLine(
  { id, timestamp }: Pick<Entry, "id" | "timestamp">,
  type: string,
  { repeated, parentUuid }: LineContext,
): Fields {
  if (type === QUEUE_OPERATION) return { type, timestamp, sessionId: repeated["sessionId"] }
  return { ...repeated, type, uuid: id, parentUuid, timestamp }
}

/** Type of the lines of the queue of prompts, which have no `uuid`. */
export const QUEUE_OPERATION = "queue-operation"

/** The two lines of a compaction: its boundary and its summary. `kept` are the uuids of the lines that stay in the context. */
export function compactionLines(
  entry: Pick<Entry, "id" | "timestamp">,
  summary: string,
  o: LineContext & { readonly summaryUuid: string; readonly preTokens: number; readonly metadata?: Fields },
): readonly [Fields, Fields] {
  const { repeated, parentUuid, summaryUuid, preTokens, metadata } = o
  const { id, timestamp } = entry
  return [
    {
      ...repeated,
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      level: "info",
      isMeta: false,
      uuid: id,
      parentUuid: null,
      logicalParentUuid: parentUuid,
      timestamp,
      compactMetadata: { trigger: "manual", preTokens, ...metadata },
    },
    {
      ...repeated,
      type: "user",
      uuid: summaryUuid,
      parentUuid: id,
      timestamp,
      isCompactSummary: true,
      isVisibleInTranscriptOnly: true,
      message: { role: "user", content: summary },
    },
  ]
}

/** The line with which a conversation ends that went back to the line `leaf`. It says nothing to the model. */
export function endLine(uuid: string, leaf: Fields, repeated: Fields): Fields {
  const { uuid: parentUuid, timestamp } = leaf
  const content = "The conversation continues here."
  return {
    ...repeated,
    type: "system",
    subtype: "informational",
    content,
    level: "info",
    isMeta: false,
    uuid,
    parentUuid,
    timestamp,
  }
}

/** The line at which a conversation begins anew. A person does not see it. */
export function startLine(place: Pick<Entry, "id" | "timestamp">, repeated: Fields): Fields {
  const content = [{ type: "text", text: "The conversation begins anew here." }] as const
  return userLine([], { role: "user", content, synthetic: true }, place, {}, { repeated, parentUuid: null })
}

/** The line of a session that was moved to another folder. */
export function relocatedLine(relocatedCwd: unknown, sessionId: unknown): Fields {
  return { type: "relocated", relocatedCwd, sessionId }
}

/** The line of a title. */
export function titleLine(title: string, source: "user" | "auto", sessionId: unknown): Fields {
  return source === "user"
    ? { type: "custom-title", customTitle: title, sessionId }
    : { type: "ai-title", aiTitle: title, sessionId }
}
