/** Imports a file of another agent under an id that follows from the id of its session, so that a second import finds the first. */
import {
  hasCode,
  type Importer,
  type ImportOptions,
  type ImportResult,
  SessionError,
  type Sessions,
} from "@sessions/core"
import type { Format } from "./base/format.ts"
import { sessionIdOf } from "./base/ids.ts"
import { identify, notASession, START_UNITS } from "./identify.ts"

type Chunk = Uint8Array | string

export interface ImportFileOptions extends Omit<ImportOptions, "from"> {
  /** The format of the file, or the formats to look for. */
  readonly from: Format | readonly Format[]
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
  { from, ...o }: ImportFileOptions,
): Promise<ImportedFile> {
  const formats: readonly Format[] = Array.isArray(from) ? (from as readonly Format[]) : [from as Format]
  const found = identify(await startOfText(source), formats)
  if (found.format === undefined) throw notASession(found.rejected)
  const { format } = found
  const origin = await originOf(format, source, o)
  const id = o.id ?? (origin.id === undefined ? undefined : await sessionIdOf(format.format, origin.id))
  try {
    const result = await sessions.import(source, { ...o, from: format, ...(id === undefined ? {} : { id }) })
    return { ...result, added: true }
  } catch (error) {
    if (!hasCode(error, "exists") || id === undefined) throw error
    return await importedBefore(sessions, id, format, origin, error)
  }
}

/** The session that an earlier import made of the file. Rejects with the error of this one if the file or the session has other lines. */
async function importedBefore(
  sessions: Pick<Sessions, "open">,
  id: string,
  { format }: Format,
  { id: sourceId, lines }: { readonly id?: string; readonly lines: () => Promise<number> },
  error: unknown,
): Promise<ImportedFile> {
  const session = await sessions.open(id)
  try {
    const { origin } = session.header
    if (origin?.format !== format || origin.id !== sourceId) throw error
    const stored = origin.lines ?? origin.settled ?? 0
    if (stored !== (await lines())) {
      const message = `The file was imported before, as session ${id}, and both have changed since or the session has entries of its own. Nothing was written. Import the file under another id, or delete the session first.`
      throw new SessionError("exists", message, { session: id, cause: error })
    }
    const { next } = session.head ?? { next: 0 }
    return { id, lines: next, from: { format, version: origin.version }, diagnostics: [], added: false }
  } finally {
    await session.close()
  }
}

/** The origin in the header of the file, and the number of lines of its log. */
async function originOf(
  format: Format,
  source: () => AsyncIterable<Chunk>,
  o: Omit<ImportOptions, "from">,
): Promise<{ readonly id?: string; readonly lines: () => Promise<number> }> {
  const read = (): ReturnType<Importer["read"]> =>
    format.read({ main: textOf(source()), beside: o.beside ?? (() => undefined) }, { ...o, note: () => undefined })
  for await (const record of read()) {
    const id = "origin" in record ? (record["origin"] as { readonly id?: string }).id : undefined
    const lines = async (): Promise<number> => {
      let count = 0
      for await (const _ of read()) count++
      return count
    }
    return { ...(id === undefined ? {} : { id }), lines }
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
