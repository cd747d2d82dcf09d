/** Shared by the modules of one storage object: its options, the file operations, the cached views, and the notifier. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { type Notifier, createNotifier } from "./notifier.ts"
import { errnoOf, toStorageError } from "./disk/errors.ts"
import type { Files } from "./disk/files.ts"
import { storeIdentity } from "./log/identity.ts"
import { type Layout, type SessionPaths, toSessionPaths } from "./disk/layout.ts"
import { createRoot, type Root } from "./disk/root.ts"
import { checkInnerFolder, createFile, ensureFolder } from "./disk/small-files.ts"
import { type LogView, loadView } from "./log/view.ts"
import type { DecodeLines } from "./log/decode.ts"
import { createDamagedParts, type DamagedParts } from "./log/damaged-parts.ts"
import { createMetadataCache, type MetadataCache } from "./log/metadata.ts"

export interface Deps {
  readonly files: Files
  readonly decodeLines: DecodeLines
  readonly layout: Layout
  readonly root: Root
  readonly durability: "os" | "disk"
  readonly maxPartBytes: number
  readonly lockTimeout: number
  readonly description: string
  readonly notifier: Notifier
  /** Files whose last sync failed, so that a power failure may lose their content; see `write/sync.ts`. */
  readonly unsynced: Set<string>
  readonly metadata: MetadataCache
  readonly damaged: DamagedParts
  /** The log as its files are now; what earlier calls found is reused where file times show that it still holds. */
  view(session: string): LogView | undefined
  /** The same without the cached view. */
  reloadView(session: string): LogView | undefined
  /** Stores the identity of a log that was copied in without `log.id`. */
  storeIdentity(view: LogView): void
  /** Records for listings that a session's log has, or is about to have, more than one part. */
  recordParts(paths: SessionPaths): void
  error(error: unknown, what: string, session?: string, at?: string, code?: StorageErrorCode): StorageError
}

export interface DepsOptions {
  readonly files: Files
  readonly decodeLines: DecodeLines
  readonly layout: Layout
  readonly allowSharedRoot: boolean
  readonly durability: "os" | "disk"
  readonly maxPartBytes: number
  readonly lockTimeout: number
}

export function createDeps(o: DepsOptions): Deps {
  const { files, layout } = o
  const description = `fs:${layout.root}`
  const views = new Map<string, LogView>()
  const metadata = createMetadataCache(files)
  const view = (session: string): LogView | undefined => {
    const before = views.get(session)
    const now = loadView(files, toSessionPaths(layout, session), before, metadata.reread)
    views.delete(session)
    if (now !== undefined) views.set(session, now)
    if (views.size > KEPT_VIEWS) views.delete(views.keys().next().value ?? "")
    return now
  }
  return {
    ...o,
    root: createRoot(files, layout.root, { isStrict: o.durability === "disk", isShared: o.allowSharedRoot }),
    description,
    notifier: createNotifier(files),
    unsynced: new Set(),
    metadata,
    damaged: createDamagedParts(files),
    view,
    reloadView(session) {
      views.delete(session)
      return view(session)
    },
    storeIdentity: (view) => storeIdentity(files, view.folder, view.log),
    recordParts(paths) {
      // The times of the folder may not show a part that is created within the same clock tick.
      views.delete(paths.session)
      checkInnerFolder(files, layout.rolled)
      try {
        createFile(files, paths.rolled, new Uint8Array())
      } catch (error) {
        const errno = errnoOf(error)
        if (errno === "EEXIST") return
        if (errno !== "ENOENT") throw error
        ensureFolder(files, layout.rolled)
        createFile(files, paths.rolled, new Uint8Array())
      }
    },
    error(error, what, session, at, code) {
      const place = {
        storage: description,
        ...(session === undefined ? {} : { session }),
        ...(at === undefined ? {} : { at }),
      }
      const known = toStorageError(error, what, place)
      return code === undefined ? known : new StorageError(code, known.message, { ...place, cause: error })
    },
  }
}

/** A view holds a part list and some hundred line offsets. */
const KEPT_VIEWS = 256
