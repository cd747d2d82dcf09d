/**
 * One transcript and its sessions: opens them, appends lines that they do not have yet, and reads them. There is one session until the
 * storage takes no more lines into it; then the transcript goes on in a further one. The last one stays open between calls.
 * Calls come one after the other; `store.ts` sees to that.
 */
import { type Entry, hasCode, type NewEntry, type Session, type SessionError, type Sessions } from "@sessions/core"
import { deletedError, otherKeyError } from "./errors.ts"
import { ENDED, type Known, learn, newKnown, sizeOf, SUMMARY } from "./known.ts"
import { isKeyOf, KIND, metadataOf, newTranscriptId, partIdOf, sessionIdOf } from "./keys.ts"
import { type FreshLine, lineOf, type Title, titleOf, toEntry, toTextEntry, uuidOf } from "./lines.ts"
import { addContent, type Contents, contentOf, freshIn, isRepeated, NO_CONTENTS, readContents } from "./repeats.ts"
import type { FoldSessionSummary, SessionKey, SessionStoreEntry, SessionSummaryEntry } from "./types.ts"

export interface TranscriptOptions {
  readonly sessions: Sessions
  readonly key: SessionKey
  /** Undefined: appends keep no summary. */
  readonly fold: FoldSessionSummary | undefined
}

/** How often one append begins anew because others have created, deleted or changed the session. */
const ATTEMPTS = 5
/** Memory that an open session takes without its lines: the end of the log that opening reads. */
const OPEN_BYTES = 100_000
/** Memory of the id of an entry in a set, and of the content of a line. */
const ID_BYTES = 100
const CONTENT_BYTES = 200
/** Lines that are folded together while a log is read. */
const FOLDED = 500

export class Transcript {
  readonly #o: TranscriptOptions
  #id: string | undefined
  /** The last part. */
  #session: Session | undefined
  #part = 1
  /** Set when the whole log was read, for what follows. */
  #known: Known | undefined
  /** Entries of other processes that were read since the log was, and are not in the summary. */
  #foreign: Entry[] = []
  #appendedBytes = 0
  /** Of a file that comes again, see `freshIn`. */
  #passed: number | undefined

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
    const { ids, contents } = this.#known ?? newKnown()
    const bytes = ids.size * (ID_BYTES + (contents === undefined ? 0 : CONTENT_BYTES))
    return OPEN_BYTES + this.#appendedBytes + bytes
  }

  async append(lines: readonly SessionStoreEntry[]): Promise<void> {
    const passed = this.#passed
    let left = lines
    for (let attempts = 0; left.length > 0; ) {
      try {
        const fresh = await this.#freshIn(left)
        if (fresh.length === 0) return
        await this.#appendFresh(fresh, (written) => {
          left = written
          attempts = 0
        })
      } catch (error) {
        this.#passed = passed
        if (isChanged(error)) await this.close()
        if (!isOvertaken(error) || ++attempts === ATTEMPTS) throw error
      }
    }
  }

  /**
   * Writes the lines in as few batches as the storage takes; `onWritten` gets those that are left after each. Stops when another process has
   * gone on in a further session: it may have written some of them there.
   */
  async #appendFresh(
    lines: readonly FreshLine[],
    onWritten: (left: readonly SessionStoreEntry[]) => void,
  ): Promise<void> {
    for (let [at, most] = [0, lines.length]; at < lines.length && this.#known?.isEnded !== true; ) {
      const part = lines.slice(at, at + most)
      try {
        // A further session takes more again than the end of the last one.
        if (await this.#appendOnce(part)) most = lines.length
        at += part.length
        onWritten(lines.slice(at).map(({ line }) => line))
      } catch (error) {
        if (!hasCode(error, "too_large") || part.length === 1) throw error
        most = Math.ceil(part.length / 2)
      }
    }
  }

  /** Those of a call that the transcript does not have yet. */
  async #freshIn(lines: readonly SessionStoreEntry[]): Promise<readonly FreshLine[]> {
    const known = (await this.#upToDate()) ?? newKnown()
    const isKnown = lines.some((line) => known.ids.has(uuidOf(line) ?? ""))
    const there = isKnown ? await this.#contents(known) : NO_CONTENTS
    const { fresh, passed } = await freshIn(lines, known.ids, there, this.#passed)
    this.#passed = passed
    return fresh
  }

  async #contents(known: Known): Promise<Contents> {
    known.contents ??= await readContents(this.#o.sessions, await this.id(), known.transcript, this.#part)
    return known.contents
  }

  /** Undefined if there is no session. */
  async #upToDate(): Promise<Known | undefined> {
    if (this.#known?.isEnded === true) await this.close()
    return this.#known ?? (await this.#readAll(() => undefined))
  }

  /** Undefined if there is no session. */
  async load(): Promise<SessionStoreEntry[] | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const lines: SessionStoreEntry[] = []
        const known = await this.#readAll((line) => lines.push(line))
        return known === undefined ? undefined : lines
      } catch (error) {
        if (isChanged(error)) await this.close()
        if (!isOvertaken(error) || attempt === ATTEMPTS) throw error
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

  async #openPart(part: number, transcript: string | undefined): Promise<Session | undefined> {
    if (this.#session !== undefined && this.#part === part) {
      // A session that was open before does not have the lines of other processes.
      await this.#session.refresh()
      return this.#session
    }
    try {
      return await this.#o.sessions.open(partIdOf(await this.id(), part, transcript))
    } catch (error) {
      if (hasCode(error, "not_found")) return undefined
      throw error
    }
  }

  #hold(session: Session, part: number): void {
    session.on("foreign", ({ entries }) => {
      this.#foreign.push(...entries)
      const known = this.#known
      if (known === undefined) return
      for (const entry of entries) learn(entry, known)
      if (entries.some(({ type }) => type === "custom")) known.contents = undefined
    })
    this.#session = session
    this.#part = part
  }

  /** Reads the whole transcript, and holds its last part open. Undefined if there is none. */
  async #readAll(visit: (line: SessionStoreEntry) => unknown): Promise<Known | undefined> {
    const known = newKnown()
    this.#foreign = []
    for (let part = 1; ; part++) {
      const session = await this.#openPart(part, known.transcript)
      if (session === undefined) {
        if (part === 1) await this.close()
        if (part === 1) return undefined
        if (this.#session !== undefined && part <= this.#part) throw deletedError(await this.id())
        break
      }
      const isHeld = session === this.#session
      try {
        await this.#readPart(session, part, known, visit)
        if (isHeld || (this.#session !== undefined && part < this.#part)) continue
        await this.#session?.close()
        this.#hold(session, part)
      } finally {
        if (session !== this.#session) await session.close()
      }
    }
    known.isEnded = false
    this.#known = known
    return known
  }

  async #readPart(
    session: Session,
    part: number,
    known: Known,
    visit: (line: SessionStoreEntry) => unknown,
  ): Promise<void> {
    const { key, fold } = this.#o
    const metadata: Record<string, unknown> = {}
    let unfolded: SessionStoreEntry[] = []
    let before: Contents | undefined
    for await (const entry of session.entries()) {
      const line = lineOf(entry)
      const hasId = line !== undefined && known.ids.has(entry.id)
      learn(entry, known)
      if (entry.type === "metadata") metadata[entry.key] = entry.value
      if (line === undefined) continue
      if (hasId) {
        if (part === 1) continue
        before ??= await readContents(this.#o.sessions, await this.id(), known.transcript, part - 1)
        if (await isRepeated(line, before)) continue
      }
      visit(line)
      if (fold !== undefined && unfolded.push(line) === FOLDED) {
        known.summary = this.#fold(known.summary, unfolded)
        unfolded = []
      }
    }
    if (session.header.kind !== KIND || !isKeyOf(metadata, key, part)) throw otherKeyError(session.id)
    if (unfolded.length > 0) known.summary = this.#fold(known.summary, unfolded)
  }

  /** Resolves with true if the lines were written to a further part. */
  async #appendOnce(lines: readonly FreshLine[]): Promise<boolean> {
    const known = this.#known
    const session = this.#session
    if (known === undefined || session === undefined) {
      await this.#create(lines, 1, newKnown())
      return false
    }
    const batch = this.#batch(lines, known)
    try {
      await written(session, batch.entries, () => this.#batch(lines, known, toTextEntry).entries)
    } catch (error) {
      if (!hasCode(error, "too_large") || lines.length > 1) throw error
      await this.#continue(session, lines, known)
      return true
    }
    await this.#remember(lines, known, batch)
    await this.#correctSummary(session, known, batch.before, linesOf(lines))
    return false
  }

  /**
   * Goes on in a further part, with a line that the last one does not take. A crash before the last one is marked as ended loses nothing:
   * readers look for a further part in any case. The mark also shows whether another process has deleted the transcript before the part was
   * there: if not yet, that process finds the part, because it looks for parts once more at its end.
   */
  async #continue(ended: Session, lines: readonly FreshLine[], known: Known): Promise<void> {
    const part = await this.#create(lines, this.#part + 1, known)
    try {
      await ended.append([{ type: "metadata", key: ENDED, value: true }])
    } catch (error) {
      // With any other error the lines are written: a repeat of the call would write those without a uuid twice. A session that is full to
      // the last byte takes no line of another process either.
      if (!isChanged(error)) return
      await this.#o.sessions.delete(part)
      throw error
    } finally {
      await ended.close().catch(() => undefined)
    }
  }

  /** Resolves with the id of the session. */
  async #create(lines: readonly FreshLine[], part: number, known: Known): Promise<string> {
    const { sessions, key } = this.#o
    const cwd = lines.find(({ line }) => typeof line["cwd"] === "string")?.line["cwd"] as string | undefined
    if (part === 1) known.transcript = newTranscriptId()
    const id = partIdOf(await this.id(), part, known.transcript)
    const metadata = metadataOf(key, part, known.transcript)
    const fields = { id, kind: KIND, metadata, ...(cwd === undefined ? {} : { cwd }) }
    // Each part has the titles.
    const untitled = { ...known, titles: {} }
    const batch = this.#batch(lines, untitled, toEntry, known.titles)
    const session = await orAsText(
      batch.entries,
      () => this.#batch(lines, untitled, toTextEntry, known.titles).entries,
      (entries) => sessions.create({ ...fields, entries }),
    )
    this.#foreign = []
    this.#hold(session, part)
    this.#known = known
    await this.#remember(lines, known, batch)
    return id
  }

  /** The lines as entries, with the title and the summary that they give. */
  #batch(
    lines: readonly FreshLine[],
    known: Known,
    toLineEntry: typeof toEntry = toEntry,
    given: Known["titles"] = {},
  ): Batch {
    const entries = lines.map(toLineEntry)
    const titles = { ...given }
    for (const { line } of lines) {
      const found: Title | undefined = this.#o.key.subpath === undefined ? titleOf(line) : undefined
      if (found !== undefined) titles[found.source] = found.title
    }
    for (const source of ["auto", "user"] as const) {
      const title = titles[source]
      // The SDK repeats the titles of a session at the end of each turn.
      if (title !== undefined && title !== null && title !== known.titles[source])
        entries.push({ type: "title_change", title, source })
    }
    const summary = this.#fold(known.summary, linesOf(lines))
    const writesSummary = summary !== undefined || known.hasSummary
    if (writesSummary) entries.push(summaryEntry(summary))
    return { entries, titles, summary, writesSummary, before: known.summary }
  }

  async #remember(lines: readonly FreshLine[], known: Known, { titles, summary, writesSummary }: Batch): Promise<void> {
    for (const { line, id } of lines) {
      if (id !== undefined) known.ids.add(id)
      this.#appendedBytes += sizeOf(line)
    }
    const { contents } = known
    for (const { line } of contents === undefined ? [] : lines) {
      const uuid = uuidOf(line)
      if (uuid === undefined || contents === undefined) continue
      addContent(contents, uuid, await contentOf(line))
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
      await append(session, [summaryEntry(known.summary)])
      known.hasSummary = known.summary !== undefined
    }
  }

  #fold(before: SessionSummaryEntry | undefined, lines: SessionStoreEntry[]): SessionSummaryEntry | undefined {
    const { key, fold } = this.#o
    return key.subpath === undefined ? fold?.(before, key, lines) : undefined
  }
}

function linesOf(lines: readonly FreshLine[]): SessionStoreEntry[] {
  return lines.map(({ line }) => line)
}

interface Batch {
  readonly entries: NewEntry[]
  readonly titles: Known["titles"]
  readonly summary: SessionSummaryEntry | undefined
  readonly writesSummary: boolean
  /** The summary without these entries. */
  readonly before: SessionSummaryEntry | undefined
}

/** Null: a store without `foldSessionSummary` has appended, so the summary of another one would be out of date. */
function summaryEntry(summary: SessionSummaryEntry | undefined): NewEntry {
  return { type: "metadata", key: SUMMARY, value: summary?.data ?? null }
}

async function written(session: Session, entries: NewEntry[], asText: () => NewEntry[]): Promise<void> {
  await orAsText(entries, asText, (some) => append(session, some))
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

async function append(session: Session, entries: NewEntry[]): Promise<void> {
  // The log's ids are known already.
  await session.append(entries, { repeats: "end" })
}

/** Another process has created, deleted or replaced the session, or has used the `uuid` of a line for another one. */
function isChanged(error: unknown): boolean {
  return hasCode(error, "not_found") || hasCode(error, "exists") || hasCode(error, "conflict")
}

/** Whether the call may begin anew. Lines that are gone must not be passed over, nor a lease that was lost. */
function isOvertaken(error: unknown): boolean {
  const { lost, leaseLost } = error as SessionError
  const isLoss = hasCode(error, "conflict") && (lost !== undefined || leaseLost === true)
  return isChanged(error) && !isLoss
}
