/**
 * The interface of a format: reads the sessions of an agent as an importer of core and, if it has a writer, writes sessions as files that the
 * agent resumes. `packages/formats/README.md` says how to add one.
 */
import type { Diagnostic, Entry, Header } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import type { Importer } from "@sessions/core/transfer"
import { type FileStart, startOf } from "./start.ts"

export interface Format extends Importer {
  /** The agent's name for people, such as `Claude Code`. `format` is the name of the format in options and in `origin.format`. */
  readonly title: string
  /** The versions of the program whose files were compared, such as `0.1 to 0.171`; missing if its files have no version. */
  readonly versions?: string
  /** Why a file is not of this format, as the end of a sentence that begins with "it"; undefined if it is. */
  rejects(start: FileStart): string | undefined
  /** Writes a session as the text of a file of this format, in pieces. Undefined if the format is only read. */
  readonly write?: WriteSession
}

/** A format that sessions are written in. A {@link Format} with `write` is one. */
export interface Writer extends Pick<Format, "format" | "title" | "versions"> {
  readonly write: WriteSession
}

export type WriteSession = (session: SessionToWrite, o?: WriteOptions) => AsyncIterable<string>

/** What a writer needs of a session. A `Session` of core is one. */
export interface SessionToWrite {
  readonly header: Header
  /** The entries of all branches in log order, with their contents inline; the same at each call. */
  entries(): AsyncIterable<Entry>
}

export interface WriteOptions extends CallOptions {
  /** The session's id in the written file. Default: the one it was imported with, else one that follows from the session's id. */
  readonly id?: string
  /** The folder of the session in the written file. Default: the session's. */
  readonly cwd?: string
  /**
   * `"path"`: the entries on the current path. `"all"`: every branch. Default: `"all"` for a session that was imported from this format,
   * since its file holds the branches as well; else `"path"`.
   */
  readonly branches?: "path" | "all"
  /** Called for each kind of content that the file does not hold, after the last piece. */
  readonly note?: (loss: Loss) => void
}

/** Content of a session that a written file does not hold. */
export interface Loss {
  /** What is missing, such as `branches`, `edits` or `signatures`. */
  readonly what: string
  readonly count: number
  /** How much text it has, in UTF-16 units; missing if that is not known, or none. */
  readonly characters?: number
  /** A sentence for people. */
  readonly message: string
}

export type Note = (diagnostic: Diagnostic) => void

/** What an importer of a format is given, as `Importer.read` of core declares it. */
export type ReadSource = Parameters<Importer["read"]>[0]
export type ReadOptions = Parameters<Importer["read"]>[1]

/** The records of a session one at a time: a reader may yield several at once. */
export async function* eachRecord(
  records: ReturnType<Importer["read"]>,
): AsyncGenerator<Header | Entry, void, undefined> {
  for await (const some of records) yield* [some].flat()
}

/** A format from its parts: `identify` follows from `rejects`. */
export function defineFormat(parts: Omit<Format, "identify">): Format {
  return { ...parts, identify: (start) => parts.rejects(startOf(start)) === undefined }
}
