/** Byte strings, each a file named by its hash, in 256 folders by the first two digits. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { type BlobInfo, type BlobAdapter, sha256Hex, StorageError } from "@sessions/core/storage"
import type { Environment } from "../environment.ts"
import { isMissing } from "../errors.ts"
import type { FolderEntry } from "../disk/files.ts"
import { locked } from "../lock/locked.ts"
import {
  checkInnerFolder,
  createFileSynced,
  discard,
  ensureFolder,
  isFolderOrNothing,
  notAFolder,
  patiently,
  readStart,
  readWhole,
  renamePatiently,
  syncFolder,
} from "../disk/small-files.ts"

export function createBlobStore(env: Environment): BlobAdapter {
  const { files, layout } = env

  const folderOf = (hash: string): string => join(layout.blobs, hash.slice(0, 2))
  const pathOf = (hash: string): string => join(folderOf(hash), hash)

  /** A put makes young what a collector may be about to remove: the two take turns. */
  const inTurn = <T>(
    hash: string,
    signal: AbortSignal | undefined,
    work: (check: () => void) => Promise<T>,
  ): Promise<T> =>
    locked(files, join(layout.locks, `.blobs-${hash.slice(0, 2)}.lock`), { timeout: env.lockTimeout, signal }, work)

  const guarded = async <T>(hash: string, what: string, work: () => Promise<T>): Promise<T> => {
    try {
      const link = [layout.blobs, folderOf(hash)].find((folder) => !isFolderOrNothing(files, folder))
      if (link !== undefined) throw notAFolder(link)
      return await work()
    } catch (error) {
      throw env.error(error, `${what} blob ${hash}`, undefined, pathOf(hash))
    }
  }

  return {
    put: (hash, bytes, { signal }) =>
      guarded(hash, "put", () =>
        inTurn(hash, signal, async () => {
          // Compared, not taken for right: what a broken disk left of it is put right by the next put.
          if (readStart(files, pathOf(hash), bytes.length + 1)?.equals(bytes) === true)
            files.utimes(pathOf(hash), Date.now())
          else await createBlob(env, folderOf(hash), pathOf(hash), bytes)
        }),
      ),

    async get(hash) {
      const bytes = await guarded(hash, "read", async () => readWhole(files, pathOf(hash)))
      if (bytes === undefined) return undefined
      if ((await sha256Hex(bytes)) !== hash) {
        throw new StorageError("corrupt", `Blob ${hash} does not hold the bytes it is named by; it is left as it is.`, {
          storage: env.description,
          at: pathOf(hash),
        })
      }
      return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    },

    has: (hash) => guarded(hash, "look for", async () => files.lstat(pathOf(hash))?.isFile() === true),

    delete: (hash, { signal, ifPutBefore }) =>
      guarded(hash, "delete", async () => {
        if (files.lstat(pathOf(hash)) === undefined) return false
        return inTurn(hash, signal, async (checkHeld) => {
          const stat = files.lstat(pathOf(hash))
          if (stat === undefined || !stat.isFile() || stat.mtimeMs >= ifPutBefore) return false
          await patiently(() => {
            checkHeld()
            files.unlink(pathOf(hash))
          })
          return true
        })
      }),

    async *list() {
      for (const folder of entriesOf(env, layout.blobs)) {
        if (!folder.isDirectory()) continue
        const entries = entriesOf(env, join(layout.blobs, folder.name)).filter((entry) => entry.isFile())
        yield entries.flatMap((entry) => infoOf(env, folder.name, entry.name) ?? [])
      }
    },
  }
}

async function createBlob(env: Environment, folder: string, path: string, bytes: Uint8Array): Promise<void> {
  const { files, layout } = env
  checkInnerFolder(files, layout.fresh)
  ensureFolder(files, layout.fresh)
  const temporary = join(layout.fresh, randomUUID())
  await createFileSynced(files, temporary, bytes)
  try {
    ensureFolder(files, folder)
    await renamePatiently(files, temporary, path)
  } catch (error) {
    discard(files, temporary)
    throw error
  }
  await syncFolder(files, folder)
}

function infoOf(env: Environment, folder: string, hash: string): BlobInfo | undefined {
  if (!/^[0-9a-f]{64}$/.test(hash) || !hash.startsWith(folder)) return undefined
  const stat = env.files.lstat(join(env.layout.blobs, folder, hash))
  return stat === undefined ? undefined : { hash, bytes: stat.size, putAt: Math.floor(stat.mtimeMs) }
}

function entriesOf(env: Environment, folder: string): readonly FolderEntry[] {
  if (!isFolderOrNothing(env.files, folder)) return []
  try {
    return env.files.readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw env.error(error, "list the blobs", undefined, folder)
  }
}
