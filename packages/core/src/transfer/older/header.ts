import { ulidAt } from "../../format/ids.ts"
import { isSessionId } from "../../storage/checks.ts"
import type { LogRecord } from "../../format/line.ts"
import { FORMAT, type Header, type ParentSession, VERSION } from "../../format/records.ts"
import type { OlderFormat, OlderVersion } from "../../format/identify.ts"
import { timeOf } from "./log.ts"

/** What an older log was, which its migrated header says as its `origin`. */
export interface Source {
  readonly format: OlderFormat
  readonly version: OlderVersion
}

/**
 * Our header for an older one's. The id is the one given, else the older one where it can name a session, else made from the
 * header's time. Keys that we have no place for stay: `provider`, `modelId` and `thinkingLevel` are what the context's state
 * starts from.
 */
export function headerToV4(older: LogRecord, source: Source, id?: string): Header {
  const { type: _, format: __, version: ___, id: olderId, timestamp, parentSession, branchedFrom, ...rest } = older
  const time = timeOf(timestamp)
  const parent = parentOf(parentSession, branchedFrom)
  return {
    type: "session",
    format: FORMAT,
    version: VERSION,
    id: id ?? (isSessionId(olderId) ? olderId : ulidAt(time ?? 0, 0)),
    timestamp: typeof timestamp === "string" ? timestamp : isoOf(time ?? 0),
    ...rest,
    ...parent,
    origin: { ...source, ...(typeof olderId === "string" ? { id: olderId } : {}) },
  }
}

/** ISO 8601, also for a time that no calendar reaches. */
export function isoOf(time: number): string {
  const date = new Date(time)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}

/** Older systems name the parent by a path or a text of their own, which only they can follow. */
function parentOf(
  parentSession: unknown,
  branchedFrom: unknown,
): { parentSession?: ParentSession; branchedFrom?: unknown } {
  const unused = branchedFrom === undefined ? {} : { branchedFrom }
  if (typeof parentSession === "string") return { parentSession: { ref: parentSession }, ...unused }
  if (parentSession !== undefined && parentSession !== null) {
    return { parentSession: parentSession as ParentSession, ...unused }
  }
  return typeof branchedFrom === "string" ? { parentSession: { ref: branchedFrom } } : unused
}
