/**
 * The stored text of a projection. Any program may have written a stored one, so all of its fields are checked when it is read.
 *
 * A complete projection is written as `v: 1`, which older programs read too. They do not know `stale` and would show the fields that are
 * in doubt, so a stale projection is written as `v: 2`, which they ignore: they read the log. Their own texts have other fields in place
 * of `stale`, so that a list of sessions that they wrote need not read a log either.
 *
 * Older programs that continue a projection keep fields that they do not know as they are. The text therefore says up to which line the
 * tips are projected; if that is not the last line of the projection, the tips are dropped, and only they.
 */
import {
  all,
  arrayOf,
  type Check,
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
import type { Tips } from "../log/tips.ts"
import type { Seq } from "../storage/contract.ts"
import { type InfoProjection, isParent, withTips } from "./projection.ts"

/** Fields of older programs. */
interface OlderDoubts {
  /** The path of the leaf was not known. */
  readonly modelUnknown?: true
  readonly promptsLost?: true
  /** A title or a metadata value was in the blob store. */
  readonly valuesApart?: true
}

interface Stored extends InfoProjection, OlderDoubts {
  readonly v: number
  /** The last line that `tips` are projected up to. */
  readonly tipsTo?: Seq
}

export function encodeProjection(projection: InfoProjection): string {
  const { stale, tips, to } = projection
  const tipsTo = tips === undefined ? "" : `"tipsTo":${to.seq},`
  return `{"v":${stale === undefined ? 1 : 2},${tipsTo}${JSON.stringify(projection).slice(1)}`
}

/** Undefined for a text that is not a projection. */
export function parseProjection(text: string): InfoProjection | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (check(value) !== undefined) return undefined
  const { v: _, tipsTo, modelUnknown, promptsLost, valuesApart, ...stored } = value as Stored
  const projection = hasTips(stored, tipsTo) ? stored : withTips(stored, undefined, 0)
  if (promptsLost === true || valuesApart === true) return { ...projection, stale: "log" }
  return modelUnknown === true ? { ...projection, stale: "path" } : projection
}

function hasTips({ tips, settled, to }: InfoProjection, tipsTo: unknown): boolean {
  if (tipsTo !== to.seq || checkTips({ tips, settled }) !== undefined) return false
  const { tips: kept, current } = tips as Tips
  return kept.every(({ seq }) => seq <= to.seq) && (current === null || kept.some(({ seq }) => seq === current))
}

const isTrue: Check = (value) => (value === true ? undefined : " must be true.")
/** In the one form that is written: times are sorted as text. */
const isTime: Check = (value) => {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === value ? undefined : " must be a time."
}
const isMap: Check = (value) => (isObject(value) ? undefined : " must be an object.")

const checkTips: Check = shape({
  tips: shape({
    tips: arrayOf(
      shape({
        seq: isCount,
        id: isString,
        near: arrayOf(isString),
        lossy: optional(isTrue),
        repeated: optional(isTrue),
      }),
    ),
    current: nullable(isCount),
    more: optional(isCount),
    damaged: optional(isCount),
  }),
  settled: optional(isCount),
})

const check: Check = all(
  shape({
    v: oneOf(1, 2),
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
    stale: optional(oneOf("path", "log")),
  }),
  shape({
    userTitle: optional(isString),
    autoTitle: optional(isString),
    headerTitle: optional(isString),
    cwd: optional(isString),
    source: optional(oneOf("interactive", "cron")),
    kind: optional(isString),
    cronJobId: optional(isString),
    systemPromptOverride: optional(isString),
    parentSession: optional((value) => (isParent(value) ? undefined : " must be {id} or {ref}.")),
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
