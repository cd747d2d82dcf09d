/**
 * Snapshots in the log of a session: entries of the type `file_snapshot`, which imported logs have. They count as older than those that
 * this package stores as documents, and are never written or evicted.
 */
import type { Session } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import type { StoredSnapshot } from "./documents/documents.ts"
import { pathBelow } from "./path.ts"
import { type FileRecord, isRef } from "./record.ts"

/** Oldest first. Reads the whole log. */
export async function importedSnapshots(session: Session, root: string, o: CallOptions): Promise<StoredSnapshot[]> {
  const snapshots: StoredSnapshot[] = []
  for await (const entry of session.entries({}, o)) {
    if (entry.type !== "file_snapshot") continue
    const { id, messageId, timestamp: at, files } = entry
    if (typeof messageId !== "string" || typeof files !== "object" || files === null) continue
    const records = Object.entries(files).map(([path, file]) => recordOf(root, path, file))
    snapshots.push({ id, head: { messageId, at, reason: "turn" }, files: new Map(records) })
  }
  return snapshots
}

/** Such a record has no size. A path that is not below the root keeps its name, to be shown. */
function recordOf(root: string, path: string, file: unknown): [string, FileRecord] {
  const below = pathBelow(root, path)
  const blob = (file as { blob?: unknown } | null)?.blob
  if (below === undefined || !isRef(blob)) return [path, { skipped: "outside" }]
  return [below, { blob, bytes: 0 }]
}
