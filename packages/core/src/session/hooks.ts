/**
 * Hooks of a repository. `append` and `compact.before` may stop what is about to happen, by throwing; every other hook that throws
 * is reported (`hook_failed`) and stops nothing.
 */
import type { NewEntry } from "../format/new-entry.ts"
import type { Header } from "../format/records.ts"
import type { Head } from "../storage/contract.ts"

export interface Hooks {
  /**
   * Before an entry gets its place: may give another entry in its stead, which is the place for redaction, or throw to refuse the
   * whole append. Awaited in the order of the appends.
   */
  readonly append?: (entry: NewEntry, about: { readonly session: string }) => NewEntry | void | Promise<NewEntry | void>
  /** After the acknowledgement. */
  readonly save?: (saved: { readonly session: string; readonly ids: readonly string[]; readonly head: Head }) => unknown
  readonly create?: (made: { readonly session: string; readonly header: Header }) => unknown
  readonly delete?: (deleted: { readonly session: string }) => unknown
  readonly compact?: {
    readonly before?: (about: { readonly session: string; readonly prompt: string }) => unknown
    readonly after?: (done: { readonly session: string; readonly entryId: string }) => unknown
  }
}

/** Runs the `append` hooks one after the other, each on what the one before it gave. */
export async function runAppendHooks(
  hooks: readonly Hooks[],
  entries: readonly NewEntry[],
  session: string,
): Promise<NewEntry[]> {
  const out: NewEntry[] = []
  for (const entry of entries) {
    let current = entry
    for (const { append } of hooks) current = (await append?.(current, { session })) ?? current
    out.push(current)
  }
  return out
}

/** Runs a hook that stops nothing. */
export function runHook(name: string, run: () => unknown, failed: (hook: string, error: unknown) => void): void {
  try {
    const result = run()
    if (result instanceof Promise) result.catch((error: unknown) => failed(name, error))
  } catch (error) {
    failed(name, error)
  }
}
