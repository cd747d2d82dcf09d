/** Reads the messages of a session's path in pages, newest page first, for display: compacted messages are included. */
import { blocksOf } from "../context/content.ts"
import type { SelectedEntry } from "../context/select.ts"
import type { NeedsOlder } from "../log/path.ts"
import { SessionError } from "../format/errors.ts"
import { mayRefer } from "../format/blobs.ts"
import type { Message } from "../format/message.ts"
import type { Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { OLDER, parentOf } from "../log/path.ts"
import { unknownEntry } from "./select-path.ts"
import { restoreSelected } from "./restoring.ts"
import type { ReadableSession } from "./live.ts"
import type { HistoryMessage, MessagesOptions, MessagesPage } from "./types.ts"

/**
 * One page, collected backwards from the leaf or from `before`, in the order of the path. Rejects with `invalid` for a wrong limit, and
 * with `not_found` for an unknown `before`.
 */
export async function readMessages(live: ReadableSession, o: MessagesOptions = {}): Promise<MessagesPage> {
  const { limit = 50, before } = o
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
    throw new SessionError("invalid", `limit must be a whole number from 1 to 1000, not ${String(limit)}.`, {
      session: live.id,
    })
  }
  const { state } = live
  const { leafId } = state
  const ask = (): Page | NeedsOlder => {
    const { log } = state
    if (before === undefined && leafId === null) return { entries: [] }
    const start = before === undefined ? log.find(leafId ?? "") : placeOf(log, before)
    if (start !== undefined) return collectMessages(log, before === undefined ? start : parentOf(log, start), limit)
    if (log.complete) throw unknownEntry(live, before ?? leafId)
    return { older: true }
  }
  const page = await live.store.untilKnown(() => state.log, ask, o)
  const refers = page.entries.some(({ entry }) => mayRefer(entry))
  const whole = refers ? await restoreSelected(live, page.entries, o) : page
  const messages = whole.entries.map(({ seq, entry }): HistoryMessage => {
    const message = entry["message"] as Message
    const content = message.content === undefined ? undefined : blocksOf(message.content)
    const sound = content === undefined ? message : { ...message, content }
    return { entryId: entry.id, seq, timestamp: entry.timestamp, message: sound }
  })
  return page.before === undefined ? { messages } : { messages, before: page.before }
}

interface Page {
  readonly entries: readonly SelectedEntry[]
  readonly before?: string
}

/** Collects messages from `start` backwards. Looks for one more than `limit`, to know whether there is an earlier page. */
function collectMessages(log: EntryLog, start: Seq, limit: number): Page | NeedsOlder {
  const entries: SelectedEntry[] = []
  let seq = start
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (entry.type !== "message" || log.deleted.has(seq) || !isMessage(entry["message"])) continue
    const oldest = entries[limit - 1]
    if (oldest !== undefined) return { entries: entries.reverse(), before: cursorOf(log, oldest.seq) }
    entries.push({ seq, entry })
  }
  return seq === OLDER ? { older: true, lines: limit + 1 - entries.length } : { entries: entries.reverse() }
}

function isMessage(value: unknown): boolean {
  return isObject(value) && typeof value["role"] === "string"
}

/** The cursor of an entry: its id. If a damaged log has a later entry with the same id, the seq is added. */
function cursorOf(log: EntryLog, seq: Seq): string {
  const { id } = log.at(seq) as Entry
  return log.find(id) === seq ? id : `${id}@${seq}`
}

function placeOf(log: EntryLog, name: string): Seq | undefined {
  const [, id, digits] = /^(.+)@(\d+)$/s.exec(name) ?? []
  const seq = Number(digits)
  return id !== undefined && log.at(seq)?.id === id ? seq : log.find(name)
}
