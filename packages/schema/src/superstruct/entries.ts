import type { Entry, EntryType } from "@sessions/core"
import {
  array,
  boolean,
  define,
  enums,
  literal,
  nonempty,
  nullable,
  optional,
  string,
  type,
  unknown,
} from "superstruct"
import { byName, type Check, count, finite, mapOf, modelRef, typed, usage } from "./common.ts"
import { content, messageStruct } from "./content.ts"

const base = {
  id: nonempty(string()),
  parentId: nullable(string()),
  seq: count,
  timestamp: string(),
  blobs: optional(mapOf(typed(enums(["utf8", "base64"])))),
}

const targetSeq = optional(count)
const anything = unknown()
const something = define("value", (value) => value !== undefined)

const state = type({
  thinkingLevel: string(),
  models: mapOf(modelRef),
  modelIsExplicit: boolean(),
  mode: string(),
  modeData: anything,
  injectedTtsrRules: array(string()),
  systemPromptOverride: optional(string()),
})

/** What an entry of each known type has beside what all have. */
const fields: Readonly<Record<EntryType, object>> = {
  message: { message: messageStruct },
  custom_message: { customType: string(), content, display: boolean(), details: anything },
  compaction: {
    summary: string(),
    shortSummary: optional(string()),
    firstKeptEntryId: string(),
    firstKeptSeq: optional(count),
    tokensBefore: finite,
    tokensSummarized: optional(finite),
    readFiles: array(string()),
    modifiedFiles: array(string()),
    details: anything,
    preserveData: anything,
    fromExtension: optional(boolean()),
    usage: optional(usage),
    state: optional(state),
  },
  branch_summary: {
    fromId: string(),
    summary: string(),
    details: anything,
    fromExtension: optional(boolean()),
    usage: optional(usage),
  },
  context_edit: { targetId: string(), targetSeq, replacement: nullable(type({ content })) },
  tombstone: { targetId: string(), targetSeq },
  reset_boundary: {},
  model_change: { provider: string(), model: string(), role: optional(string()) },
  thinking_level_change: { thinkingLevel: string() },
  mode_change: { mode: string(), data: anything },
  ttsr_injection: { injectedRules: array(string()) },
  session_init: {
    systemPrompt: string(),
    task: optional(string()),
    tools: array(unknown()),
    outputSchema: anything,
  },
  label: { targetId: string(), targetSeq, label: optional(string()) },
  title_change: { title: nullable(string()), source: enums(["user", "auto"]) },
  metadata: { key: string(), value: something },
  usage: { kind: string(), provider: optional(string()), model: optional(string()), usage },
  file_snapshot: { messageId: string(), files: mapOf(typed(type({ blob: nullable(string()), version: finite }))) },
  leaf: { targetSeq },
  custom: { customType: string(), data: anything },
}

/** An entry: every line of a log but the first. One of a type that is not known is let through. */
export const entryStruct: Check<Entry> = byName(
  "type",
  Object.fromEntries(
    Object.entries(fields).map(([name, own]) => [name, typed(type({ type: literal(name), ...base, ...own }))]),
  ),
  typed(type({ type: string(), ...base })),
  ["session"],
)
