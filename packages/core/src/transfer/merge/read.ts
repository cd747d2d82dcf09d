/** Reads the two logs of a merge: their headers, their entries without content, and which entries they have with different content. */
import type { Entry } from "../../format/entry.ts"
import { SessionError } from "../../format/errors.ts"
import type { Header } from "../../format/header.ts"
import { isSameCreation } from "../../format/identify.ts"
import { hintOf } from "../../format/hints.ts"
import { isSameJson } from "../../format/json.ts"
import { withSeq } from "../../format/json-edit.ts"
import { parseLine } from "../../format/line.ts"
import { stubOf } from "../../info/refresh.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { readLines } from "../../log/load.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import type { CallOptions, HeadInfo, Seq, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"

/** A stored log of this version. */
export interface StoredLog {
  readonly storage: SessionStorage
  readonly head: HeadInfo
  readonly header: Header
}

/** One of the two logs. */
export interface MergeSide extends StoredLog {
  /** The entries are stubs, without content. Each id is there once. */
  readonly log: EntryLog
}

export interface ReadSides {
  readonly one: MergeSide
  readonly other: MergeSide
  /** Ids of the entries that both logs have, with other content. */
  readonly differing: readonly string[]
}

/** Reads one log, then the other, whose lines are compared with those of the same ids as they come. Neither is held in memory. */
export async function readSides(id: string, one: StoredLog, other: StoredLog, o: CallOptions): Promise<ReadSides> {
  checkSameSession(id, one, other)
  const side = await readSide(id, one, o)
  const twins = new Twins(id, one, o)
  const compared = await readSide(id, other, o, async (line, entry) => {
    const twin = side.log.find(entry.id)
    if (twin !== undefined) await twins.add(line, entry.id, twin)
  })
  await twins.compare()
  return { one: side, other: compared, differing: twins.differing }
}

async function readSide(
  id: string,
  stored: StoredLog,
  o: CallOptions,
  each?: (line: string, entry: Entry) => Promise<void>,
): Promise<MergeSide> {
  const { storage, head } = stored
  const log = new EntryLog()
  for await (const chunk of storage.read(id, { from: 0, to: head.next, log: head.log }, o)) {
    for (const [index, line] of chunk.lines.entries()) {
      const seq = chunk.from + index
      const entry = parseEntry(line, seq)
      if (entry !== undefined) {
        if (log.find(entry.id) !== undefined) throw duplicateIdError(id, storage, entry)
        await each?.(line, entry)
      }
      log.push(entry === undefined ? undefined : stubOf(entry))
    }
  }
  return { ...stored, log }
}

function checkSameSession(id: string, one: StoredLog, other: StoredLog): void {
  const named = ({ header }: StoredLog): unknown => ({ id: header.id, parent: header.parentSession ?? null })
  if (isSameCreation(one.header, other.header) && isSameJson(named(one), named(other))) return
  const { storage } = other
  const message = `${storage.description} has another session under the id ${id}: its header has another id, creation, timestamp or parent session. Nothing was changed.`
  throw new SessionError("exists", message, { session: id, storage: storage.description })
}

/** How much of a log waits to be compared, in UTF-16 units. */
const WAITING_UNITS = 1_000_000
/** Lines in between that are read along, rather than by two reads. */
const SMALL_GAP = 100

interface Twin {
  readonly id: string
  readonly line: string
  /** Seq of the entry with this id in the other log. */
  readonly seq: Seq
}

/** Compares lines of one log with those of the same ids in the other, which are read in the order of that log, mostly in one run. */
class Twins {
  readonly differing: string[] = []
  readonly #id: string
  readonly #log: StoredLog
  readonly #options: CallOptions
  #waiting: Twin[] = []
  #units = 0

  constructor(id: string, log: StoredLog, o: CallOptions) {
    this.#id = id
    this.#log = log
    this.#options = o
  }

  async add(line: string, id: string, seq: Seq): Promise<void> {
    this.#waiting.push({ id, line, seq })
    this.#units += line.length
    if (this.#units > WAITING_UNITS) await this.compare()
  }

  async compare(): Promise<void> {
    const twins = this.#waiting.sort((a, b) => a.seq - b.seq)
    this.#waiting = []
    this.#units = 0
    for (const run of runsOf(twins)) {
      const from = (run[0] as Twin).seq
      const range = { from, to: (run.at(-1) as Twin).seq + 1, log: this.#log.head.log }
      const lines = await readLines(this.#log.storage, this.#id, range, this.#options)
      for (const { id, line, seq } of run) if (!isSameEntry(line, lines[seq - from] ?? "")) this.differing.push(id)
    }
  }
}

function runsOf(twins: readonly Twin[]): Twin[][] {
  const runs: Twin[][] = []
  for (const twin of twins) {
    const run = runs.at(-1)
    const before = run?.at(-1)
    if (run === undefined || before === undefined || twin.seq - before.seq > SMALL_GAP) runs.push([twin])
    else run.push(twin)
  }
  return runs
}

/** Whether two lines have the same content, apart from the fields of their place in a log. */
function isSameEntry(line: string, other: string): boolean {
  if (line === other) return true
  const plain = withSeq(line, 0)
  return (plain !== undefined && plain === withSeq(other, 0)) || isSameJson(contentOf(line), contentOf(other))
}

function contentOf(line: string): unknown {
  const { seq: _, writtenAt: __, ...fields } = parseLine(line).record ?? { type: "" }
  const { [hintOf(fields)?.field ?? "seq"]: ___, ...content } = fields as Readonly<Record<string, unknown>>
  return content
}

function duplicateIdError(id: string, storage: SessionStorage, entry: Entry): StorageError {
  const message = `The log of ${id} in ${storage.description} has the id ${JSON.stringify(entry.id)} twice, so it cannot be merged. Nothing was written.`
  return new StorageError("corrupt", message, { session: id, storage: storage.description })
}
