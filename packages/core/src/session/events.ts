/** Events of a session. A listener that throws is reported as `hook_failed` and has no further effect. */
import type { Entry, AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Divergence } from "../log/diverged.ts"
import type { Head } from "../storage/contract.ts"
import type { CompactionFailureKind } from "../compaction-settings/types.ts"
import { runHook } from "./hooks.ts"

export interface SessionEvents<Own extends OwnEntry = AnyOwnEntry> {
  /** Own entries were acknowledged; in log order. */
  appended: { readonly entries: readonly Entry<Own>[]; readonly head: Head }
  /** Entries were certainly not written, and were removed from memory. */
  rolled_back: { readonly ids: readonly string[]; readonly error: unknown }
  /** Entries of another writer were read. */
  foreign: { readonly entries: readonly Entry<Own>[] }
  /** Another writer's lines were read, and leave a branch off this session's path that was not reported yet. */
  diverged: Divergence
  diagnostic: Diagnostic
  /** A hook or a listener threw. */
  hook_failed: { readonly hook: string; readonly error: unknown }
  compact_start: { readonly reason: "manual" | "threshold" | "overflow" }
  compact_complete: {
    readonly entryId: string
    readonly tokensBefore: number
    readonly tokensAfter: number
    readonly tokensFreed: number
    readonly messagesSummarized: number
    readonly messagesKept: number
    /** Headings of the summary template that the summarizer left out. */
    readonly missingHeadings: readonly string[]
  }
  compact_failed: {
    readonly error: unknown
    /** Only `"failed"` counts for the breaker. */
    readonly kind: CompactionFailureKind
    /** Consecutive failures. */
    readonly failures: number
    /** Automatic compaction is off until `resetCompactionBreaker`, or until a manual compaction succeeds. */
    readonly breakerOpen: boolean
  }
}

export type Listener<K extends keyof SessionEvents> = (event: SessionEvents[K]) => void

export class Emitter {
  readonly #listeners = new Map<keyof SessionEvents, Set<(event: never) => void>>()

  on<K extends keyof SessionEvents>(name: K, listener: Listener<K>): () => void {
    let set = this.#listeners.get(name)
    if (set === undefined) this.#listeners.set(name, (set = new Set()))
    // A function of its own: two handles may listen with the same one, and closing one of them ends its listener alone.
    const own: Listener<K> = (event) => listener(event)
    set.add(own)
    return () => void set.delete(own)
  }

  has(name: keyof SessionEvents): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0
  }

  emit<K extends keyof SessionEvents>(name: K, event: SessionEvents[K]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      runHook(
        `on(${JSON.stringify(name)})`,
        () => (listener as Listener<K>)(event),
        (hook, error) => {
          // A failing listener of hook_failed is ignored: reporting it would call it again.
          if (name !== "hook_failed") this.emit("hook_failed", { hook, error })
        },
      )
    }
  }
}
