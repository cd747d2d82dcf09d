/**
 * Checks of headers, entries, messages and blocks. Each `…Problem` function returns the first problem as a sentence that starts with the
 * field's path, or undefined. Unknown fields, entry types, roles and block types pass.
 *
 * `isEntry` runs for every line that is read, `payloadProblem` for every append, so they are written by hand. The zod schemas of
 * `@sessions/schema` accept the same records; its tests compare them in every field.
 */
import { MAX_ATTACHMENTS } from "./limits.ts"
import type { KnownBlock, ModelMessage } from "./message.ts"
import type { Entry, EntryType, Header } from "./entry.ts"
import { FORMAT, VERSION } from "./entry.ts"
import {
  all,
  arrayOf,
  type Check,
  isBoolean,
  isCount,
  isNonEmpty,
  isNumber,
  isObject,
  isPresent,
  isString,
  mapOf,
  nullable,
  oneOf,
  optional,
  sentence,
  shape,
} from "./shape.ts"
import { isSessionId } from "../storage/checks.ts"

/** Whether a record has what reading a log requires: a type that is not the header's, an id, and a parent or null. */
export function isEntry(record: unknown): record is Entry {
  if (!isObject(record)) return false
  const { type, id, parentId } = record
  return (
    typeof type === "string" &&
    type !== "session" &&
    typeof id === "string" &&
    id !== "" &&
    (parentId === null || typeof parentId === "string")
  )
}

/** Whether a record is a valid header of this version. */
export function isHeader(record: unknown): record is Header {
  return header(record) === undefined
}

export function headerProblem(record: unknown): string | undefined {
  return sentence("The header", header(record))
}

/** Checks the fields that all entries share and those of its type. */
export function entryProblem(record: unknown): string | undefined {
  return sentence("The entry", base(record) ?? payload(record))
}

/** Checks the type of a new entry and the fields of that type. `append` sets the fields that all entries share. */
export function payloadProblem(record: unknown): string | undefined {
  return sentence("The entry", typed(record) ?? payload(record))
}

export function messageProblem(value: unknown): string | undefined {
  return sentence("The message", message(value))
}

export function blockProblem(value: unknown): string | undefined {
  return sentence("The block", block(value))
}

// ---- content -------------------------------------------------------------------------------------------------------------------

const BLOCKS: ReadonlyMap<string, Check> = checksByName<KnownBlock["type"]>({
  text: shape({ text: isString }),
  thinking: shape({ thinking: isString, signature: optional(isString) }),
  image: shape({ data: isString, mimeType: isString }),
  file: shape({ path: isString, mimeType: isString, filename: optional(isString), size: optional(isNumber) }),
  toolCall: shape({ id: isString, name: isString, arguments: shape({}) }),
})

const typedBlock: Check = shape({ type: isString })
const block: Check = (value) => typedBlock(value) ?? BLOCKS.get((value as { type: string }).type)?.(value)
const content: Check = arrayOf(block, "an array of blocks")

const usage: Check = shape({
  input: optional(isNumber),
  output: optional(isNumber),
  cacheRead: optional(isNumber),
  cacheWrite: optional(isNumber),
  totalTokens: optional(isNumber),
  cost: optional((value) => (isObject(value) ? cost(value) : isNumber(value))),
})
const cost: Check = shape({ total: optional(isNumber) })

const attachments: Check = all(
  arrayOf(shape({ path: isString, mimeType: isString, filename: optional(isString), size: optional(isNumber) })),
  (value) =>
    (value as readonly unknown[]).length > MAX_ATTACHMENTS
      ? ` must hold at most ${MAX_ATTACHMENTS}, not ${(value as readonly unknown[]).length}.`
      : undefined,
)

const ROLES: ReadonlyMap<string, Check> = checksByName<ModelMessage["role"]>({
  user: shape({ content }),
  system: shape({ content }),
  assistant: shape({
    content,
    provider: optional(isString),
    model: optional(isString),
    usage: optional(usage),
    stopReason: optional(isString),
  }),
  toolResult: shape({ content, toolCallId: isString, toolName: optional(isString), isError: isBoolean }),
})
const anyRole: Check = shape({
  role: isString,
  synthetic: optional(isBoolean),
  summary: optional(isBoolean),
  attachments: optional(attachments),
})
const customRole: Check = shape({ content: optional(content) })
const message: Check = (value) => anyRole(value) ?? (ROLES.get((value as { role: string }).role) ?? customRole)(value)

// ---- entries -------------------------------------------------------------------------------------------------------------------

const modelRef: Check = shape({ provider: isString, model: isString })

const state: Check = shape({
  thinkingLevel: isString,
  models: mapOf(modelRef),
  modelIsExplicit: isBoolean,
  mode: isString,
  injectedTtsrRules: arrayOf(isString),
  systemPromptOverride: optional(isString),
})

const PAYLOADS: ReadonlyMap<string, Check> = checksByName<EntryType>({
  message: shape({ message }),
  custom_message: shape({ customType: isString, content, display: isBoolean }),
  compaction: shape({
    summary: isString,
    shortSummary: optional(isString),
    firstKeptEntryId: isString,
    firstKeptSeq: optional(isCount),
    tokensBefore: isNumber,
    tokensSummarized: optional(isNumber),
    summaryAs: optional(oneOf("user", "pair")),
    readFiles: arrayOf(isString),
    modifiedFiles: arrayOf(isString),
    fromExtension: optional(isBoolean),
    usage: optional(usage),
    state: optional(state),
  }),
  branch_summary: shape({
    fromId: isString,
    summary: isString,
    fromExtension: optional(isBoolean),
    usage: optional(usage),
  }),
  context_edit: shape({ targetId: isString, targetSeq: optional(isCount), replacement: nullable(shape({ content })) }),
  tombstone: shape({ targetId: isString, targetSeq: optional(isCount) }),
  reset_boundary: shape({ state: optional(state) }),
  model_change: shape({ provider: isString, model: isString, role: optional(isString) }),
  thinking_level_change: shape({ thinkingLevel: isString }),
  mode_change: shape({ mode: isString }),
  ttsr_injection: shape({ injectedRules: arrayOf(isString) }),
  session_init: shape({ systemPrompt: isString, task: optional(isString), tools: arrayOf(() => undefined) }),
  label: shape({ targetId: isString, targetSeq: optional(isCount), label: optional(isString) }),
  title_change: shape({ title: nullable(isString), source: oneOf("user", "auto") }),
  metadata: shape({ key: isString, value: isPresent }),
  usage: shape({ kind: isString, provider: optional(isString), model: optional(isString), usage }),
  file_snapshot: shape({ messageId: isString, files: mapOf(shape({ blob: nullable(isString), version: isNumber })) }),
  leaf: shape({ targetSeq: optional(isCount) }),
  custom: shape({ customType: isString }),
})

const entryType: Check = (value) =>
  value === "session" ? ' must not be "session", which is the header\'s.' : isString(value)
const typed: Check = shape({ type: entryType })
const base: Check = shape({
  type: entryType,
  id: isNonEmpty,
  parentId: nullable(isString),
  seq: isCount,
  timestamp: isString,
  blobs: optional(mapOf(oneOf("utf8", "base64"))),
})
const payload: Check = (value) => PAYLOADS.get((value as { type: string }).type)?.(value)

// ---- header --------------------------------------------------------------------------------------------------------------------

const ourParent: Check = shape({ id: isString, entryId: optional(isString) })
const foreignParent: Check = shape({ ref: isString })

const header: Check = shape({
  type: oneOf("session"),
  format: oneOf(FORMAT),
  version: oneOf(VERSION),
  id: (value) => (isSessionId(value) ? undefined : " must be a session id."),
  timestamp: isString,
  cwd: optional(isString),
  title: optional(isString),
  source: optional(oneOf("interactive", "cron")),
  cronJobId: optional(isString),
  parentSession: optional((value) =>
    ourParent(value) === undefined || foreignParent(value) === undefined
      ? undefined
      : " must be {id, entryId?} or {ref}.",
  ),
  systemPromptOverride: optional(isString),
  origin: optional(
    shape({
      format: isString,
      version: isNumber,
      id: optional(isString),
      lines: optional(isCount),
      backup: optional(shape({ blobs: arrayOf(isString), bytes: isCount })),
    }),
  ),
})

function checksByName<Name extends string>(checks: Readonly<Record<Name, Check>>): ReadonlyMap<string, Check> {
  return new Map(Object.entries<Check>(checks))
}
