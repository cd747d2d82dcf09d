/** Changes one document by compare-and-set, and finds out whether a change whose outcome is unknown has happened. */
import { hasStorageCode, type SessionStorage } from "@sessions/core/storage"

/** Attempts after an unknown outcome. Each repeats the same bytes on the same version, so a late one changes nothing more. */
const ATTEMPTS = 5

/** The new version; undefined if the stored version is another one. */
export async function putDocument(
  { docs }: SessionStorage,
  key: string,
  text: string,
  expect: string | null,
): Promise<string | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await docs.put(key, text, { expect })
    } catch (error) {
      if (hasStorageCode(error, "conflict")) {
        // After an unknown outcome, the put that was made may be our own.
        const stored = attempt === 1 ? undefined : await docs.get(key)
        return stored?.text === text ? stored.version : undefined
      }
      if (!hasStorageCode(error, "indeterminate") || attempt === ATTEMPTS) throw error
    }
  }
}

/** Removes the document, whatever its version. */
export async function deleteDocument({ docs }: SessionStorage, key: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const stored = await docs.get(key)
    if (stored === undefined) return
    try {
      return await docs.delete(key, { expect: stored.version })
    } catch (error) {
      const again = hasStorageCode(error, "conflict") || hasStorageCode(error, "indeterminate")
      if (!again || attempt === ATTEMPTS) throw error
    }
  }
}
