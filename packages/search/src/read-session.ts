/**
 * Reads the new lines of one session as changes of an index.
 *
 * A log of this version is read line by line from the end of what the index has. A log of another version exists as entries only in
 * memory, so it is opened and read as a whole, whenever it has changed.
 */
import { createSessions, type Entry, type Session, type Sessions } from "@sessions/core"
import { blobRefs, FORMAT, isEntry, parseLine, restoreBlobs, VERSION } from "@sessions/core/format"
import { piLogs } from "@sessions/core/migrations"
import { type CallOptions, lineMark, type Seq, type SessionStorage } from "@sessions/core/storage"
import { contentOf, extractionOf, type ToMessage } from "./content.ts"
import type { DatedHead, IndexChange, IndexedHead, IndexRow } from "./search-index.ts"
import { wordsOf } from "./words.ts"

export interface SessionReader {
  /**
   * The changes from what the index has to `head`, each for some 256 KB of lines. Rejects with the errors of the storage; `conflict` if the
   * log was replaced meanwhile.
   */
  changes(
    session: string,
    indexed: IndexedHead | undefined,
    head: DatedHead,
    o: CallOptions,
  ): AsyncGenerator<IndexChange, void, undefined>
}

export function createReader(storage: SessionStorage, toMessage?: ToMessage): SessionReader {
  const extraction = extractionOf(toMessage)
  // Never closed: that would close the storage.
  let sessions: Sessions | undefined

  return {
    async *changes(session, indexed, head, o) {
      const from = indexed !== undefined && continues(indexed, head, extraction) ? indexed.next : 0
      if (from > 0) {
        const changes = newLines(storage, session, { indexed, from, head, toMessage }, o)
        const first = await changes.next()
        if (first.done === true) return
        if (first.value !== "restored") {
          yield first.value
          for await (const change of changes) if (change !== "restored") yield change
          return
        }
      }
      if (await isOfThisVersion(storage, session, head, o)) {
        for await (const change of newLines(storage, session, { indexed, from: 0, head, toMessage }, o))
          if (change !== "restored") yield change
        return
      }
      sessions ??= createSessions({ storage, readers: [piLogs] })
      yield await wholeLog(await sessions.open(session, o), { indexed, head, toMessage }, o)
    },
  }
}

function continues(indexed: IndexedHead, head: DatedHead, extraction: number): boolean {
  const isSame = indexed.log === head.log && indexed.extraction >= extraction
  return isSame && !indexed.whole && indexed.next > 0 && indexed.next <= head.next
}

async function isOfThisVersion(
  storage: SessionStorage,
  session: string,
  { log }: DatedHead,
  o: CallOptions,
): Promise<boolean> {
  for await (const { lines } of storage.read(session, { from: 0, to: 1, log }, o)) {
    const { record } = parseLine(lines[0] ?? "")
    return record?.type === "session" && record["format"] === FORMAT && record["version"] === VERSION
  }
  return false
}

interface Range {
  readonly indexed: IndexedHead | undefined
  readonly from: Seq
  readonly head: DatedHead
  readonly toMessage: ToMessage | undefined
}

/** Yields "restored", first and only, if the line before `from` is not the one that the index has read last. */
async function* newLines(
  storage: SessionStorage,
  session: string,
  { indexed, from, head, toMessage }: Range,
  o: CallOptions,
): AsyncGenerator<IndexChange | "restored", void, undefined> {
  const extraction = extractionOf(toMessage)
  let expect = indexed
  let isFirst = true
  const range = { from: Math.max(0, from - 1), to: head.next, log: head.log }
  for await (const chunk of storage.read(session, range, o)) {
    const changing = new ChunkChanges(toMessage)
    let last = ""
    for (const [index, line] of chunk.lines.entries()) {
      const seq = chunk.from + index
      const { record } = parseLine(line)
      const id = isEntry(record) ? record.id : ""
      last = `${id} ${lineMark(line)}`
      if (seq < from) {
        // An older version of this package has stored the id alone.
        if (last === indexed?.last || id === indexed?.last) continue
        yield "restored"
        return
      }
      if (seq === 0) changing.setCwd(record?.["cwd"])
      else if (isEntry(record)) changing.add(record.blobs === undefined ? record : await whole(storage, record, o), seq)
    }
    const next = chunk.from + chunk.lines.length
    if (next <= from && from < head.next) continue
    const reached: IndexedHead = { log: head.log, next, updatedAt: head.updatedAt, last, whole: false, extraction }
    yield { session, expect, head: reached, reset: isFirst && from === 0, ...changing.result() }
    expect = reached
    isFirst = false
  }
}

async function wholeLog(
  session: Session,
  { indexed: expect, head: { updatedAt }, toMessage }: Omit<Range, "from">,
  o: CallOptions,
): Promise<IndexChange> {
  try {
    const changing = new ChunkChanges(toMessage)
    changing.setCwd(session.header.cwd)
    for await (const entry of session.entries({}, o)) changing.add(entry, entry.seq)
    const { log, next } = session.head
    const head: IndexedHead = { log, next, updatedAt, last: "", whole: true, extraction: extractionOf(toMessage) }
    return { session: session.id, expect, head, reset: true, ...changing.result() }
  } finally {
    await session.close()
  }
}

/** Collects the changes of consecutive lines. */
class ChunkChanges {
  #rows: IndexRow[] = []
  readonly #removed = new Set<string>()
  readonly #toMessage: ToMessage | undefined
  #cwd: string | undefined

  constructor(toMessage: ToMessage | undefined) {
    this.#toMessage = toMessage
  }

  setCwd(cwd: unknown): void {
    if (typeof cwd === "string") this.#cwd = cwd
  }

  add(entry: Entry, seq: Seq): void {
    const { type, id: entryId } = entry
    const fields: Readonly<Record<string, unknown>> = entry
    if (type === "metadata" && fields["key"] === "cwd") this.setCwd(fields["value"])
    if (type === "tombstone" || type === "context_edit") this.#remove(fields["targetId"])
    const whole = completedBy(entry)
    if (whole !== undefined) return this.add(whole, seq)
    const content = contentOf(entry, this.#toMessage)
    if (content === undefined) return
    const words = wordsOf(content.text)
    if (words.length === 0) return
    const timestamp = typeof fields["timestamp"] === "string" ? fields["timestamp"] : ""
    this.#rows.push({ seq, entryId, timestamp, time: timeOf(timestamp), words, ...content })
  }

  /** Every earlier entry with this id: in a damaged log there may be several, and none of them may show what was deleted. */
  #remove(id: unknown): void {
    if (typeof id !== "string") return
    this.#removed.add(id)
    this.#rows = this.#rows.filter(({ entryId }) => entryId !== id)
  }

  result(): Pick<IndexChange, "rows" | "removed" | "cwd"> {
    const cwd = this.#cwd === undefined ? {} : { cwd: this.#cwd }
    return { rows: this.#rows, removed: [...this.#removed], ...cwd }
  }
}

/** The whole entry that an edit of an import has, for a message of which more lines have come; undefined for any other entry. */
function completedBy(entry: Entry): Entry | undefined {
  const { type, source } = entry as Readonly<Record<string, unknown>>
  const { entry: whole } = (type === "context_edit" ? (source ?? {}) : {}) as { readonly entry?: unknown }
  return isEntry(whole) && whole.type === "message" ? whole : undefined
}

/** The largest time of a `Date`, in milliseconds since 1970. */
const LATEST_TIME = 8.64e15

function timeOf(timestamp: string): number {
  const time = Date.parse(timestamp)
  return Number.isNaN(time) ? 0 : Math.min(Math.max(time, 0), LATEST_TIME)
}

/** The entry with its long texts in place, without images. A missing text counts as empty: its reference is no text. */
async function whole(storage: SessionStorage, entry: Entry, o: CallOptions): Promise<Entry> {
  const texts = new Map<string, Uint8Array>()
  for (const { hash, encoding } of blobRefs(entry)) {
    if (encoding === "utf8" && !texts.has(hash)) texts.set(hash, (await storage.blobs.get(hash, o)) ?? NOTHING)
  }
  const restored = restoreBlobs(entry, (hash) => texts.get(hash) ?? NOTHING)
  // Left are references to bytes that are no text.
  return restored.missing.length === 0 ? restored.entry : restoreBlobs(restored.entry, () => NOTHING).entry
}

const NOTHING = new Uint8Array()
