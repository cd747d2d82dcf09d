/** The stored state of the memory storage: logs, documents, blobs and watchers. Storage objects that share it are writers on it. */
import { type Head, headAt, newLog, type Seq } from "@sessions/core/storage"

/** Create it with {@link createMemoryLocation} and pass it to each storage. Its content is internal to the storage. */
export interface MemoryLocation {
  /** Differs from that of every other location, in this process and others. */
  readonly id: string
  readonly logs: Map<string, MemoryLog>
  /** Texts by key. */
  readonly docs: Map<string, string>
  readonly blobs: Map<string, MemoryBlob>
  readonly watchers: Map<string, Set<Watcher>>
  /** The latest timestamp that was written here. */
  time: number
}

/** One log. A delete or a replace puts another object in its place. */
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

/** The callbacks of one watch. */
export interface Watcher {
  /** The log was changed. */
  changed(): void
  /** The session was deleted. */
  deleted(): void
}

export function createMemoryLocation(): MemoryLocation {
  return { id: newLog(), logs: new Map(), docs: new Map(), blobs: new Map(), watchers: new Map(), time: 0 }
}

/** The timestamp of a write. It never decreases, even if the clock does. */
export function timestamp(location: MemoryLocation, clock: () => number): number {
  location.time = Math.max(location.time, clock())
  return location.time
}

export function createLog(updatedAt: number): MemoryLog {
  return { id: newLog(), lines: [], bytes: 0, updatedAt }
}

export function headOf(log: MemoryLog): Head {
  return { next: log.lines.length, log: log.id }
}

/** The same with the mark of the last line. */
export function markedHeadOf(log: MemoryLog): Head {
  return headAt(log.lines.length, log.id, log.lines.at(-1))
}

/** Returns the function that unsubscribes. */
export function subscribe(location: MemoryLocation, session: string, watcher: Watcher): () => void {
  const watchers = location.watchers.get(session) ?? new Set()
  location.watchers.set(session, watchers.add(watcher))
  return () => {
    watchers.delete(watcher)
    if (watchers.size === 0 && location.watchers.get(session) === watchers) location.watchers.delete(session)
  }
}

export function notify(location: MemoryLocation, session: string, event: keyof Watcher): void {
  const watchers = location.watchers.get(session)
  if (watchers === undefined) return
  for (const watcher of watchers) watcher[event]()
}
