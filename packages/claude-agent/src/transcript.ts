/**
 * One transcript and its session: opens it, appends lines that it does not have yet, and reads it. The session stays open between calls.
 * Calls come one after the other; `store.ts` sees to that.
 */
import { type Entry, hasCode, type NewEntry, type Session, SessionError, type Sessions } from "@sessions/core"
import { isKeyOf, KIND, metadataOf, sessionIdOf } from "./keys.ts"
import { lineOf, type Title, titleOf, toEntry, toTextEntry, uuidOf } from "./lines.ts"
import type { FoldSessionSummary, SessionKey, SessionStoreEntry, SessionSummaryEntry } from "./types.ts"

/** The metadata key of the summary. */
export const SUMMARY = "claudeSummary"

export interface TranscriptOptions {
  readonly sessions: Sessions
  readonly key: SessionKey
  /** Undefined: appends keep no summary. */
  readonly fold: FoldSessionSummary | undefined
}

/** How often one append begins anew because others have created, deleted or changed the session. */
const ATTEMPTS = 5
/** What an open session takes without its lines: the end of the log that opening reads. */
const OPEN_BYTES = 100_000
/** Of a `uuid` in a set. */
const UUID_BYTES = 100
/** Lines that are folded together while a log is read. */
const FOLDED = 500

export class Transcript {
  readonly #o: TranscriptOptions
  #id: string | undefined
  #session: Session | undefined
  /** Set when the whole log was read, for what follows. */
  #known: Known | undefined
  /** Entries of other processes that were read since the log was, and are not in the summary. */
  #foreign: Entry[] = []
  #appendedBytes = 0

  constructor(o: TranscriptOptions) {
    this.#o = o
  }

  /** Of its session. */
  async id(): Promise<string> {
    return (this.#id ??= await sessionIdOf(this.#o.key))
  }

  /** Estimated memory. */
  get bytes(): number {
    if (this.#session === undefined) return 0
    return OPEN_BYTES + this.#appendedBytes + (this.#known?.uuids.size ?? 0) * UUID_BYTES
  }

  async append(lines: readonly SessionStoreEntry[]): Promise<void> {
    let [at, most, attempts] = [0, lines.length, 0]
    while (at < lines.length) {
      const part = lines.slice(at, at + most)
      try {
        await this.#appendOnce(part)
        at += part.length
      } catch (error) {
        if (hasCode(error, "too_large") && part.length > 1) most = Math.ceil(part.length / 2)
        else if (isChanged(error) && ++attempts < ATTEMPTS) await this.close()
        else throw error
      }
    }
  }

  /** Undefined if there is no session. */
  async load(): Promise<SessionStoreEntry[] | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const isHeld = this.#session !== undefined
        const session = await this.#open()
        // A session that was open before does not have the lines of other processes.
        if (isHeld) await session?.refresh()
        const lines: SessionStoreEntry[] = []
        if (session !== undefined) await this.#read(session, (line) => lines.push(line))
        return session === undefined ? undefined : lines
      } catch (error) {
        if (!isChanged(error) || attempt === ATTEMPTS) throw error
        await this.close()
      }
    }
  }

  /** Forgets everything, so that the next call reads the log again. */
  async close(): Promise<void> {
    const session = this.#session
    this.#session = undefined
    this.#known = undefined
    this.#foreign = []
    this.#appendedBytes = 0
    // It rejects for an append whose outcome is not known; the caller of the append was told.
    await session?.close().catch(() => undefined)
  }

  async #open(): Promise<Session | undefined> {
    if (this.#session !== undefined) return this.#session
    try {
      return this.#hold(await this.#o.sessions.open(await this.id()))
    } catch (error) {
      if (hasCode(error, "not_found")) return undefined
      throw error
    }
  }

  #hold(session: Session): Session {
    session.on("foreign", ({ entries }) => {
      this.#foreign.push(...entries)
      for (const entry of entries) if (this.#known !== undefined) learn(entry, this.#known)
    })
    this.#session = session
    return session
  }

  /** Reads the whole log. */
  async #read(session: Session, visit: (line: SessionStoreEntry) => unknown): Promise<Known> {
    const { key, fold } = this.#o
    const known: Known = { uuids: new Set(), titles: {}, summary: undefined, hasSummary: false }
    const metadata: Record<string, unknown> = {}
    let unfolded: SessionStoreEntry[] = []
    this.#foreign = []
    for await (const entry of session.entries()) {
      learn(entry, known)
      if (entry.type === "metadata") metadata[entry.key] = entry.value
      const line = lineOf(entry)
      if (line === undefined) continue
      visit(line)
      if (fold !== undefined && unfolded.push(line) === FOLDED) {
        known.summary = this.#fold(known.summary, unfolded)
        unfolded = []
      }
    }
    if (session.header.kind !== KIND || !isKeyOf(metadata, key)) throw otherKey(session.id)
    if (unfolded.length > 0) known.summary = this.#fold(known.summary, unfolded)
    this.#known = known
    return known
  }

  async #appendOnce(lines: readonly SessionStoreEntry[]): Promise<void> {
    const session = await this.#open()
    if (session === undefined) return this.#create(lines)
    const known = this.#known ?? (await this.#read(session, () => undefined))
    const fresh = withoutKnown(lines, known.uuids)
    if (fresh.length === 0) return
    const batch = this.#batch(fresh, known)
    await written(session, batch.entries, () => this.#batch(fresh, known, toTextEntry).entries)
    this.#remember(fresh, known, batch)
    await this.#correctSummary(session, known, batch.before, fresh)
  }

  async #create(lines: readonly SessionStoreEntry[]): Promise<void> {
    const { sessions, key } = this.#o
    const known: Known = { uuids: new Set(), titles: {}, summary: undefined, hasSummary: false }
    const fresh = withoutKnown(lines, known.uuids)
    const cwd = fresh.find((line) => typeof line["cwd"] === "string")?.["cwd"] as string | undefined
    const fields = { id: await this.id(), kind: KIND, metadata: metadataOf(key), ...(cwd === undefined ? {} : { cwd }) }
    const batch = this.#batch(fresh, known)
    const session = await orAsText(
      batch.entries,
      () => this.#batch(fresh, known, toTextEntry).entries,
      (entries) => sessions.create({ ...fields, entries }),
    )
    if (session.head === undefined) {
      await session.close()
      throw notWritten()
    }
    this.#hold(session)
    this.#known = known
    this.#remember(fresh, known, batch)
  }

  /** The lines as entries, with the title and the summary that they give. */
  #batch(lines: SessionStoreEntry[], known: Known, toLineEntry: typeof toEntry = toEntry): Batch {
    const entries = lines.map(toLineEntry)
    const titles: Known["titles"] = {}
    for (const line of lines) {
      const found: Title | undefined = this.#o.key.subpath === undefined ? titleOf(line) : undefined
      if (found !== undefined) titles[found.source] = found.title
    }
    for (const source of ["auto", "user"] as const) {
      const title = titles[source]
      // The SDK repeats the titles of a session at the end of each turn.
      if (title !== undefined && title !== known.titles[source]) entries.push({ type: "title_change", title, source })
    }
    const summary = this.#fold(known.summary, lines)
    const writesSummary = summary !== undefined || known.hasSummary
    if (writesSummary) entries.push(summaryEntry(summary))
    return { entries, titles, summary, writesSummary, before: known.summary }
  }

  #remember(lines: readonly SessionStoreEntry[], known: Known, { titles, summary, writesSummary }: Batch): void {
    for (const line of lines) {
      const uuid = uuidOf(line)
      if (uuid !== undefined) known.uuids.add(uuid)
      this.#appendedBytes += sizeOf(line)
    }
    Object.assign(known.titles, titles)
    known.summary = summary
    if (writesSummary) known.hasSummary = summary !== undefined
  }

  /** If other processes have appended since the append before this one: their lines come before these. */
  async #correctSummary(
    session: Session,
    known: Known,
    before: SessionSummaryEntry | undefined,
    lines: SessionStoreEntry[],
  ): Promise<void> {
    const others: SessionStoreEntry[] = []
    while (this.#foreign.length > 0) {
      for (const entry of this.#foreign.splice(0)) {
        const line = lineOf(entry.blobs === undefined ? entry : ((await session.entry(entry.id)) ?? entry))
        if (line !== undefined) others.push(line)
      }
      known.summary = this.#fold(others.length === 0 ? before : this.#fold(before, others), lines)
      if (known.summary === undefined && !known.hasSummary) continue
      await acknowledged(session, [summaryEntry(known.summary)])
      known.hasSummary = known.summary !== undefined
    }
  }

  #fold(before: SessionSummaryEntry | undefined, lines: SessionStoreEntry[]): SessionSummaryEntry | undefined {
    const { key, fold } = this.#o
    return key.subpath === undefined ? fold?.(before, key, lines) : undefined
  }
}

/** What is known of a log that was read whole, and of what was appended since. */
interface Known {
  readonly uuids: Set<string>
  readonly titles: { user?: string | null; auto?: string | null }
  summary: SessionSummaryEntry | undefined
  /** Whether the log has a summary, which may be that of another store. */
  hasSummary: boolean
}

interface Batch {
  readonly entries: NewEntry[]
  readonly titles: Known["titles"]
  readonly summary: SessionSummaryEntry | undefined
  readonly writesSummary: boolean
  /** The summary without these entries. */
  readonly before: SessionSummaryEntry | undefined
}

/** An entry of the log that was read. */
function learn(entry: Entry, known: Known): void {
  if (entry.type === "custom") known.uuids.add(entry.id)
  if (entry.type === "title_change") known.titles[entry.source === "auto" ? "auto" : "user"] = entry.title
  if (entry.type === "metadata" && entry.key === SUMMARY) known.hasSummary = entry.value !== null
}

/** Null: a store without `foldSessionSummary` has appended, so the summary of another one would be out of date. */
function summaryEntry(summary: SessionSummaryEntry | undefined): NewEntry {
  return { type: "metadata", key: SUMMARY, value: summary?.data ?? null }
}

/** The lines whose `uuid` is neither known nor that of an earlier one. */
function withoutKnown(lines: readonly SessionStoreEntry[], known: ReadonlySet<string>): SessionStoreEntry[] {
  const seen = new Set<string>()
  return lines.filter((line) => {
    const uuid = uuidOf(line)
    if (uuid === undefined) return true
    if (known.has(uuid) || seen.has(uuid)) return false
    seen.add(uuid)
    return true
  })
}

async function written(session: Session, entries: NewEntry[], asText: () => NewEntry[]): Promise<void> {
  await orAsText(entries, asText, (some) => acknowledged(session, some))
}

/** Writes the entries; a single line that is too long is written as one text. */
async function orAsText<T>(
  entries: NewEntry[],
  asText: () => NewEntry[],
  write: (entries: NewEntry[]) => Promise<T>,
): Promise<T> {
  try {
    return await write(entries)
  } catch (error) {
    const isSingle = entries.filter(({ type }) => type === "custom").length === 1
    if (!isSingle || !hasCode(error, "too_large")) throw error
    return await write(asText())
  }
}

async function acknowledged(session: Session, entries: NewEntry[]): Promise<void> {
  // The log's ids are known already.
  const { durable } = await session.append(entries, { repeats: "end" })
  if (!durable) throw notWritten()
}

/** Another process has created, deleted or replaced the session, or has used the `uuid` of a line for another one. */
function isChanged(error: unknown): boolean {
  return hasCode(error, "not_found") || hasCode(error, "exists") || hasCode(error, "conflict")
}

/** In bytes of memory, roughly. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 8
  let size = 8
  for (const name in value) size += name.length + sizeOf((value as Readonly<Record<string, unknown>>)[name])
  return size
}

function otherKey(id: string): SessionError {
  return new SessionError("invalid", `The session ${id} belongs to another transcript; delete or rename it.`, {
    session: id,
  })
}

function notWritten(): SessionError {
  return new SessionError(
    "invalid",
    'The transcript was not written, because its repository writes a session with its first message only: create it with `persistAfter: "create"`, the default.',
  )
}
