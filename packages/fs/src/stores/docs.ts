/**
 * The document store: each document is a file that is replaced by a rename. Documents of a session are in its folder and are deleted
 * with it.
 */
import { join } from "node:path"
import { type DocumentAdapter, parseDocKey, StorageError } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { isMissing } from "../disk/errors.ts"
import { fromFileName, toFileName, toSessionId } from "../disk/file-names.ts"
import { DOCS_FOLDER, toSessionPaths } from "../disk/layout.ts"
import { withLock } from "../lock/with-lock.ts"
import {
  createFileSynced,
  discard,
  ensureFolder,
  isFolderOrNothing,
  notAFolder,
  retryBusy,
  readWhole,
  syncFolder,
  toTemporary,
} from "../disk/small-files.ts"
import { interruptedSwaps, recoverSwap } from "../disk/swap.ts"
import { hasEndedInPlace, removeFolder } from "../disk/trash.ts"

export function createDocStore(deps: Deps): DocumentAdapter {
  const { files, layout } = deps

  const placeOf = (key: string): DocPlace => {
    const { session, name } = parseDocKey(key)
    if (session === undefined) {
      return {
        above: [layout.docs],
        folder: layout.docs,
        path: join(layout.docs, toFileName(name)),
        lock: join(layout.locks, ".docs.lock"),
      }
    }
    const paths = toSessionPaths(layout, session)
    const folder = join(paths.folder, DOCS_FOLDER)
    return { above: [paths.folder, folder], folder, path: join(folder, toFileName(name)), lock: paths.docsLock }
  }

  const read = async (place: DocPlace): Promise<string | undefined> =>
    (await retryBusy(() => readWhole(files, place.path)))?.toString("utf8")

  /** Also finds the documents of a log whose swap was interrupted. */
  const readAnywhere = async (key: string, place: DocPlace): Promise<string | undefined> => {
    const { session, name } = parseDocKey(key)
    const found = isOfDeleted(session) ? undefined : await read(place)
    if (found !== undefined || session === undefined || !isFolderOrNothing(files, layout.fresh)) return found
    const { swap } = toSessionPaths(layout, session)
    const folder = join(swap, DOCS_FOLDER)
    if (!isFolderOrNothing(files, swap) || !isFolderOrNothing(files, folder)) return found
    const aside = { ...place, path: join(folder, toFileName(name)) }
    return (await read(aside)) ?? (isOfDeleted(session) ? undefined : read(place))
  }

  /** A deletion in place was interrupted, and the documents of its session are still there. */
  const isOfDeleted = (session: string | undefined): boolean =>
    session !== undefined && hasEndedInPlace(files, toSessionPaths(layout, session).folder)

  /** Completes an interrupted swap first. */
  const finishSwap = async (key: string, signal: AbortSignal | undefined): Promise<void> => {
    const { session } = parseDocKey(key)
    const paths = session === undefined ? undefined : toSessionPaths(layout, session)
    if (paths === undefined || files.lstat(paths.swap) === undefined) return
    await withLock(files, paths.lock, { timeout: deps.lockTimeout, signal }, () => recoverSwap(files, layout, paths))
  }

  const change = async <T>(
    key: string,
    signal: AbortSignal | undefined,
    work: (place: DocPlace, checkHeld: () => void) => Promise<T>,
  ): Promise<T> => {
    const place = placeOf(key)
    return guarded(key, "change the document", place, async () => {
      await finishSwap(key, signal)
      return withLock(files, place.lock, { timeout: deps.lockTimeout, signal }, async (checkHeld) => {
        const { session } = parseDocKey(key)
        if (isOfDeleted(session)) await removeFolder(files, toSessionPaths(layout, session as string).folder)
        return work(place, checkHeld)
      })
    })
  }

  const guarded = async <T>(key: string, what: string, place: DocPlace, work: () => Promise<T>): Promise<T> => {
    try {
      deps.root.use()
      const link = place.above.find((folder) => !isFolderOrNothing(files, folder))
      if (link !== undefined) throw notAFolder(link)
      return await work()
    } catch (error) {
      throw deps.error(error, `${what} ${key}`, parseDocKey(key).session, place.path)
    }
  }

  return {
    get(key) {
      const place = placeOf(key)
      return guarded(key, "read the document", place, () => readAnywhere(key, place))
    },

    compareAndSet: (key, from, to, { signal }) =>
      change(key, signal, async (place, checkHeld) => {
        if (((await read(place)) ?? null) !== from) return false
        if (to === null) {
          await retryBusy(() => {
            checkHeld()
            files.unlink(place.path)
          })
          await syncChange(deps, place)
        } else await writeDoc(deps, place, to, { isNew: from === null, checkHeld })
        return true
      }),

    async *list(prefix) {
      deps.root.use()
      const keys = [...allKeys(deps, prefix)].filter((key) => key.startsWith(prefix) && isDocKey(key))
      yield keys.sort((a, b) => (a < b ? -1 : 1))
    },
  }
}

interface DocPlace {
  /** The folders between the root and the document, from above. */
  readonly above: readonly string[]
  readonly folder: string
  readonly path: string
  readonly lock: string
}

/** The names of the folders are durable before a document appears in them, so replacing a document syncs its own folder only. */
async function writeDoc(
  deps: Deps,
  place: DocPlace,
  text: string,
  { isNew, checkHeld }: { readonly isNew: boolean; readonly checkHeld: () => void },
): Promise<void> {
  const { files } = deps
  const temporary = toTemporary(place.path)
  const bytes = Buffer.from(text, "utf8")
  try {
    await createFileSynced(files, temporary, bytes)
  } catch (error) {
    if (!isMissing(error)) throw error
    ensureFolder(files, place.folder)
    await createFileSynced(files, temporary, bytes)
  }
  try {
    if (isNew) await syncAbove(deps, place)
    await retryBusy(() => {
      checkHeld()
      files.rename(temporary, place.path)
    })
  } catch (error) {
    discard(files, temporary)
    throw error
  }
  await syncChange(deps, place)
}

async function syncAbove({ files, root }: Deps, { above }: DocPlace): Promise<void> {
  for (const folder of above.slice(0, -1)) await syncFolder(files, folder)
  await root.sync()
}

/** The change is visible to everyone by now. If the disk may not keep it, the outcome is `indeterminate`, not a refusal. */
async function syncChange({ files }: Deps, { folder, path }: DocPlace): Promise<void> {
  try {
    await syncFolder(files, folder)
  } catch (cause) {
    const message = `The document at ${path} was changed, but the disk could not be made to keep that: look at the system's log.`
    throw new StorageError("indeterminate", message, { at: path, cause })
  }
}

function* allKeys(deps: Deps, prefix: string): Generator<string> {
  const { layout } = deps
  yield* namesIn(deps, layout.docs)
  if (!prefix.startsWith("sessions/".slice(0, prefix.length))) return
  const one = /^sessions\/([^/]+)\//.exec(prefix)?.[1]
  const folders = new Set(one === undefined ? foldersIn(deps, layout.root) : [toFileName(one)])
  const aside = interruptedSwaps(foldersIn(deps, layout.fresh)).filter((name) => one === undefined || folders.has(name))
  for (const folder of folders) {
    const session = toSessionId(folder)
    const path = join(layout.root, folder)
    if (session === undefined || !isFolderOrNothing(deps.files, path) || hasEndedInPlace(deps.files, path)) continue
    for (const name of namesIn(deps, join(path, DOCS_FOLDER))) yield `sessions/${session}/${name}`
  }
  for (const folder of aside) {
    const session = toSessionId(folder)
    if (session === undefined || deps.files.lstat(join(layout.root, folder)) !== undefined) continue
    const { swap } = toSessionPaths(layout, session)
    for (const name of namesIn(deps, join(swap, DOCS_FOLDER))) yield `sessions/${session}/${name}`
  }
}

function* namesIn(deps: Deps, folder: string): Generator<string> {
  for (const entry of entriesOf(deps, folder)) {
    const name = entry.isFile() && !entry.name.startsWith(".") ? fromFileName(entry.name) : undefined
    if (name !== undefined) yield name
  }
}

function foldersIn(deps: Deps, folder: string): string[] {
  return entriesOf(deps, folder)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

function entriesOf(deps: Deps, folder: string): ReturnType<Deps["files"]["readdir"]> {
  if (folder !== deps.layout.root && !isFolderOrNothing(deps.files, folder)) return []
  try {
    return deps.files.readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw deps.error(error, "list the documents", undefined, folder)
  }
}

/** Other names are not documents, and are ignored. */
function isDocKey(key: string): boolean {
  try {
    parseDocKey(key)
    return true
  } catch {
    return false
  }
}
