/** Which entries a compaction of Claude Code keeps in the context, by the metadata of its boundary. */
import type { LogBuilder } from "../base/log-builder.ts"
import { type Fields, fieldsOf, idTextOf, stringOf } from "../base/values.ts"

export interface Kept {
  /** The entries of the path before the compaction from the first kept one on, oldest first; empty if nothing is kept. */
  readonly from: readonly { readonly id: string; readonly isKept: boolean }[]
  /** The kept part precedes the summary. Otherwise the summary comes first. */
  readonly isPrefix: boolean
}

/**
 * `preservedMessages.uuids`, else the lines from the tail to the head of `preservedSegment`, else nothing. The anchor says what the kept part
 * follows: the summary, or the boundary itself. `entryOf` gives the entry that a line is in.
 */
export function keptOf(
  boundary: Fields,
  log: Pick<LogBuilder, "pathTo">,
  parentId: string | null,
  entryOf: (uuid: string) => string,
): Kept {
  const { preservedMessages, preservedSegment } = fieldsOf(boundary["compactMetadata"])
  const messages = fieldsOf(preservedMessages)
  const segment = fieldsOf(preservedSegment)
  const isPrefix = (messages["anchorUuid"] ?? segment["anchorUuid"]) === boundary["uuid"]
  const path = [...log.pathTo(parentId)].filter(({ type }) => SHOWN.has(type)).map(({ id }) => id)
  const { uuids } = messages
  const kept = Array.isArray(uuids)
    ? new Set(uuids.map((uuid) => entryOf(idTextOf(uuid))))
    : segmentOf(path, stringOf(segment["headUuid"]), stringOf(segment["tailUuid"]), entryOf)
  const isKept = (id: string): boolean => kept.has(baseOf(id))
  const from = path.slice(0, path.findLastIndex(isKept) + 1).reverse()
  return { from: from.map((id) => ({ id, isKept: isKept(id) })), isPrefix }
}

/** Entries that a context shows. */
const SHOWN: ReadonlySet<string> = new Set(["message", "branch_summary"])

/** The entry of the line that an entry is made of: one line may give several, `uuid`, `uuid:1` and so on. */
function baseOf(id: string): string {
  return id.replace(/:\d+$/, "")
}

/** The ids of the path from the tail back to the head; none if they are not on it. */
function segmentOf(
  path: readonly string[],
  head: string | undefined,
  tail: string | undefined,
  entryOf: (uuid: string) => string,
): ReadonlySet<string> {
  if (head === undefined || tail === undefined) return new Set()
  const start = path.indexOf(entryOf(tail))
  const end = path.indexOf(entryOf(head), Math.max(0, start))
  return start < 0 || end < 0 ? new Set() : new Set(path.slice(start, end + 1).map(baseOf))
}
