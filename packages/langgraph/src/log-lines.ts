/**
 * The lines of one log by their seq, for reading backwards: a line that is not held is read with those before it, in windows that double.
 * All lines are of the log that `head` names; if it was deleted or replaced meanwhile, a read rejects with `conflict`.
 */
import { blobRefs, type LogRecord, restoreBlobs } from "@sessions/core/format"
import { type Head, type Seq, type SessionStorage, StorageError } from "@sessions/core/storage"
import { type Found, recordIn } from "./records.ts"

/** 256 KB, then twice as much each time: most states are in one window with the changes to them (see `LONGEST_CHAIN`). */
const FIRST_WINDOW = 262_144
const LAST_WINDOW = 2_097_152
/** The lines that are kept, in UTF-16 units. */
const HELD = 8_000_000

interface Window {
  readonly from: Seq
  readonly lines: readonly string[]
  readonly size: number
}

export class LogLines {
  readonly session: string
  readonly head: Head
  readonly #storage: SessionStorage
  readonly #windows: Window[] = []
  #held = 0
  #next: number = FIRST_WINDOW

  constructor(storage: SessionStorage, session: string, head: Head) {
    this.#storage = storage
    this.session = session
    this.head = head
  }

  async line(seq: Seq): Promise<string | undefined> {
    const held = this.#find(seq)
    if (held !== undefined) return held
    // Only a read that goes on where the last one ended is part of a longer way back.
    const goesOn = this.#windows.at(-1)?.from === seq + 1
    this.#next = goesOn ? Math.min(this.#next * 2, LAST_WINDOW) : FIRST_WINDOW
    const lines: string[] = []
    let from = seq
    const range = { before: seq + 1, maxBytes: this.#next, log: this.head.log }
    for await (const chunk of this.#storage.read(this.session, range)) {
      if (lines.length === 0) from = chunk.from
      lines.push(...chunk.lines)
    }
    this.#keep({ from, lines, size: lines.reduce((sum, { length }) => sum + length, 0) })
    return this.#find(seq)
  }

  /** The record at this seq, with references in place of its blobs; undefined for a line of another kind. */
  async record(seq: Seq): Promise<Found | undefined> {
    const line = await this.line(seq)
    return line === undefined ? undefined : recordIn(line, seq)
  }

  /** The entry with its blobs. Rejects with `corrupt` if one is missing. */
  async whole(entry: LogRecord): Promise<LogRecord> {
    const refs = blobRefs(entry)
    if (refs.length === 0) return entry
    const bytes = new Map<string, Uint8Array>()
    for (const { hash } of refs) {
      const blob = await this.#storage.blobs.get(hash)
      if (blob !== undefined) bytes.set(hash, blob)
    }
    const restored = restoreBlobs(entry, (hash) => bytes.get(hash))
    if (restored.missing.length === 0) return restored.entry
    const message = `A checkpoint of ${this.session} has the blob ${restored.missing[0]}, which ${this.#storage.description} does not have. Restore it from a backup.`
    throw new StorageError("corrupt", message, { session: this.session, storage: this.#storage.description })
  }

  #find(seq: Seq): string | undefined {
    for (let n = this.#windows.length - 1; n >= 0; n--) {
      const { from, lines } = this.#windows[n] as Window
      if (seq >= from && seq < from + lines.length) return lines[seq - from]
    }
    return undefined
  }

  #keep(window: Window): void {
    this.#windows.push(window)
    this.#held += window.size
    while (this.#held > HELD && this.#windows.length > 1) this.#held -= (this.#windows.shift() as Window).size
  }
}
