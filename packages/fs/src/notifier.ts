/**
 * Change notifications: who is told, within this storage object, that a session's log may have grown. Notices come from this object's
 * own writers and from the file system; both are hints, and a subscriber looks at the log itself.
 */
import type { Files } from "./disk/files.ts"
import type { SessionPaths } from "./disk/layout.ts"

export interface Notifier {
  /** Returns the function that ends the subscription. */
  subscribe(paths: SessionPaths, listener: () => void): () => void
  emit(session: string): void
}

/** How often to poll, for systems without notices and for changes that a notice may leave out. */
export const POLL_MS = 250

export function createNotifier(files: Files): Notifier {
  const listeners = new Map<string, Set<() => void>>()
  return {
    subscribe({ session, folder }, listener) {
      const own = listeners.get(session) ?? new Set()
      listeners.set(session, own.add(listener))
      const watcher = watchFolder(files, folder, listener)
      return () => {
        watcher?.close()
        own.delete(listener)
        if (own.size === 0 && listeners.get(session) === own) listeners.delete(session)
      }
    },
    emit(session) {
      const own = listeners.get(session)
      if (own !== undefined) for (const listener of own) listener()
    },
  }
}

/** Undefined if the system gives no notices (a network file system, no handles left); polling does without them. */
function watchFolder(files: Files, folder: string, listener: () => void): ReturnType<Files["watch"]> | undefined {
  try {
    return files.watch(folder, listener)
  } catch {
    return undefined
  }
}
