/** The commands of a test to its processes, and their answers. Each is one line of JSON on a pipe. */
import type { Head } from "@sessions/core/storage"

export type Outcome = { readonly head: Head } | { readonly code: string }

/** The commands with their arguments and answers. */
export interface Commands {
  /** Appends after the head that it reads itself. */
  append(o: { session: string; lines: readonly string[] }): Outcome
  appendAt(o: { session: string; lines: readonly string[]; expect: Head | 0 }): Outcome
  /** The SHA-256 of all lines, each with its LF. */
  read(o: { session: string }): { lines: number; sha256: string }
  replace(o: { session: string; lines: readonly string[]; expect: Head }): Outcome
  delete(o: { session: string }): { bytes: number; parts: number }
  list(o: object): readonly string[]
  /** Appends to the text of a document, and retries after a conflict. */
  extendDoc(o: { key: string; by: string }): { text: string }
  putBlob(o: { text: string }): { hash: string }
  getBlob(o: { hash: string }): { text: string | null }
  /** `count` new storage objects append after one head at once; each is closed when its outcome is known. */
  race(o: { session: string; expect: Head; count: number; mark: string }): readonly Outcome[]
  /** Appends messages through a session, `inFlight` at a time: `count` of them, or until the file `until` exists. */
  fill(o: { session: string; name: string; count?: number; until?: string; inFlight: number }): Filled
}

export interface Filled {
  readonly count: number
  readonly longestWaitMs: number
  readonly ms: number
}

export type Command = keyof Commands
export type Arguments<C extends Command> = Parameters<Commands[C]>[0]
export type Answer<C extends Command> = ReturnType<Commands[C]>

/** One line of ASCII, since some line readers also split at U+2028. */
export function toLine(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  return `${JSON.stringify(value).replaceAll(/[^ -~]/g, escaped)}\n`
}
