/** Converts the header of an older log to version 4. */
import { ulidAt } from "../../format/ids.ts"
import { isSessionId } from "../../storage/checks.ts"
import type { LogRecord } from "../../format/line.ts"
import { FORMAT, type Header, type ParentSession, VERSION } from "../../format/header.ts"
import type { OlderFormat, OlderVersion } from "../../format/identify.ts"
import { isoOf, timeOf } from "./log.ts"

/** Format and version of an older log, recorded in the `origin` of its migrated header. */
export interface Source {
  readonly format: OlderFormat
  readonly version: OlderVersion
}

/**
 * The id is the given one, else that of the older header if it is a valid session id, else an id made from the time of the header.
 * Unknown keys are kept. `provider`, `modelId` and `thinkingLevel` stay in the header as the initial context state.
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

/** Older systems name the parent session by a path or other text, which is kept as `ref`. */
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
