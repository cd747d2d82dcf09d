/** What the test asks of a process, and what it is told. All of it goes over pipes as one line of JSON each. */
import type { Head } from "@sessions/core/storage"

export type Outcome = { readonly head: Head } | { readonly code: string }

/** The commands with their arguments and answers. */
export interface Commands {
  /** Expects the head that it reads itself. */
  append(o: { session: string; lines: readonly string[] }): Outcome
  appendAt(o: { session: string; lines: readonly string[]; expect: Head | 0 }): Outcome
  /** The SHA-256 of all lines, each with its LF. */
  read(o: { session: string }): { lines: number; sha256: string }
  replace(o: { session: string; lines: readonly string[]; expect: Head }): Outcome
  delete(o: { session: string }): { bytes: number; parts: number }
  list(o: object): readonly string[]
  /** Puts what `change` makes of the text: the old one with this at its end. */
  extendDoc(o: { key: string; by: string }): { text: string }
  putBlob(o: { text: string }): { hash: string }
  getBlob(o: { hash: string }): { text: string | null }
  /** So many storage objects, opened for this, append after one head at once; each is closed as soon as it knows its fate. */
  race(o: { session: string; expect: Head; count: number; mark: string }): readonly Outcome[]
  /** Appends messages through a session, a few at any time on their way: so many, or until there is a file at a path. */
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

/** One line for whoever reads lines: some readers end one at U+2028, too. */
export function toLine(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  return `${JSON.stringify(value).replaceAll(/[^ -~]/g, escaped)}\n`
}
