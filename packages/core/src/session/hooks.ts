/**
 * Hooks of a repository. `append` and `compact.before` may stop what is about to happen, by throwing; every other hook that throws
 * is reported (`hook_failed`) and stops nothing.
 */
import { SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Header } from "../format/records.ts"
import type { Head } from "../storage/contract.ts"

export interface Hooks {
  /**
   * Before an entry gets its place: may give another entry in its stead, which is the place for redaction, or throw to refuse the
   * whole append. Awaited in the order of the appends, so it must not itself await an append to the same session. An import asks
   * too, entry by entry, before it writes anything: a refusal refuses the import, and what is changed keeps its id, its place and
   * its time. One that was cut off asks again when it is completed, and goes on only where the answers are the same. A fork, a copy
   * and a migration do not ask: what they write is in the storage already.
   */
  readonly append?: (entry: NewEntry, about: { readonly session: string }) => NewEntry | void | Promise<NewEntry | void>
  /** After the acknowledgement of an append. What `fork` and `import` write is told of by `create`, once, when all of it is there. */
  readonly save?: (saved: { readonly session: string; readonly ids: readonly string[]; readonly head: Head }) => unknown
  /** Of every session that this repository makes: by `create`, `openOrCreate`, `continueRecent`, `fork` or `import`. */
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

/** Runs a hook or a listener that stops nothing. */
export function runHook(name: string, run: () => unknown, failed: (hook: string, error: unknown) => void): void {
  try {
    const result = run()
    if (isThenable(result)) result.then(undefined, (error: unknown) => failed(name, error))
  } catch (error) {
    failed(name, error)
  }
}

/** Entries as they are now: whoever gave them may change them while hooks are awaited. Throws `invalid` for what is not JSON. */
export function copyEntries(entries: readonly NewEntry[]): NewEntry[] {
  return entries.map((entry) => (isObject(entry) ? { ...copyOf(entry), ...symbolsOf(entry) } : entry))
}

function copyOf(entry: NewEntry): NewEntry {
  try {
    return JSON.parse(JSON.stringify(entry)) as NewEntry
  } catch (cause) {
    throw new SessionError("invalid", "The entry cannot be written as JSON.", { cause })
  }
}

/** What a method of the session says to itself goes by symbols, which JSON does not have. */
function symbolsOf(entry: object): object {
  return Object.fromEntries(
    Object.getOwnPropertySymbols(entry).map((key) => [key, (entry as Record<symbol, unknown>)[key]]),
  )
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof (value as { then?: unknown }).then === "function"
}
