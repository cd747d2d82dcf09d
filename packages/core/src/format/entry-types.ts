/**
 * The types of entries, in one table: how their fields are checked, and what they are to a log. Adding a type is its interface in
 * `entry.ts`, a row here, and what `docs/architecture.md` names beside it.
 *
 * The checks run for every append, so they are written by hand. The zod schemas of `@sessions/schema` accept the same records; its tests
 * compare them in every field.
 */
import type { EntryBase, EntryType, KnownEntry } from "./entry.ts"
import { contentShape, messageShape, systemMessageShape, usageShape } from "./message.ts"
import {
  all,
  arrayOf,
  type Check,
  isAnything,
  isBoolean,
  isCount,
  isNumber,
  isPresent,
  isString,
  mapOf,
  nullable,
  numberFrom,
  oneOf,
  optional,
  shape,
} from "./shape.ts"

/**
 * - `content`: it has a message of the conversation.
 * - `change`: it changes what the path before it shows, or the settings, within a turn.
 * - `boundary`: as a change, and no turn goes on behind it.
 * - `annotation`: it describes the session and is no part of the conversation.
 */
export type EntryKind = "content" | "change" | "boundary" | "annotation"

/** Traits of an entry type, beside its fields. */
export interface EntryTraits {
  readonly kind: EntryKind
  /** The field with the seq of another entry, and the field with the id of that. */
  readonly hint?: {
    readonly field: "firstKeptSeq" | "targetSeq"
    readonly id: "firstKeptEntryId" | "targetId" | "parentId"
  }
  /** Its content depends on the entry that it follows: another writer's entries must not come between. */
  readonly placed?: true
  /** A session that is full takes it, as it takes annotations: so that it can be compacted, branched and named. */
  readonly small?: true
  /** It can settle the ends of branches. */
  readonly leaves?: true
  /** Last writer wins: of several about one thing the one with the greatest (time, id) is in force. */
  readonly lastWriterWins?: true
  /** It stores the state of its path, so that a reader needs nothing before it for that. */
  readonly storesState?: true
  /** Fields of the state, which stay in the line however long they are. */
  readonly settings?: readonly string[]
  /** It may be long, and nothing follows from it but its place. */
  readonly bulky?: true
}

interface Row extends EntryTraits {
  readonly check: Check
}

/** The fields of an entry that are its type's own. The compiler requires a check for each; those that may be anything need none. */
type OwnFields<E> = {
  readonly [K in keyof E as string extends K ? never : K extends KeyOfAll ? never : K]: E[K]
}
type KeyOfAll = "type" | keyof { [K in keyof EntryBase as string extends K ? never : K]: 0 }
type Checks<F> = {
  readonly [K in keyof F as unknown extends F[K] ? never : K]-?: Check
} & { readonly [K in keyof F as unknown extends F[K] ? K : never]?: Check }

type Rows = {
  readonly [T in EntryType]: EntryTraits & { readonly fields: Checks<OwnFields<KnownEntry & { readonly type: T }>> }
}

const tokens = all(isNumber, numberFrom(0))

const modelRef: Check = shape({ provider: isString, model: isString })

/** Fields of a state that stay in the line. */
const STATE_SETTINGS: readonly string[] = ["thinkingLevel", "models", "mode", "injectedTtsrRules"]

export const stateShape: Check = shape({
  thinkingLevel: isString,
  models: mapOf(modelRef),
  modelIsExplicit: isBoolean,
  mode: isString,
  injectedTtsrRules: arrayOf(isString),
  systemPromptOverride: optional(isString),
})

export const calibrationShape: Check = shape({
  overhead: optional(tokens),
  measured: optional(shape({ tokens, units: tokens })),
  limits: optional(
    mapOf(
      shape({
        units: optional(tokens),
        count: optional(tokens),
        accepted: optional(tokens),
        bytes: optional(tokens),
        acceptedBytes: optional(tokens),
        images: optional(tokens),
      }),
    ),
  ),
})

const toTarget = { field: "targetSeq", id: "targetId" } as const

// Without spreads: for bundlers they are effects, and a page that checks no entries would have the table.
export const ENTRY_TYPES: ReadonlyMap<string, Row> = byName({
  message: { kind: "content", fields: { message: messageShape } },
  custom_message: {
    kind: "content",
    bulky: true,
    fields: { customType: isString, content: contentShape, display: isBoolean },
  },
  compaction: {
    kind: "boundary",
    placed: true,
    small: true,
    storesState: true,
    hint: { field: "firstKeptSeq", id: "firstKeptEntryId" },
    fields: {
      summary: isString,
      shortSummary: optional(isString),
      firstKeptEntryId: isString,
      firstKeptSeq: optional(isCount),
      tokensBefore: isNumber,
      tokensSummarized: optional(isNumber),
      summaryAs: optional(oneOf("user", "pair")),
      outdated: optional(arrayOf(isString)),
      system: optional(arrayOf(shape({ id: isString, message: systemMessageShape }))),
      question: optional(shape({ id: isString, message: messageShape })),
      readFiles: arrayOf(isString),
      modifiedFiles: arrayOf(isString),
      fromExtension: optional(isBoolean),
      usage: optional(usageShape),
      state: optional(stateShape),
      ruler: optional(calibrationShape),
    },
  },
  branch_summary: {
    kind: "content",
    placed: true,
    small: true,
    leaves: true,
    fields: {
      fromId: isString,
      summary: isString,
      fromExtension: optional(isBoolean),
      usage: optional(usageShape),
      settles: optional(arrayOf(isString)),
    },
  },
  context_edit: {
    kind: "change",
    small: true,
    hint: toTarget,
    fields: {
      targetId: isString,
      targetSeq: optional(isCount),
      replacement: nullable(shape({ content: contentShape })),
    },
  },
  tombstone: { kind: "annotation", hint: toTarget, fields: { targetId: isString, targetSeq: optional(isCount) } },
  reset_boundary: { kind: "boundary", placed: true, storesState: true, fields: { state: optional(stateShape) } },
  model_change: {
    kind: "change",
    settings: ["provider", "model", "role"],
    fields: { provider: isString, model: isString, role: optional(isString) },
  },
  thinking_level_change: { kind: "change", settings: ["thinkingLevel"], fields: { thinkingLevel: isString } },
  mode_change: { kind: "change", settings: ["mode"], fields: { mode: isString } },
  ttsr_injection: { kind: "change", settings: ["injectedRules"], fields: { injectedRules: arrayOf(isString) } },
  session_init: {
    kind: "boundary",
    bulky: true,
    fields: { systemPrompt: isString, task: optional(isString), tools: arrayOf(isAnything) },
  },
  label: {
    kind: "annotation",
    lastWriterWins: true,
    hint: toTarget,
    fields: { targetId: isString, targetSeq: optional(isCount), label: optional(isString) },
  },
  title_change: {
    kind: "annotation",
    lastWriterWins: true,
    fields: { title: nullable(isString), source: oneOf("user", "auto") },
  },
  metadata: { kind: "annotation", lastWriterWins: true, fields: { key: isString, value: isPresent } },
  usage: {
    kind: "annotation",
    fields: { kind: isString, provider: optional(isString), model: optional(isString), usage: usageShape },
  },
  file_snapshot: {
    kind: "annotation",
    bulky: true,
    fields: { messageId: isString, files: mapOf(shape({ blob: nullable(isString), version: isNumber })) },
  },
  leaf: {
    kind: "change",
    placed: true,
    small: true,
    leaves: true,
    hint: { field: "targetSeq", id: "parentId" },
    fields: { targetSeq: optional(isCount), settles: optional(arrayOf(isString)) },
  },
  context_refusal: {
    kind: "annotation",
    fields: {
      kind: oneOf("tokens", "bytes", "images"),
      provider: optional(isString),
      model: optional(isString),
      units: tokens,
      bytes: tokens,
      count: optional(tokens),
      limit: optional(tokens),
    },
  },
  context_step: {
    kind: "annotation",
    fields: {
      step: oneOf("results", "images", "cut", "left_out", "failed", "end"),
      provider: optional(isString),
      model: optional(isString),
      units: optional(tokens),
      upTo: optional(isString),
      except: optional(isString),
      ids: optional(arrayOf(isString)),
      window: optional(tokens),
    },
  },
  tool_policy: { kind: "annotation", fields: { never: arrayOf(isString), safe: arrayOf(isString) } },
  tool_start: {
    kind: "annotation",
    hint: toTarget,
    fields: {
      targetId: isString,
      targetSeq: optional(isCount),
      callId: isString,
      call: isCount,
      toolName: isString,
      attempt: isCount,
      key: isString,
      run: isString,
      fence: optional(isCount),
    },
  },
  fence: { kind: "annotation", fields: { fence: isCount } },
  custom: { kind: "annotation", bulky: true, fields: { customType: isString } },
})

/* @__NO_SIDE_EFFECTS__ */
function byName(rows: Rows): ReadonlyMap<string, Row> {
  return new Map(
    Object.entries(rows).map(([type, { fields, ...traits }]) => [type, { ...traits, check: shape(fields) }]),
  )
}

const NAMESPACED = /^[a-z][a-z0-9-]*:[^\s:]+$/

/** Whether a name has a namespace, as `acme:note`. Programs other than this one define such names. */
export function isNamespaced(name: string): boolean {
  return name.includes(":") && NAMESPACED.test(name)
}

/**
 * Whether entries of this type describe a session and are not part of its conversation; so do all types with a namespace. They never
 * move the active branch: those of another writer are no divergence, and a pending one is rebased onto the current leaf.
 */
export function isAnnotationType(type: string): boolean {
  return ENTRY_TYPES.get(type)?.kind === "annotation" || isNamespaced(type)
}

/** Whether entries of this type have a message of the conversation. */
export function hasMessage(type: string): boolean {
  return ENTRY_TYPES.get(type)?.kind === "content"
}

/** Whether entries of this type store the state of their path, so that a reader needs nothing before them for it. */
export function storesState(type: string): boolean {
  return ENTRY_TYPES.get(type)?.storesState === true
}

/** Whether entries of this type are about another one, which `targetId` names. */
export function namesTarget(type: string): boolean {
  return ENTRY_TYPES.get(type)?.hint?.id === "targetId"
}

/** Whether a field of such an entry is a setting. The state of a path consists of these, and is computed without blobs. */
export function isSetting(type: string, field: string, name: string): boolean {
  if (type === "message") return field === "message" && (name === "provider" || name === "model")
  const traits = ENTRY_TYPES.get(type)
  if (traits?.storesState === true) return field === "state" && STATE_SETTINGS.includes(name)
  return traits?.settings?.includes(field) === true
}
