/**
 * Hooks of a repository. An `append` or `compact.before` hook that throws rejects the append or the compaction. One that hangs holds it
 * back until the signal of the call fires, which rejects with `aborted`. Any other hook that throws is reported to `onHookFailed`, and as
 * `hook_failed` if it is of a session; it has no further effect.
 */
import { stringify } from "../format/line.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Header } from "../format/header.ts"
import { isObject } from "../format/shape.ts"
import { isThenable } from "../storage/calls.ts"
import type { Head } from "../storage/contract.ts"

export interface Hooks {
  /**
   * Runs before an entry is assigned its position. Returns a replacement (to redact, say), or nothing to keep the entry; throws to
   * reject the whole append. Awaited in the order of the appends, so it must not await an append to the same session.
   *
   * An import also runs it, for each entry, before anything is written: a throw rejects the import, and a replacement keeps the id,
   * position and timestamp of the entry. Completing an interrupted import runs it again and needs the same results, else `exists`.
   * Fork, copy and migration do not run it, because the storage has their entries already.
   */
  readonly append?: (entry: NewEntry, about: { readonly session: string }) => NewEntry | void | Promise<NewEntry | void>
  /** Runs after an append was acknowledged. Not for the entries that `fork` and `import` write: `create` runs once they are complete. */
  readonly save?: (saved: { readonly session: string; readonly ids: readonly string[]; readonly head: Head }) => unknown
  /** Runs for each session that this repository created: by `create`, `openOrCreate`, `continueRecent`, `fork` or `import`. */
  readonly create?: (made: { readonly session: string; readonly header: Header }) => unknown
  /** Runs after `mergeSession` has brought entries into a log of this repository, or may have, because it failed. `save` does not. */
  readonly merge?: (merged: { readonly session: string }) => unknown
  readonly delete?: (deleted: { readonly session: string }) => unknown
  readonly compact?: {
    readonly before?: (about: { readonly session: string; readonly prompt: string }) => unknown
    readonly after?: (done: { readonly session: string; readonly entryId: string }) => unknown
  }
}

/** Runs the `append` hooks in order, each on the result of the previous one. */
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

/** Runs a hook or a listener whose failure is only reported. */
export function runHook(name: string, run: () => unknown, failed: (hook: string, error: unknown) => void): void {
  try {
    const result = run()
    if (isThenable(result)) result.then(undefined, (error: unknown) => failed(name, error))
  } catch (error) {
    failed(name, error)
  }
}

/** Copies entries, because their caller may change them while hooks are awaited. Throws for an entry that cannot be written as JSON. */
export function copyEntries(entries: readonly NewEntry[]): NewEntry[] {
  return entries.map((entry) => (isObject(entry) ? JSON.parse(stringify(entry)) : entry) as NewEntry)
}
