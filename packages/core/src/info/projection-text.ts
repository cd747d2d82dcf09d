/**
 * The stored text of a projection. Any program may have written a stored one, so all of its fields are checked when it is read.
 *
 * A complete projection is written as `v: 1`, which older programs read too. They do not know `stale` and would show the fields that are
 * in doubt, so a stale projection is written as `v: 2`, which they ignore: they read the log. Their own texts have other fields in place
 * of `stale`, so that a list of sessions that they wrote need not read a log either.
 *
 * Older programs that continue a projection keep fields that they do not know as they are. The text therefore says up to which line the
 * tips and the stamps are projected; if that is not the last line of the projection, these are dropped, and only they.
 */
import { type Fields, isObject } from "../format/shape.ts"
import type { Tips } from "../log/tips.ts"
import type { Seq } from "../storage/contract.ts"
import { type InfoProjection, isParent, isText, type Stamps, withTips } from "./projection.ts"

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
  /** The last line that `stamps` are projected up to. */
  readonly stampsTo?: Seq
}

export function encodeProjection(projection: InfoProjection): string {
  const { stale, tips, stamps, to } = projection
  const tipsTo = tips === undefined ? "" : `"tipsTo":${to.seq},`
  const stampsTo = stamps === undefined ? "" : `"stampsTo":${to.seq},`
  return `{"v":${stale === undefined ? 1 : 2},${tipsTo}${stampsTo}${JSON.stringify(projection).slice(1)}`
}

/** Undefined for a text that is not a projection. */
export function parseProjection(text: string): InfoProjection | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isStored(value)) return undefined
  const { v: _, tipsTo, stampsTo, stamps, modelUnknown, promptsLost, valuesApart, ...rest } = value
  const stored = stampsTo === rest.to.seq && isStamps(stamps) ? { ...rest, stamps } : rest
  const projection = hasTips(stored, tipsTo) ? stored : withTips(stored, undefined, 0)
  const isOfParentToo = rest.parentSession !== undefined && rest.inheritedMetrics === undefined
  if (promptsLost === true || valuesApart === true || isOfParentToo) return { ...projection, stale: "log" }
  return modelUnknown === true ? { ...projection, stale: "path" } : projection
}

function hasTips({ tips, settled, to }: InfoProjection, tipsTo: unknown): boolean {
  if (tipsTo !== to.seq || !isTips(tips) || !(settled === undefined || isCount(settled))) return false
  const { tips: kept, current } = tips
  return kept.every(({ seq }) => seq <= to.seq) && (current === null || kept.some(({ seq }) => seq === current))
}

const TEXTS = ["userTitle", "autoTitle", "headerTitle", "cwd", "kind", "cronJobId", "systemPromptOverride"]
const FLAGS = ["promptsMore", "promptsHidden", "promptsLost", "modelUnknown", "valuesApart", "whole"]
const SUMS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "calls"]

/** Not with the checks of `shape.ts`: the first opening in a process would spend three times as long here, and the problem is not reported. */
function isStored(value: unknown): value is Stored {
  if (!isObject(value)) return false
  const {
    v,
    to,
    leaf,
    compaction,
    lastMessageAt,
    prompts,
    stale,
    source,
    parentSession,
    model,
    metrics,
    inheritedMetrics,
    lines,
  } = value
  return (
    (v === 1 || v === 2) &&
    isText(value["log"]) &&
    isPlace(to) &&
    (leaf === null || isText(leaf)) &&
    (compaction === undefined || (isPlace(compaction) && isMissingOr(Number.isFinite, compaction["firstKeptSeq"]))) &&
    isTime(value["createdAt"]) &&
    isMissingOr(isTime, lastMessageAt) &&
    isCount(value["messageCount"]) &&
    typeof value["modelIsExplicit"] === "boolean" &&
    Array.isArray(prompts) &&
    prompts.every((prompt) => isText(prompt?.id) && isText(prompt.text)) &&
    FLAGS.every((name) => isMissingOr(isTrue, value[name])) &&
    (stale === undefined || stale === "path" || stale === "log") &&
    TEXTS.every((name) => isMissingOr(isText, value[name])) &&
    (source === undefined || source === "interactive" || source === "cron") &&
    isMissingOr(isParent, parentSession) &&
    (model === undefined || (isObject(model) && isText(model["provider"]) && isText(model["model"]))) &&
    isObject(value["metadata"]) &&
    isMetrics(metrics) &&
    isMissingOr(isMetrics, inheritedMetrics) &&
    isMissingOr(Number.isFinite, lines)
  )
}

function isMetrics(value: unknown): boolean {
  return (
    isObject(value) && SUMS.every((name) => Object.hasOwn(value, name)) && Object.values(value).every(Number.isFinite)
  )
}

function isTips(value: unknown): value is Tips {
  if (!isObject(value)) return false
  const { tips, current, more, damaged } = value
  const isKnown = current === null || isCount(current)
  return (
    Array.isArray(tips) && tips.every(isTip) && isKnown && isMissingOr(isCount, more) && isMissingOr(isCount, damaged)
  )
}

function isTip(value: unknown): boolean {
  if (!isPlace(value)) return false
  const { near, lossy, repeated } = value
  return Array.isArray(near) && near.every(isText) && isMissingOr(isTrue, lossy) && isMissingOr(isTrue, repeated)
}

function isStamps(value: unknown): value is Stamps {
  if (!isObject(value)) return false
  const { keys = {}, latest, user, auto, cwd } = value
  return (
    [latest, user, auto, cwd].every((stamp) => isMissingOr(isStamp, stamp)) &&
    isObject(keys) &&
    Object.values(keys).every(isStamp)
  )
}

function isStamp(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && Number.isFinite(value[0]) && isText(value[1])
}

function isPlace(value: unknown): value is Fields {
  return isObject(value) && isCount(value["seq"]) && isText(value["id"])
}

function isMissingOr(is: (value: unknown) => boolean, value: unknown): boolean {
  return value === undefined || is(value)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isTrue(value: unknown): boolean {
  return value === true
}

/** In the one form that is written: times are sorted as text. */
function isTime(value: unknown): boolean {
  const at = typeof value === "string" ? Date.parse(value) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString() === value
}
