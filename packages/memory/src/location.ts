import { type Head, newLog, type Seq } from "@sessions/core/storage"

/**
 * What storage objects share when they are writers on one place. Make it with {@link createMemoryLocation} and pass it on; what
 * is inside is the storage's own.
 */
export interface MemoryLocation {
  readonly logs: Map<string, MemoryLog>
  /** Their texts. */
  readonly docs: Map<string, string>
  readonly blobs: Map<string, MemoryBlob>
  readonly watchers: Map<string, Set<Watcher>>
  /** The latest time that anything here was stamped with. */
  time: number
}

/** One log. After a delete or a replace another object stands in its place, so the object is the log's identity in the process. */
export interface MemoryLog {
  readonly id: string
  readonly lines: string[]
  bytes: number
  updatedAt: number
  info?: { readonly text: string; readonly next: Seq }
}

export interface MemoryBlob {
  readonly bytes: Uint8Array
  readonly putAt: number
}

export interface Watcher {
  /** Something changed: look. */
  ring(): void
  /** The session is gone. */
  end(): void
}

export function createMemoryLocation(): MemoryLocation {
  return { logs: new Map(), docs: new Map(), blobs: new Map(), watchers: new Map(), time: 0 }
}

/** The time of this write: never earlier than that of a write before it, whatever the clock does. */
export function stamp(location: MemoryLocation, clock: () => number): number {
  location.time = Math.max(location.time, clock())
  return location.time
}

export function createLog(updatedAt: number): MemoryLog {
  return { id: newLog(), lines: [], bytes: 0, updatedAt }
}

export function headOf(log: MemoryLog): Head {
  return { next: log.lines.length, log: log.id }
}

/** Tells a watcher of a session's changes until the function that it gives is called. */
export function listen(location: MemoryLocation, session: string, watcher: Watcher): () => void {
  const watchers = location.watchers.get(session) ?? new Set()
  location.watchers.set(session, watchers.add(watcher))
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0 && location.watchers.get(session) === watchers) location.watchers.delete(session)
  }
}

export function notify(location: MemoryLocation, session: string, what: keyof Watcher): void {
  const watchers = location.watchers.get(session)
  if (watchers === undefined) return
  for (const watcher of watchers) watcher[what]()
}
