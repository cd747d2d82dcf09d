/** The object stores of the database, their rows, and the upgrades that create them. */
import type { Seq } from "@sessions/core/storage"
import type { DBSchema } from "idb"
import type { DatabaseOptions, Upgrade } from "./database/connection.ts"
import type { DatabaseContext as Context, Reading, Writing } from "./database/transaction.ts"

/** The head of one session: everything that `head` and `list` return. Each append reads, compares and replaces it. */
export interface HeadRow {
  readonly id: string
  readonly log: string
  readonly next: Seq
  readonly bytes: number
  readonly updatedAt: number
  readonly mark?: number
  readonly info?: { readonly text: string; readonly next: Seq }
}

/** Consecutive lines of a log: one appended batch, a part of a large batch, or several rows that were merged. */
export interface LogRow {
  /** Seq of the first line. */
  readonly from: Seq
  /** Size of the lines in UTF-8, with one LF per line. */
  readonly bytes: number
  /** The lines, separated by LF, without one at the end. */
  readonly text: string
}

/**
 * `offset` is the position of the row in the bytes of the log, so that the keys alone give the size of a range of rows. The key
 * begins with the log's identity, not with the session: rows of a replaced log cannot be mistaken for rows of the new one.
 */
export type RowKey = [log: string, from: Seq, offset: number]

export interface Schema extends DBSchema {
  heads: { key: string; value: HeadRow; indexes: { updatedAt: number } }
  log: { key: RowKey; value: LogRow }
  /** Logs that a running `replace` writes, by log identity. `at`: when it began, in milliseconds since 1970. */
  staged: { key: string; value: { readonly session: string; readonly at: number } }
  docs: { key: string; value: { readonly text: string } }
  /** Sizes and times are separate from the bytes, so that a listing loads no bytes. */
  blobs: { key: string; value: { readonly bytes: number; readonly putAt: number } }
  blobBytes: { key: string; value: Uint8Array }
  /** `synced`: the time of the last `sync`. A transaction without a change need not reach the disk, so `sync` writes one. */
  meta: { key: string; value: number }
}

export type StoreName = "heads" | "log" | "staged" | "docs" | "blobs" | "blobBytes" | "meta"
export const STORES: readonly StoreName[] = ["heads", "log", "staged", "docs", "blobs", "blobBytes", "meta"]

export type ReadTransaction = Reading<Schema>
export type WriteTransaction = Writing<Schema>
export type DatabaseContext = Context<Schema>

/** The database version is the number of upgrades. Append to this list, never change it: existing databases ran these steps. */
export const UPGRADES: readonly Upgrade<Schema>[] = [
  (db) => {
    db.createObjectStore("heads", { keyPath: "id" }).createIndex("updatedAt", "updatedAt")
    for (const name of STORES) if (name !== "heads") db.createObjectStore(name)
  },
]

/** How the database `name` is opened. */
export function databaseOf(name: string): DatabaseOptions<Schema> {
  const instead = "createMemoryStorage of @sessions/memory"
  return { name, description: `indexeddb:${name}`, instead, stores: STORES, upgrades: UPGRADES }
}

/** The keys of all rows of a log whose first line is at or after `from` and before `to`. */
export function rowRange(log: string, from: Seq = 0, to: Seq = Number.POSITIVE_INFINITY): IDBKeyRange {
  return IDBKeyRange.bound([log, from], [log, to], false, true)
}
