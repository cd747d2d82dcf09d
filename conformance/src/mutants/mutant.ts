/** The shape of a mutant, and functions for writing one. */
import type { Subject } from "../subject.ts"
import type { Head, SessionStorage } from "@sessions/core/storage"
import type { MemoryLocation } from "@sessions/memory"
import { changed, type Changes, collect } from "./sound-subjects.ts"

/** A storage with one defect, and the ids of the cases that fail for it: these, and no others. */
export interface Mutant {
  readonly subject: Subject<MemoryLocation>
  readonly fails: readonly string[]
}

export function mutant(name: string, fails: readonly string[], changes: Changes): Mutant {
  return { subject: changed(name, changes), fails }
}

/** Case ids with each group's name written once: `OPEN 04 06, CREATE 01`. */
export function ids(short: string): readonly string[] {
  return short.split(", ").flatMap((group) => {
    const [name, ...numbers] = group.split(" ")
    return numbers.map((number) => `${name}-${number}`)
  })
}

export async function current(real: SessionStorage, session: string): Promise<0 | Head> {
  const head = await real.head(session)
  return head === undefined ? 0 : { next: head.next, log: head.log }
}

export async function linesOf(real: SessionStorage, ...args: Parameters<SessionStorage["read"]>): Promise<string[]> {
  return (await collect(real.read(...args))).flatMap(({ lines }) => lines)
}
