/** Kept session information is a cache that anybody may have written: nothing of it is believed before it has its shape. */
import {
  all,
  arrayOf,
  isBoolean,
  isCount,
  isNumber,
  isObject,
  isString,
  mapOf,
  nullable,
  oneOf,
  optional,
  shape,
} from "../format/shape.ts"
import type { Check } from "../format/shape.ts"
import type { InfoProjection } from "./projection.ts"

/** Undefined for a text that is no fold. */
export function parseProjection(text: string): InfoProjection | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  return projection(value) === undefined ? (value as InfoProjection) : undefined
}

const isTrue: Check = (value) => (value === true ? undefined : " must be true.")
/** As it is written here: times are sorted as text. */
const isTime: Check = (value) => {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === value ? undefined : " must be a time."
}
const isMap: Check = (value) => (isObject(value) ? undefined : " must be an object.")

const projection: Check = all(
  shape({
    v: oneOf(1),
    log: isString,
    to: shape({ seq: isCount, id: isString }),
    leaf: nullable(isString),
    compaction: optional(shape({ seq: isCount, id: isString, firstKeptSeq: optional(isNumber) })),
    createdAt: isTime,
    lastMessageAt: optional(isTime),
    messageCount: isCount,
    modelIsExplicit: isBoolean,
  }),
  shape({
    prompts: arrayOf(shape({ id: isString, text: isString })),
    promptsMore: optional(isTrue),
    promptsHidden: optional(isTrue),
    promptsLost: optional(isTrue),
    modelUnknown: optional(isTrue),
    valuesApart: optional(isTrue),
    whole: optional(isTrue),
  }),
  shape({
    userTitle: optional(isString),
    autoTitle: optional(isString),
    headerTitle: optional(isString),
    cwd: optional(isString),
    source: optional(oneOf("interactive", "cron")),
    cronJobId: optional(isString),
    systemPromptOverride: optional(isString),
    parentSession: optional(isMap),
    model: optional(shape({ provider: isString, model: isString })),
    metadata: isMap,
    metrics: all(
      mapOf(isNumber),
      shape({
        input: isNumber,
        output: isNumber,
        cacheRead: isNumber,
        cacheWrite: isNumber,
        totalTokens: isNumber,
        calls: isNumber,
      }),
    ),
    lines: optional(isNumber),
  }),
)
