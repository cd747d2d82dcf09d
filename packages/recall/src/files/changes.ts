/** Changes of memory files whose outcome the storage did not tell, and changes that are repeated behind those of other writers. */
import { hasStorageCode, StorageError } from "@sessions/core/storage"
import type { MemoryFiles } from "./types.ts"

/** Attempts at one change. Each repeats the same text on the same version, so a late one changes nothing more. */
const ATTEMPTS = 5

/** The same files. A change whose outcome is unknown is repeated, and is made if the file is what the change makes of it. */
export function withKnownOutcomes(files: MemoryFiles): MemoryFiles {
  return {
    list: (o) => files.list(o),
    read: (name, o) => files.read(name, o),
    write: (name, text, o) =>
      foundOut(
        () => files.write(name, text, o),
        async () => {
          const file = await files.read(name)
          return file?.text === text ? { made: file.version } : undefined
        },
      ),
    delete: (name, o) =>
      foundOut(
        () => files.delete(name, o),
        async () => ((await files.read(name)) === undefined ? { made: undefined } : undefined),
      ),
  }
}

async function foundOut<T>(
  change: () => Promise<T>,
  find: () => Promise<{ readonly made: T } | undefined>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change()
    } catch (error) {
      const found = hasStorageCode(error, "conflict") && attempt > 1 ? await find() : undefined
      if (found !== undefined) return found.made
      if (!hasStorageCode(error, "indeterminate") || attempt === ATTEMPTS) throw error
    }
  }
}

/** Each conflict means that another writer succeeded, so only a storage that does not keep its promise reaches this. */
const CONFLICTS = 1_000

/** Repeats a change that reads the file first, until no other writer is faster. */
export async function retried<T>(name: string, attempt: () => Promise<T>): Promise<T> {
  for (let count = 0; count < CONFLICTS; count++) {
    try {
      return await attempt()
    } catch (error) {
      if (!hasStorageCode(error, "conflict")) throw error
    }
  }
  throw new StorageError("conflict", `${name} was changed by others at each of ${CONFLICTS} attempts: repeat the call.`)
}
