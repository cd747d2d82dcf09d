/** What lies in the database, and how an older one becomes this. */
import type { Seq } from "@sessions/core/storage"
import type { DBSchema, IDBPDatabase, IDBPTransaction } from "idb"

/** One a session: all that `head` and `list` say, read, compared and put by every append. */
export interface HeadRow {
  readonly id: string
  readonly log: string
  readonly next: Seq
  readonly bytes: number
  readonly updatedAt: number
  readonly info?: { readonly text: string; readonly next: Seq }
}

/** Lines that were appended or folded together. */
export interface LogRow {
  /** Seq of the first line. */
  readonly from: Seq
  /** UTF-8, with one LF a line. */
  readonly bytes: number
  /** The lines, separated by LF; none at the end. */
  readonly text: string
}

/**
 * `[log, from, offset]`: the log's identity and not the session, so that rows of a log that was replaced can never be taken for the
 * new one's. `offset` is where the row starts in the log's bytes: keys alone tell how much a range of rows holds.
 */
export type RowKey = [log: string, from: Seq, offset: number]

export interface Sessions extends DBSchema {
  heads: { key: string; value: HeadRow; indexes: { updatedAt: number } }
  log: { key: RowKey; value: LogRow }
  /** Logs that a `replace` is building, by their identity. */
  staged: { key: string; value: { readonly session: string; readonly at: number } }
  docs: { key: string; value: { readonly text: string } }
  /** Sizes and times apart from the bytes, so that a listing loads none. */
  blobs: { key: string; value: { readonly bytes: number; readonly putAt: number } }
  blobBytes: { key: string; value: Uint8Array }
  /** `synced`: written by `sync`, for a transaction that changes nothing need not reach the disk. */
  meta: { key: string; value: number }
}

export type StoreName = "heads" | "log" | "staged" | "docs" | "blobs" | "blobBytes" | "meta"
export const STORES: readonly StoreName[] = ["heads", "log", "staged", "docs", "blobs", "blobBytes", "meta"]

export type Database = IDBPDatabase<Sessions>
export type Reading = IDBPTransaction<Sessions, StoreName[]>
export type Writing = IDBPTransaction<Sessions, StoreName[], "readwrite">

/** One step of an upgrade: from the version that is its place in the list to the next one. Asynchronous work is on `tx` only. */
export type Upgrade = (
  db: Database,
  tx: IDBPTransaction<Sessions, StoreName[], "versionchange">,
) => void | Promise<void>

/** Steps are added, never changed: somewhere is a database that went through each of them. The version is their number. */
export const UPGRADES: readonly Upgrade[] = [
  (db) => {
    db.createObjectStore("heads", { keyPath: "id" }).createIndex("updatedAt", "updatedAt")
    for (const name of STORES) if (name !== "heads") db.createObjectStore(name)
  },
]

/** All rows of a log, from the one that starts at `from` on, before those that start at `to`. */
export function rowsOf(log: string, from: Seq = 0, to: Seq = Number.POSITIVE_INFINITY): IDBKeyRange {
  return IDBKeyRange.bound([log, from], [log, to], false, true)
}
