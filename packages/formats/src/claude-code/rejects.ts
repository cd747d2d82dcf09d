/** Tells session files of Claude Code from others by their first lines. */
import { type FileStart } from "../base/start.ts"
import { type Fields, fieldsOf, idTextOf } from "../base/values.ts"
import { RECORD_TYPES } from "./record-types.ts"

/** The end of a sentence that begins with "it"; undefined for a file of Claude Code. */
export function rejects({ records, document }: FileStart): string | undefined {
  if (records.length === 0) return document === undefined ? "has no line of JSON" : "is one JSON document, not lines"
  const [first] = records
  if (first?.["type"] === "session") return "begins with a header of type session"
  for (const { format, is } of OTHERS) if (records.some(is)) return `has lines of ${format}`
  if (records.some(isMessage)) return undefined
  if (records.some(({ type, sessionId }) => typeof sessionId === "string" && OWN_TYPES.has(idTextOf(type))))
    return undefined
  if (records.some(isWithoutSession)) return undefined
  return "has no line of type user or assistant with a message and a uuid or sessionId"
}

/** `isSidechain` precedes a message whose text is longer than what is looked at; the ids follow it. */
function isMessage({ type, message, uuid, sessionId, isSidechain }: Fields): boolean {
  if ((type !== "user" && type !== "assistant") || typeof message !== "object" || message === null) return false
  if (!Object.hasOwn(message, "content")) return false
  return typeof uuid === "string" || typeof sessionId === "string" || typeof isSidechain === "boolean"
}

/** Lines that other programs write, some of which have fields or types of the same names. */
const OTHERS: readonly { readonly format: string; readonly is: (record: Fields) => boolean }[] = [
  { format: "Codex", is: ({ type, payload }) => type === "session_meta" && payload !== undefined },
  { format: "Gemini CLI", is: ({ sessionId, projectHash }) => sessionId !== undefined && projectHash !== undefined },
  { format: "Copilot CLI", is: ({ type }) => type === "session.start" },
  {
    format: "Qwen Code",
    is: ({ message, systemPayload }) => Array.isArray(fieldsOf(message)["parts"]) || systemPayload !== undefined,
  },
  { format: "a recordType log", is: ({ recordType }) => recordType !== undefined },
  { format: "Cersei", is: ({ session_id: id }) => id !== undefined },
  {
    format: "noumen",
    is: ({ type }) => type === "message" || type === "compact-boundary" || type === "file-checkpoint",
  },
]

/** The types of lines without a message, which may be all that a file has. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  "attachment",
  "system",
  ...Object.keys(RECORD_TYPES).filter((name) => !/[/]|^(?:user|assistant|summary|progress)$/.test(name)),
])

/** The title of another file, and the files before a prompt: such lines do not name their session. */
function isWithoutSession({ type, leafUuid, messageId }: Fields): boolean {
  const named = type === "summary" ? leafUuid : type === "file-history-snapshot" ? messageId : undefined
  return typeof named === "string"
}
