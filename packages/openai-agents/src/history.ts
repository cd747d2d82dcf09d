/**
 * Reads the history of a log: the items on the path to its last entry, newest first. Every process reads the same one, whatever its
 * session's leaf is.
 *
 * The entries of an append of several have `batch: [index, length]`. Some storages keep only the first lines of a batch when they
 * crash. Such a batch does not count; if it is a rewrite, the history is that before it.
 */
import type { Entry, Session } from "@sessions/core"
import { isItemEntry, isObject } from "./items.ts"

/** An operation of a transaction that was applied. */
export interface Operation {
  readonly id: string
  /** SHA-256 of the transaction. */
  readonly hash: string
}

/** The field `op` of the `leaf` entry of a rewrite. */
export interface Rewrite {
  readonly type: "append" | "pop" | "clear" | "compaction" | "transaction" | "mutations"
  /** The transaction, and those whose own `leaf` entries are no longer on the path. */
  readonly operations?: readonly Operation[]
}

export interface History {
  /** The entries of the newest items, oldest first. */
  readonly entries: readonly Entry[]
  /** Applied operations, each with the number of items that are newer than it. */
  readonly operations: readonly (Operation & { readonly newer: number })[]
}

/** Whether an item is a message of the user. */
export function isQuestion(entry: Entry): boolean {
  return isItemEntry(entry) && isObject(entry["message"]) && entry["message"]["role"] === "user"
}

/** Whether the history has a question, and none before the item with this index. */
export function isFirstQuestionCut({ entries }: History, from: number): boolean {
  const first = entries.findIndex(isQuestion)
  return first >= from
}

/** Pages of the path, at most 1,000 entries. */
const PAGE = 1_000
/** The entries that may be items or rewrites. */
const TYPES = ["message", "leaf"] as const

/** The newest `count` items, and the operations among and after them. */
export async function readHistory(session: Session, count: number): Promise<History> {
  const entries: Entry[] = []
  const operations: (Operation & { newer: number })[] = []
  const limit = count < PAGE ? count + 1 : PAGE
  for await (const run of newestFirst(session, limit)) {
    for (const entry of run) {
      if (!isItemEntry(entry)) for (const op of operationsOf(entry)) operations.push({ ...op, newer: entries.length })
      else if (entries.length < count) entries.push(entry)
      else return { entries: entries.reverse(), operations }
    }
  }
  return { entries: entries.reverse(), operations }
}

/** An item of the history, or one that a tombstone has taken out of it. */
export interface ReadItem {
  readonly entry: Entry
  readonly isDeleted: boolean
}

/**
 * The newest `count` items with what other processes have added, and between them those that were taken out: what followed a reasoning is not sent as if
 * there had been none.
 */
export async function readItems(session: Session, count: number): Promise<readonly ReadItem[]> {
  await session.refresh()
  const { entries } = await readHistory(session, count)
  const found: ReadItem[] = []
  let before: string | undefined
  for (const entry of entries) {
    const deleted: ReadItem[] = []
    let id = before === undefined ? null : entry.parentId
    while (id !== null && id !== before) {
      const parent: Entry | undefined = await session.entry(id)
      // Entries of other types are between items, too.
      if (parent === undefined || !isItemEntry(parent)) break
      deleted.unshift({ entry: parent, isDeleted: true })
      id = parent.parentId
    }
    found.push(...deleted, { entry, isDeleted: false })
    before = entry.id
  }
  return found
}

/**
 * The place of new items. Undefined: behind the session's leaf. Else the entry that they have to follow, since another process has
 * rewritten the history, or the last batch is not complete.
 */
export async function findPlace(session: Session): Promise<{ readonly at: string | null } | undefined> {
  const { entries } = await session.path({ types: TYPES, limit: 1 })
  for await (const [newest] of newestFirst(session, 1))
    if (newest !== undefined) return newest.id === entries[0]?.id ? undefined : { at: newest.id }
  return entries.length === 0 ? undefined : { at: await findStart(session) }
}

/** The entry before the first item: the metadata with which the log was created. Null if the log begins otherwise. */
export async function findStart(session: Session): Promise<string | null> {
  const first = await entryAt(session, 1)
  return first?.type === "metadata" ? first.id : null
}

/**
 * The entries of complete batches on the path to the log's last entry, in runs: a promise for each entry would take longer than the entry.
 * `limit`: the size of a page.
 */
async function* newestFirst(session: Session, limit: number): AsyncGenerator<readonly Entry[]> {
  const complete = new Map<number, boolean>()
  let end: Entry | undefined = await lastEntry(session, session.head.next)
  while (end !== undefined) {
    const last: Entry = end
    end = undefined
    for await (const page of pathTo(session, last, limit)) {
      const run: Entry[] = []
      let cutOff: Entry | undefined
      for (let index = page.length - 1; index >= 0 && cutOff === undefined; index--) {
        const entry = page[index] as Entry
        const batch = batchOf(entry)
        const isWhole = batch === undefined || isKnown(entry, batch, complete)
        if (isWhole ?? (await isComplete(session, entry, batch as Batch, complete))) run.push(entry)
        else if (batch?.index === 0 && entry.type === "leaf") cutOff = entry
      }
      yield run
      if (cutOff === undefined) continue
      end = await lastEntry(session, cutOff.seq)
      break
    }
  }
}

/** Pages of the path, the newest first. */
async function* pathTo(session: Session, last: Entry, limit: number): AsyncGenerator<readonly Entry[]> {
  if ((TYPES as readonly string[]).includes(last.type)) yield [last]
  let before: string | undefined = last.id
  while (before !== undefined) {
    const page: { readonly entries: readonly Entry[]; readonly before?: string } = await session.path({
      before,
      limit,
      types: TYPES,
    })
    yield page.entries
    before = page.before
  }
}

interface Batch {
  readonly index: number
  readonly length: number
}

function batchOf(entry: Entry): Batch | undefined {
  const batch: unknown = entry["batch"]
  if (!Array.isArray(batch)) return undefined
  const [index, length] = batch as readonly unknown[]
  return typeof index === "number" && typeof length === "number" ? { index, length } : undefined
}

/** Whether the last entry of the batch is in the log; undefined if it has to be looked for. `complete`: by the seq of a batch's first entry. */
function isKnown({ seq }: Entry, { index, length }: Batch, complete: Map<number, boolean>): boolean | undefined {
  if (index === length - 1) complete.set(seq - index, true)
  return complete.get(seq - index)
}

async function isComplete(
  session: Session,
  entry: Entry,
  { index, length }: Batch,
  complete: Map<number, boolean>,
): Promise<boolean> {
  const first = entry.seq - index
  const answer = await hasLast(session, entry, first + length - 1, length)
  complete.set(first, answer)
  return answer
}

async function hasLast(session: Session, entry: Entry, seq: number, length: number): Promise<boolean> {
  // A fork may end inside a batch, which was complete when it was forked.
  if (session.header.parentSession !== undefined && entry.timestamp <= session.header.timestamp) return true
  const last = await entryAt(session, seq)
  const batch = last === undefined ? undefined : batchOf(last)
  return batch?.index === length - 1 && batch.length === length
}

function operationsOf(entry: Entry): readonly Operation[] {
  const op: unknown = entry["op"]
  const operations: unknown = isObject(op) ? op["operations"] : undefined
  return Array.isArray(operations) ? (operations as readonly Operation[]) : []
}

async function entryAt(session: Session, seq: number): Promise<Entry | undefined> {
  for await (const entry of session.entries({ from: seq, to: seq + 1 })) return entry
  return undefined
}

/** How many lines are read at once to find the last one that is an entry: damaged lines are rare. */
const STEP = 16

async function lastEntry(session: Session, end: number): Promise<Entry | undefined> {
  for (let to = end; to > 1; to -= STEP) {
    let last: Entry | undefined
    for await (const entry of session.entries({ from: Math.max(1, to - STEP), to })) last = entry
    if (last !== undefined) return last
  }
  return undefined
}
