/**
 * Files of programs that no format reads, told by what they must have. They come before the formats, because some have fields by which a
 * format would take them for its own, and because the name of the program helps more than the reasons of every format.
 */
import type { FileStart } from "./base/start.ts"
import { type Fields, fieldsOf, isObject } from "./base/values.ts"

/** What the file is, as the end of a sentence that begins with "it is"; undefined if it is none of them. */
export function foreignFile({ records, document }: FileStart): string | undefined {
  for (const { name, is } of LINES) if (records.some(is)) return name
  const value = document?.value
  if (isObject(value) && isIndex(value)) return INDEX
  if (Array.isArray(value)) {
    const items = (value as readonly unknown[]).filter(isObject)
    for (const { name, is } of ITEMS) if (items.length > 0 && items.every(is)) return name
  }
  return undefined
}

const INDEX = "a list of the sessions of Claude Code, which is no session: those are the files beside it"

function isIndex({ entries }: Fields): boolean {
  const all = Array.isArray(entries) ? (entries as readonly unknown[]).map(fieldsOf) : []
  return all.length > 0 && all.every((entry) => hasAll(entry, "sessionId", "fullPath"))
}

interface Foreign {
  readonly name: string
  readonly is: (record: Fields) => boolean
}

const hasAll = (record: Fields, ...names: readonly string[]): boolean =>
  names.every((name) => Object.hasOwn(record, name))

/** One such line tells the program. */
const LINES: readonly Foreign[] = [
  {
    name: "the output of `claude --output-format stream-json`, which is no session file: that is below `projects` in the folder of Claude Code",
    is: ({ type, subtype, session_id: id, parent_tool_use_id: call }) =>
      typeof id === "string" &&
      ((type === "system" && subtype === "init") ||
        (type === "result" && typeof subtype === "string") ||
        call !== undefined),
  },
  {
    name: "the output of `codex exec --json`, which is no session file: that is below `sessions` in the folder of Codex",
    is: ({ type, thread_id: id }) => type === "thread.started" && typeof id === "string",
  },
  {
    name: "a wire log of Kimi CLI, which is not read: its session is `context.jsonl` beside it",
    is: ({ message, timestamp }) =>
      typeof timestamp === "number" &&
      hasAll(fieldsOf(message), "type", "payload") &&
      fieldsOf(message)["role"] === undefined,
  },
  {
    name: "a session of goose, which is not read",
    is: (record) => hasAll(record, "working_dir", "message_count") && typeof record["working_dir"] === "string",
  },
  {
    name: "a session of Factory's droid, which is not read",
    is: ({ type, id }) => type === "session_start" && typeof id === "string",
  },
  {
    name: "a transcript of Cursor, which is not read",
    is: (record) =>
      Object.keys(record).length === 2 &&
      typeof record["role"] === "string" &&
      Array.isArray(fieldsOf(record["message"])["content"]),
  },
  {
    name: "the history of prompts of Claude Code, which is no session",
    is: (record) => hasAll(record, "display", "pastedContents", "project"),
  },
]

/** All elements of the list are so. */
const ITEMS: readonly Foreign[] = [
  {
    name: "a checkpoint of a chat of Gemini CLI, which is not read: its sessions are in `chats`",
    is: ({ role, parts }) =>
      (role === "user" || role === "model") &&
      Array.isArray(parts) &&
      (parts as readonly unknown[]).every((part) => isObject(part) && part["type"] === undefined),
  },
  {
    name: "a log of prompts of Gemini CLI, which is no session: those are in `chats`",
    is: (item) => hasAll(item, "sessionId", "messageId", "message", "type") && typeof item["message"] === "string",
  },
  {
    name: "a task of Cline or Roo Code as its editor shows it, which is not read",
    is: ({ ts, type }) => typeof ts === "number" && (type === "say" || type === "ask"),
  },
  {
    name: "an export of ChatGPT, which is not read",
    is: (item) => hasAll(item, "mapping") && isObject(item["mapping"]),
  },
  {
    name: "an export of claude.ai, which is not read",
    is: (item) => hasAll(item, "uuid", "chat_messages") && Array.isArray(item["chat_messages"]),
  },
]
