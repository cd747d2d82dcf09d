/** Imports a file of another agent under an id that follows from the id of its session, so that a second import finds the first. */
import {
  type Entry,
  hasCode,
  type Header,
  type Importer,
  type ImportOptions,
  type ImportResult,
  SessionError,
  type Sessions,
} from "@sessions/core"
import { readSource } from "./base/codec.ts"
import { eachRecord, type Format } from "./base/format.ts"
import { sessionIdOf } from "./base/ids.ts"
import { START_UNITS, startOf } from "./base/start.ts"
import { identify, notASession } from "./identify.ts"

type Chunk = Uint8Array | string

export interface ImportFileOptions extends Omit<ImportOptions, "from"> {
  /** The format of the file, or the formats to look for. */
  readonly from: Format | readonly Format[]
  /** As that of an `Importer`: keeps the lines of a large session instead of reading the file twice. */
  readonly hold?: Importer["hold"]
}

export interface ImportedFile extends ImportResult {
  /** False: the session had been imported before, and nothing was written. */
  readonly added: boolean
}

/**
 * Reads a file with the importer of its format. `source` is called for each reading. The id, unless given, is `<format>.<hash of the
 * source's id>`. If the session was imported before, nothing is written; if the file has only grown since, `exists` says so. Errors as
 * those of `import`; `not_a_session` lists the formats that were tried.
 */
export async function importFile(
  sessions: Pick<Sessions, "import" | "info" | "open">,
  source: () => AsyncIterable<Chunk>,
  { from, hold, ...o }: ImportFileOptions,
): Promise<ImportedFile> {
  const formats: readonly Format[] = Array.isArray(from) ? (from as readonly Format[]) : [from as Format]
  const start = await startOfText(source)
  const found = identify(start, formats)
  if (found.format === undefined && !mayBeGiven(formats, start)) throw notASession(found.rejected)
  const format: Format = found.format ?? { ...(formats[0] as Format), identify: () => true }
  const origin = await originOf(format, source, o)
  const id = o.id ?? (origin.id === undefined ? undefined : await sessionIdOf(format.format, origin.id))
  try {
    const result = await sessions.import(source, {
      ...o,
      from: hold === undefined ? format : { ...format, hold },
      ...(id === undefined ? {} : { id }),
    })
    return { ...result, added: true }
  } catch (error) {
    if (!hasCode(error, "exists") || id === undefined) throw error
    return await importedBefore(sessions, id, format, origin, error)
  }
}

/**
 * Whether the only format that was asked for reads the file although its beginning does not show it: a document that begins with a long
 * text has its first message behind what is looked at. The reader refuses a document of another shape.
 */
function mayBeGiven(formats: readonly Format[], start: string): boolean {
  return (
    formats.length === 1 && start.length >= START_UNITS && startOf(start.replace(/^\uFEFF/, "")).document !== undefined
  )
}

/** The session that an earlier import made of the file. Rejects if the session is another one, or has not all entries of the file. */
async function importedBefore(
  sessions: Pick<Sessions, "open">,
  id: string,
  { format }: Format,
  { id: sourceId, read }: Origin,
  error: unknown,
): Promise<ImportedFile> {
  const session = await sessions.open(id)
  try {
    const { origin } = session.header
    if (origin?.format !== format || origin.id !== sourceId) throw error
    if (!(await beginsWith(session.entries(), read()))) {
      const message = `The file was imported before, as session ${id}, and both have changed since or the session has entries of its own. Nothing was written. Import the file under another id, or delete the session first.`
      throw new SessionError("exists", message, { session: id, cause: error })
    }
    const { next } = session.head ?? { next: 0 }
    return { id, lines: next, from: { format, version: origin.version }, diagnostics: [], added: false }
  } finally {
    await session.close()
  }
}

/**
 * Whether the session begins with the entries of the file. The number of lines in its header does not say so: a file that grew was
 * completed after it. Contents may differ, because `append` hooks may have changed them.
 */
async function beginsWith(entries: AsyncIterable<Entry>, records: AsyncIterable<Header | Entry>): Promise<boolean> {
  const stored = entries[Symbol.asyncIterator]()
  try {
    for await (const record of records) {
      if (isHeader(record)) continue
      const { done, value } = await stored.next()
      if (done === true || value.id !== record.id || linesOf(value) !== linesOf(record)) return false
    }
    return true
  } finally {
    await stored.return?.()
  }
}

/** The lines that an entry was made of: a message may have got more of them. */
function linesOf(entry: Entry): string {
  return readSource(entry)?.at.join() ?? ""
}

function isHeader(record: Header | Entry): record is Header {
  return "origin" in record
}

interface Origin {
  /** The id of the source. */
  readonly id?: string
  /** The header and the entries of the file, at each call. */
  readonly read: () => AsyncIterable<Header | Entry>
}

async function originOf(
  format: Format,
  source: () => AsyncIterable<Chunk>,
  o: Omit<ImportOptions, "from">,
): Promise<Origin> {
  const read: Origin["read"] = () =>
    eachRecord(
      format.read({ main: textOf(source()), beside: o.beside ?? (() => undefined) }, { ...o, note: () => undefined }),
    )
  for await (const record of read()) {
    const id = "origin" in record ? (record["origin"] as { readonly id?: string }).id : undefined
    return { ...(id === undefined ? {} : { id }), read }
  }
  throw new SessionError("not_a_session", `The file has no session in the format "${format.format}".`)
}

async function startOfText(source: () => AsyncIterable<Chunk>): Promise<string> {
  let start = ""
  for await (const text of textOf(source())) {
    start += text
    if (start.length >= START_UNITS) break
  }
  return start
}

/** Text without a BOM. Core reports bytes that are not UTF-8 when it reads the file. */
async function* textOf(chunks: AsyncIterable<Chunk>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  for await (const chunk of chunks) {
    const text = typeof chunk === "string" ? decoder.decode() + chunk : decoder.decode(chunk, { stream: true })
    if (text !== "") yield text
  }
  const rest = decoder.decode()
  if (rest !== "") yield rest
}
