/** Imports one file of any format: logs that core reads, and the files of agents. */
import { SessionError, type Sessions } from "@sessions/core"
import { identifyLog } from "@sessions/core/format"
import { type ImportFormat, type ImportOptions, type ImportResult, importSession } from "@sessions/core/transfer"
import { formats, identify, type ImportedFile, importFile } from "@sessions/formats"
import { holdInFile, type LineFile } from "@sessions/fs"
import { UsageError, withDetails } from "../errors.ts"
import { importOlder } from "./import-older.ts"
import type { Chunks } from "./read-write.ts"

/** The formats that core reads itself. */
const CORE_FORMATS: readonly ImportFormat[] = ["sessions", "pi", "oh-my-pi"]

export const IMPORT_FORMATS: readonly string[] = ["auto", ...CORE_FORMATS, ...formats.map(({ format }) => format)]

type Source = AsyncIterable<Uint8Array | string> | (() => AsyncIterable<Uint8Array | string>)

/**
 * `from`: one of {@link IMPORT_FORMATS}. For a file of no known format the error names each of them, with the reason. A large session of an
 * agent is in a temporary file meanwhile.
 */
export async function importOne(
  sessions: Sessions,
  source: Source,
  from: string,
  o: Omit<ImportOptions, "from"> & { readonly beside?: Beside; readonly needsMessage?: boolean },
): Promise<ImportedFile> {
  const lines = holdInFile()
  try {
    const done = await importFrom(sessions, source, from, { ...o, hold: lines.hold })
    return done.added && done.title === undefined ? { ...done, ...(await titleOf(sessions, done.id)) } : done
  } finally {
    lines[Symbol.dispose]()
  }
}

/** Of a session that goes on, whose title was there before, or of a log that core has read. */
async function titleOf(sessions: Sessions, id: string): Promise<{ readonly title?: string }> {
  const { title, firstPrompt } = await sessions.info(id)
  const shown = title ?? firstPrompt
  return shown === undefined ? {} : { title: shown }
}

async function importFrom(
  sessions: Sessions,
  source: Source,
  from: string,
  {
    beside,
    hold,
    needsMessage = false,
    ...o
  }: Omit<ImportOptions, "from"> & {
    readonly beside?: Beside
    readonly hold: LineFile["hold"]
    readonly needsMessage?: boolean
  },
): Promise<ImportedFile> {
  if (from === "sessions") return added(await importSession(sessions, source, { ...o, from }))
  const again = typeof source === "function" ? source : await kept(source)
  if (isCoreFormat(from)) {
    if (o.id !== undefined) return added(await importSession(sessions, again, { ...o, from }))
    return await importOlder(sessions, again, await startOf(again), { ...o, from })
  }
  const wanted = from === "auto" ? formats : formats.filter(({ format }) => format === from)
  if (wanted.length === 0)
    throw new UsageError(`--from must be one of ${IMPORT_FORMATS.join(", ")}, not ${JSON.stringify(from)}.`)
  if (from === "auto") {
    const start = await startOf(again)
    const identity = identifyLog(start.split("\n"))
    if (identity.kind === "sessions") return added(await importSession(sessions, again, o))
    const found = identify(start, wanted)
    if (found.format === undefined) {
      if (identity.kind === "older" && o.id === undefined) return await importOlder(sessions, again, start, o)
      if (identity.kind !== "foreign") return added(await importSession(sessions, again, o))
      if (found.foreign !== undefined) throw notReadError(found.foreign)
      const tried = found.rejected.map(({ format, reason }) => `${format}: it ${reason}`)
      const error = new SessionError("not_a_session", "The file is in none of the known formats.")
      throw withDetails(error, [`${CORE_FORMATS.join(", ")}: ${identity.reason}`, ...tried])
    }
    // Also of a log that begins as one of pi does: the format knows more of it.
    return await importFile(sessions, again, {
      ...o,
      hold,
      needsMessage,
      from: found.format,
      ...(beside === undefined ? {} : { beside }),
    })
  }
  return await importFile(sessions, again, {
    ...o,
    hold,
    needsMessage,
    from: wanted,
    ...(beside === undefined ? {} : { beside }),
  })
}

function notReadError(what: string): SessionError {
  return new SessionError("not_a_session", `The file is ${what}.`)
}

type Beside = (name: string) => Chunks | undefined

function isCoreFormat(name: string): name is ImportFormat {
  return CORE_FORMATS.includes(name as ImportFormat)
}

function added(result: ImportResult): ImportedFile {
  return { ...result, added: true, losses: [] }
}

/** Keeps a source that can be read only once in memory. */
async function kept(source: AsyncIterable<Uint8Array | string>): Promise<() => AsyncIterable<Uint8Array | string>> {
  const chunks: (Uint8Array | string)[] = []
  for await (const chunk of source) chunks.push(typeof chunk === "string" ? chunk : chunk.slice())
  return async function* () {
    yield* chunks
  }
}

/** As much as identifies a file. */
const START_UNITS = 65_536

async function startOf(source: () => AsyncIterable<Uint8Array | string>): Promise<string> {
  const decoder = new TextDecoder()
  let start = ""
  for await (const chunk of source()) {
    start += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })
    if (start.length >= START_UNITS) break
  }
  return start
}
