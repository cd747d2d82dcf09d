/** Imports a file of another agent under an id that follows from the id of its session, so that a second import finds the first. */
import { type Entry, hasCode, type Header, SessionError, type Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { type Importer, type ImportOptions, type ImportResult, importSession } from "@sessions/core/transfer"
import { eachRecord, type Format, type Loss, type Note } from "./base/format.ts"
import { sessionIdOf } from "./base/ids.ts"
import { noMessageError } from "./base/no-message.ts"
import { unknownRecordOf } from "./base/record-types.ts"
import { START_UNITS, startOf } from "./base/start.ts"
import { type Fields, fieldsOf } from "./base/values.ts"
import { Growth } from "./growth.ts"
import { identify, notASessionError } from "./identify.ts"
import { ImportReport } from "./import-report.ts"

type Chunk = Uint8Array | string

export interface ImportFileOptions extends Omit<ImportOptions, "from"> {
  /** The format of the file, or the formats to look for. */
  readonly from: Format | readonly Format[]
  /** As that of an `Importer`: keeps the lines of a large session instead of reading the file twice. */
  readonly hold?: Importer["hold"]
  /** Refuses a session that has no message yet, see {@link hasNoMessage}. Default false. */
  readonly needsMessage?: boolean
}

export interface ImportedFile extends ImportResult {
  /** False: the session had been imported before, and nothing was written. */
  readonly added: boolean
  /** What no model gets of what was added, such as history that is encrypted, in words and numbers. */
  readonly losses: readonly Loss[]
  /** As the agent has it; missing if nothing that was added says it. */
  readonly title?: string
}

/**
 * Reads a file with the importer of its format. `source` is called for each reading. The id, unless given, is `<format>.<hash of the
 * source's id>`. If the session was imported before, what the file has beyond it is appended; nothing is written if that is nothing, and
 * `exists` says that the conversation went on in both. Errors as those of `import`; `not_a_session` lists the formats that were tried.
 */
export async function importFile(
  sessions: Sessions,
  source: () => AsyncIterable<Chunk>,
  { from, hold, ...given }: ImportFileOptions,
): Promise<ImportedFile> {
  const formats: readonly Format[] = Array.isArray(from) ? (from as readonly Format[]) : [from as Format]
  const start = await startOfText(source)
  const found = identify(start, formats)
  if (found.format === undefined && (found.foreign !== undefined || !mayBeGiven(formats, start)))
    throw notASessionError(found)
  const format: Format = found.format ?? { ...(formats[0] as Format), identify: () => true }
  const origin = await originOf(format, source, given)
  const { needsMessage: _, ...o } = given
  const id = o.id ?? (origin.id === undefined ? undefined : await sessionIdOf(format.format, origin.id))
  const complete = async (): Promise<ImportedFile | undefined> =>
    id === undefined ? undefined : completed(sessions, id, format, origin, { ...o, source, ...(hold && { hold }) })
  const grown = id !== undefined && (await hasWhole(sessions, id, o)) ? await complete() : undefined
  if (grown !== undefined) return grown
  const report = new ImportReport()
  const counted = report.counting(format)
  try {
    const result = await importSession(sessions, source, {
      ...o,
      from: hold === undefined ? counted : { ...counted, hold },
      ...(id === undefined ? {} : { id }),
    })
    return { ...result, added: true, losses: report.losses, ...titled(report) }
  } catch (error) {
    const other = hasCode(error, "exists") ? await complete() : undefined
    if (other === undefined) throw error
    return other
  }
}

function titled({ title }: ImportReport): { readonly title?: string } {
  return title === undefined ? {} : { title }
}

/**
 * Whether an import of this session has ended. `import` of core would append the rest of a file that merely has become longer, too, but
 * settle no branch: to it, these are lines of the import whose end the header names.
 */
async function hasWhole(sessions: Pick<Sessions, "info">, id: string, { signal }: CallOptions): Promise<boolean> {
  try {
    return (await sessions.info(id, signal && { signal })).incomplete !== true
  } catch (error) {
    if (hasCode(error, "not_found")) return false
    throw error
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

/**
 * Appends what the file has that the session does not have yet; undefined if the session is another one. Rejects if the conversation went
 * on in it and in the file: neither may be hidden behind the other.
 */
async function completed(
  sessions: Sessions,
  id: string,
  format: Format,
  { id: sourceId, read }: Origin,
  { source, hold, ...o }: Omit<ImportFileOptions, "from"> & { readonly source: () => AsyncIterable<Chunk> },
): Promise<ImportedFile | undefined> {
  const session = await sessions.open(id)
  try {
    const { origin } = session.header
    if (origin?.format !== format.format || origin.id !== sourceId) return undefined
    const growth = await Growth.of(session, read)
    const { next } = session.head ?? { next: 0 }
    const from = { format: format.format, version: origin.version }
    if (growth.isEmpty) return { id, lines: next, from, diagnostics: [], added: false, losses: [] }
    if (growth.hasOwnEntries) {
      const message = `The file was imported before, as session ${id}, and both have gone on since. Nothing was written. Import the file under another id, or delete the session first.`
      throw new SessionError("exists", message, { session: id })
    }
    const report = new ImportReport()
    const importer: Importer = {
      format: format.format,
      identify: () => true,
      async *read(_, { note }) {
        yield session.header
        yield* session.entries()
        yield* report.counted(growth.entries(note))
      },
      ...(hold === undefined ? {} : { hold }),
    }
    return {
      ...(await importSession(sessions, source, { ...o, id, from: importer })),
      added: true,
      losses: report.losses,
      ...titled(report),
    }
  } finally {
    await session.close()
  }
}

interface Origin {
  /** The id of the source. */
  readonly id?: string
  /** The header and the entries of the file, at each call. */
  readonly read: (note?: Note) => AsyncIterable<Header | Entry>
}

async function originOf(
  format: Format,
  source: () => AsyncIterable<Chunk>,
  { needsMessage, ...o }: Omit<ImportFileOptions, "from" | "hold">,
): Promise<Origin> {
  const read: Origin["read"] = (note = () => undefined) =>
    eachRecord(format.read({ main: textOf(source()), beside: o.beside ?? (() => undefined) }, { ...o, note }))
  const { header, messages, hasContent } = await factsOf(read())
  if (header === undefined)
    throw new SessionError("not_a_session", `The file has no session in the format "${format.format}".`)
  if (messages > 0 && !hasContent) throw emptyMessagesError(format, messages)
  if (messages === 0 && needsMessage) throw noMessageError(format.title)
  const id = header.origin?.id
  return { ...(id === undefined ? {} : { id }), read }
}

interface Facts {
  readonly header: Header | undefined
  /** How many messages were read until one had a content. */
  readonly messages: number
  readonly hasContent: boolean
}

/** Reads the file up to the first message with a content. */
async function factsOf(records: AsyncIterable<Header | Entry>): Promise<Facts> {
  let header: Header | undefined
  let messages = 0
  for await (const record of records) {
    if (header === undefined) header = record as Header
    else if (hasText(record as Entry)) return { header, messages: messages + 1, hasContent: true }
    else if (record.type === "message" && unknownRecordOf(record) === undefined) messages++
  }
  return { header, messages, hasContent: false }
}

/** Whether a model or a person would see anything of the entry. */
function hasText(entry: Entry): boolean {
  if (entry.type === "compaction" || entry.type === "branch_summary") return entry.summary !== ""
  if (entry.type !== "message" && entry.type !== "custom_message") return false
  const { content } = (entry.type === "message" ? entry.message : entry) as Fields
  return Array.isArray(content) && (content as readonly unknown[]).some((block) => !isEmpty(fieldsOf(block)))
}

function isEmpty({ type, text, thinking }: Fields): boolean {
  if (type === "text") return typeof text !== "string" || text.trim() === ""
  return type === "thinking" && thinking === ""
}

/** Another program may have written the file: what it says is not where the format has it. */
function emptyMessagesError({ title }: Format, count: number): SessionError {
  const all = count === 1 ? "The only message of the file is" : `All ${count} messages of the file are`
  const message = `${all} empty when it is read as a session of ${title}: no text, image, call or result was found. Another program may have written it. Nothing was imported.`
  return new SessionError("not_a_session", message)
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
