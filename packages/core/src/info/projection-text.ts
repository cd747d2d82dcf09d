/**
 * The stored text of a projection. Any program may have written a stored one, so all of its fields are checked when it is read. A text of
 * another version is ignored: then the log is read.
 */
import { type Fields, isObject } from "../format/shape.ts"
import type { Tips } from "../log/projected-tips.ts"
import { isDeep, MAX_DEPTH } from "../storage/depth.ts"
import { type InfoProjection, isParent, isText, type WriteTimes } from "./projection.ts"

const VERSION = 6

export function encodeProjection(projection: InfoProjection): string {
  const { metadata, stamps } = projection
  // Plain objects: those without a prototype take twice as long as all the rest, for each append.
  const plain = { ...projection, metadata: { ...metadata }, stamps: { ...stamps, keys: { ...stamps.keys } } }
  return `{"v":${VERSION},${JSON.stringify(plain).slice(1)}`
}

/** Undefined for a text that is not a projection. */
export function parseProjection(text: string): InfoProjection | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value) || value["v"] !== VERSION) return undefined
  const { v: _, ...projection } = value
  return isProjection(projection) && isCovered(projection) ? projection : undefined
}

type Is = (value: unknown) => boolean

// Not the checks of `shape.ts`: the first opening in a process would spend three times as long here, and the problem is not reported.
const REQUIRED: Readonly<Record<string, Is>> = {
  log: isText,
  to: isPlace,
  leaf: (leaf) => leaf === null || isText(leaf),
  createdAt: isTime,
  messageCount: isCount,
  modelIsExplicit: (flag) => typeof flag === "boolean",
  // Another program may have stored deep values. A list with them might be one that cannot be written.
  metadata: (metadata) => isObject(metadata) && !isDeep(metadata, MAX_DEPTH + 1),
  stamps: isWriteTimes,
  metrics: isMetrics,
}
const OPTIONAL: Readonly<Record<string, Is>> = {
  anchor: isText,
  compaction: (place) => isPlace(place) && isMissingOr(Number.isFinite, place["firstKeptSeq"]),
  lastMessageAt: isTime,
  firstPrompt: (prompt) => isObject(prompt) && isText(prompt["id"]) && isText(prompt["text"]),
  promptHidden: isTrue,
  whole: isTrue,
  stale: isTrue,
  userTitle: isText,
  autoTitle: isText,
  headerTitle: isText,
  cwd: isText,
  source: (source) => source === "interactive" || source === "cron",
  kind: isText,
  cronJobId: isText,
  systemPromptOverride: isText,
  parentSession: isParent,
  model: (model) => isObject(model) && isText(model["provider"]) && isText(model["model"]),
  inheritedMetrics: isMetrics,
  lines: Number.isFinite,
  tips: isTips,
  settled: isCount,
  fence: isCount,
}
const SUMS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "calls"]

function isProjection(value: Fields): value is Fields & InfoProjection {
  return (
    Object.entries(REQUIRED).every(([name, is]) => is(value[name])) &&
    Object.entries(OPTIONAL).every(([name, is]) => isMissingOr(is, value[name]))
  )
}

/** Whether its tips are among the projected lines. */
function isCovered({ tips, to }: InfoProjection): boolean {
  return tips === undefined || tips.tips.every(({ seq }) => seq <= to.seq)
}

function isMetrics(value: unknown): boolean {
  return (
    isObject(value) && SUMS.every((name) => Object.hasOwn(value, name)) && Object.values(value).every(Number.isFinite)
  )
}

function isTips(value: unknown): value is Tips {
  if (!isObject(value)) return false
  const { tips, current, more, doubt } = value
  return (
    Array.isArray(tips) &&
    tips.every(isTip) &&
    (current === null || tips.some(({ seq }) => seq === current)) &&
    isMissingOr(isCount, more) &&
    isMissingOr(isCount, doubt)
  )
}

function isTip(value: unknown): boolean {
  return isPlace(value) && Array.isArray(value["near"]) && value["near"].every(isText)
}

function isWriteTimes(value: unknown): value is WriteTimes {
  if (!isObject(value)) return false
  const { keys = {}, latest, user, auto, cwd } = value
  return (
    [latest, user, auto, cwd].every((writeTime) => isMissingOr(isWriteTime, writeTime)) &&
    isObject(keys) &&
    Object.values(keys).every(isWriteTime)
  )
}

function isWriteTime(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && Number.isFinite(value[0]) && isText(value[1])
}

function isPlace(value: unknown): value is Fields {
  return isObject(value) && isCount(value["seq"]) && isText(value["id"])
}

function isMissingOr(is: Is, value: unknown): boolean {
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
