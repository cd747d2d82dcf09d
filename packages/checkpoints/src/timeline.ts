/** The files at a moment, from the snapshots of a session. A snapshot has only the records that differ from those before it. Pure. */
import type { FileRecord } from "./record.ts"

export interface Moment {
  readonly files: ReadonlyMap<string, FileRecord>
}

/**
 * The record of every file at the snapshot with this index, oldest first: the latest at or before it; for a file that was not tracked
 * then, the first later one, which has its contents before its first change.
 */
export function filesAt(snapshots: readonly Moment[], index: number): Map<string, FileRecord> {
  const found = new Map<string, FileRecord>()
  for (const { files } of snapshots.slice(0, index + 1)) for (const [path, record] of files) found.set(path, record)
  for (const { files } of snapshots.slice(index + 1)) {
    for (const [path, record] of files) if (!found.has(path)) found.set(path, record)
  }
  return found
}

/** The newest record of each file, and how many records it has. */
export interface Latest {
  readonly record: FileRecord
  readonly version: number
}

export function latestOf(snapshots: readonly Moment[]): Map<string, Latest> {
  const found = new Map<string, Latest>()
  for (const { files } of snapshots) {
    for (const [path, record] of files) found.set(path, { record, version: (found.get(path)?.version ?? 0) + 1 })
  }
  return found
}
