import type { Subject } from "@sessions/conformance"
import type { Head, SessionStorage } from "@sessions/core/storage"
import type { MemoryLocation } from "@sessions/memory"
import type { Changes } from "../variants.ts"
import { changed, collect } from "../variants.ts"

/** A storage that is wrong in one way, and the cases that must notice. */
export interface Mutant {
  readonly subject: Subject<MemoryLocation>
  readonly fails: readonly string[]
}

export function mutant(name: string, fails: readonly string[], changes: Changes): Mutant {
  return { subject: changed(name, changes), fails }
}

export async function current(real: SessionStorage, session: string): Promise<0 | Head> {
  const head = await real.head(session)
  return head === undefined ? 0 : { next: head.next, log: head.log }
}

export async function linesOf(real: SessionStorage, ...args: Parameters<SessionStorage["read"]>): Promise<string[]> {
  return (await collect(real.read(...args))).flatMap(({ lines }) => lines)
}
