/**
 * Imports a log of pi or oh-my-pi under an id that follows from its own, so that a second import finds the first, as for the files of other
 * agents. A log without an id gets a new one each time.
 */
import { hasCode, SessionError, type Sessions } from "@sessions/core"
import type { Origin } from "@sessions/core/format"
import { isRawLine, migrateLines } from "@sessions/core/migrations"
import { type ImportOptions, importSession } from "@sessions/core/transfer"
import { type ImportedFile, sessionIdOf } from "@sessions/formats"

type Source = () => AsyncIterable<Uint8Array | string>

/** `start`: the beginning of the log. */
export async function importOlder(
  sessions: Sessions,
  source: Source,
  start: string,
  o: ImportOptions,
): Promise<ImportedFile> {
  const origin = originOf(start)
  if (origin?.id === undefined) return { ...(await importSession(sessions, source, o)), added: true, losses: [] }
  const id = await sessionIdOf(origin.format, origin.id)
  try {
    return { ...(await importSession(sessions, source, { ...o, id })), added: true, losses: [] }
  } catch (error) {
    if (!hasCode(error, "exists")) throw error
    return await importedBefore(sessions, id, source, error)
  }
}

/** Undefined if the beginning does not show it: the import says what is wrong, or reads the log. */
function originOf(start: string): Origin | undefined {
  try {
    return migrateLines(start.split("\n")).header.origin
  } catch (error) {
    if (error instanceof SessionError) return undefined
    throw error
  }
}

/** The session that an earlier import made of the log. Rejects if the session is another one, or has not all entries of the log. */
async function importedBefore(sessions: Sessions, id: string, source: Source, error: unknown): Promise<ImportedFile> {
  const log = migrateLines((await textOf(source)).split("\n"), { id })
  const session = await sessions.open(id)
  try {
    const { origin } = session.header
    if (origin?.format !== log.from.format || origin.id !== log.header.origin?.id) throw error
    // The session has further entries in place of unreadable lines, and what was appended to it.
    const ids = log.records.flatMap((record) => (isRawLine(record) ? [] : [record.id]))
    let found = 0
    for await (const entry of session.entries()) if (entry.id === ids[found]) found++
    if (found < ids.length) {
      const message = `The log was imported before, as session ${id}, and has changed since. Nothing was written. Import it under another id, or delete the session first.`
      throw new SessionError("exists", message, { session: id, cause: error })
    }
    return { id, lines: session.head.next, from: log.from, diagnostics: [], added: false, losses: [] }
  } finally {
    await session.close()
  }
}

async function textOf(source: Source): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of source())
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })
  return text + decoder.decode()
}
