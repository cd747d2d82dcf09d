/** The blob store: each blob is a file named by its hash, in one of 256 folders named by the first two digits. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { type BlobInfo, type BlobAdapter, sha256Hex, StorageError } from "@sessions/core/storage"
import type { Deps } from "../deps.ts"
import { errnoOf, isMissing } from "../disk/errors.ts"
import type { FolderEntry } from "../disk/files.ts"
import { withLock } from "../lock/with-lock.ts"
import {
  checkInnerFolder,
  createFileSynced,
  discard,
  ensureFolder,
  isFolderOrNothing,
  notAFolder,
  retryBusy,
  readStart,
  readWhole,
  renameRetrying,
  syncFolder,
  toTemporary,
} from "../disk/small-files.ts"

export function createBlobStore(deps: Deps): BlobAdapter {
  const { files, layout } = deps
  const names: DurableNames = new Set()

  const folderOf = (hash: string): string => join(layout.blobs, hash.slice(0, 2))
  const pathOf = (hash: string): string => join(folderOf(hash), hash)

  /** A put renews the time of a blob that a collector may be about to delete, so both take a lock. */
  const withBlobLock = <T>(
    hash: string,
    signal: AbortSignal | undefined,
    work: (check: () => void) => Promise<T>,
  ): Promise<T> =>
    withLock(files, join(layout.locks, `.blobs-${hash.slice(0, 2)}.lock`), { timeout: deps.lockTimeout, signal }, work)

  const guarded = async <T>(hash: string, what: string, work: () => Promise<T>): Promise<T> => {
    try {
      deps.root.use()
      const link = [layout.blobs, folderOf(hash)].find((folder) => !isFolderOrNothing(files, folder))
      if (link !== undefined) throw notAFolder(link)
      return await work()
    } catch (error) {
      throw deps.error(error, `${what} blob ${hash}`, undefined, pathOf(hash))
    }
  }

  return {
    put: (hash, bytes, { signal }) =>
      guarded(hash, "put", () =>
        withBlobLock(hash, signal, async () => {
          // The content is compared, so that a put repairs a blob that the disk damaged.
          if (readStart(files, pathOf(hash), bytes.length + 1)?.equals(bytes) === true) {
            files.utimes(pathOf(hash), Date.now())
            await syncAbove(deps, folderOf(hash), names)
          } else await createBlob(deps, folderOf(hash), pathOf(hash), bytes, names)
          // Also for a blob that was there: its writer may have died before this step.
          await syncFolder(files, folderOf(hash))
        }),
      ),

    async get(hash) {
      const bytes = await guarded(hash, "read", async () => readWhole(files, pathOf(hash)))
      if (bytes === undefined) return undefined
      if ((await sha256Hex(bytes)) !== hash) {
        throw new StorageError("corrupt", `Blob ${hash} does not hold the bytes it is named by; it is left as it is.`, {
          storage: deps.description,
          at: pathOf(hash),
        })
      }
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    },

    has: (hash) => guarded(hash, "look for", async () => files.lstat(pathOf(hash))?.isFile() === true),

    delete: (hash, { signal, ifPutBefore }) =>
      guarded(hash, "delete", async () => {
        if (files.lstat(pathOf(hash)) === undefined) return false
        return withBlobLock(hash, signal, async (checkHeld) => {
          const stat = files.lstat(pathOf(hash))
          if (stat === undefined || !stat.isFile() || stat.mtimeMs >= ifPutBefore) return false
          await retryBusy(() => {
            checkHeld()
            files.unlink(pathOf(hash))
          })
          return true
        })
      }),

    async *list() {
      deps.root.use()
      for (const folder of entriesOf(deps, layout.blobs)) {
        if (!folder.isDirectory()) continue
        const entries = entriesOf(deps, join(layout.blobs, folder.name)).filter((entry) => entry.isFile())
        yield entries.flatMap((entry) => infoOf(deps, folder.name, entry.name) ?? [])
      }
    },
  }
}

/** Folders of blobs whose names this storage object made durable. They are never removed by a storage. */
type DurableNames = Set<string>

/** A blob gets its name when it is whole. */

async function createBlob(
  deps: Deps,
  folder: string,
  path: string,
  bytes: Uint8Array,
  names: DurableNames,
): Promise<void> {
  const { files, layout } = deps
  checkInnerFolder(files, layout.fresh)
  ensureFolder(files, layout.fresh)
  if (ensureFolder(files, folder)) names.delete(folder)
  await syncAbove(deps, folder, names)
  const put = async (temporary: string): Promise<void> => {
    await createFileSynced(files, temporary, bytes)
    try {
      await renameRetrying(files, temporary, path)
    } catch (error) {
      discard(files, temporary)
      throw error
    }
  }
  try {
    await put(join(layout.fresh, randomUUID()))
  } catch (error) {
    // Blobs on a volume of their own.
    if (errnoOf(error) !== "EXDEV") throw error
    await put(toTemporary(path))
  }
}

async function syncAbove({ files, layout, root }: Deps, folder: string, names: DurableNames): Promise<void> {
  if (names.has(folder)) return
  await syncFolder(files, layout.blobs)
  await root.sync()
  names.add(folder)
}

function infoOf(deps: Deps, folder: string, hash: string): BlobInfo | undefined {
  if (!/^[0-9a-f]{64}$/.test(hash) || !hash.startsWith(folder)) return undefined
  const stat = deps.files.lstat(join(deps.layout.blobs, folder, hash))
  return stat === undefined ? undefined : { hash, bytes: stat.size, putAt: Math.floor(stat.mtimeMs) }
}

function entriesOf(deps: Deps, folder: string): readonly FolderEntry[] {
  if (!isFolderOrNothing(deps.files, folder)) return []
  try {
    return deps.files.readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw deps.error(error, "list the blobs", undefined, folder)
  }
}
