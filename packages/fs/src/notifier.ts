/**
 * Change notifications: who is told, within this storage object, that a session's log may have grown. Notices come from this object's
 * own writers and from the file system; both are hints, and a subscriber looks at the log itself.
 */
import { createListeners } from "@sessions/core/storage"
import type { Files } from "./disk/files.ts"
import { METADATA_FILE, type SessionPaths } from "./disk/layout.ts"
import { isTemporary } from "./disk/small-files.ts"

export interface Notifier {
  /** Returns the function that ends the subscription. */
  subscribe(paths: SessionPaths, listener: () => void): () => void
  emit(session: string): void
}

/** How often to poll, for systems without notices and for changes that a notice may leave out. */
export const POLL_MS = 250

export function createNotifier(files: Files): Notifier {
  const listeners = createListeners()
  return {
    subscribe({ session, folder }, listener) {
      const remove = listeners.add(session, listener)
      const watcher = watchFolder(files, folder, listener)
      return () => {
        watcher?.close()
        remove()
      }
    },
    emit: listeners.notify,
  }
}

/** Undefined if the system gives no notices (a network file system, no handles left); polling does without them. */
function watchFolder(files: Files, folder: string, listener: () => void): ReturnType<Files["watch"]> | undefined {
  try {
    return files.watch(folder, (name) => {
      // These follow a change of the log, or another notice does. They were more than half of all notices.
      if (name === undefined || !(name === METADATA_FILE || isTemporary(name))) listener()
    })
  } catch {
    return undefined
  }
}
