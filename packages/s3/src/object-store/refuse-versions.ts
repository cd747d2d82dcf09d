/**
 * Refuses writes to a versioned bucket: it would keep the replaced tail of each append, and the content of deleted sessions. Any
 * answer may show that the bucket is versioned, so this holds also for a bucket that was not probed.
 */
import { type ObjectStore, ObjectStoreError } from "./object-store.ts"

export interface VersionedBucket {
  /** Rejects a PUT with `versioned`, before it is sent, once an answer has shown versions. */
  readonly store: ObjectStore
  /** Whether an answer has shown versions. */
  readonly isVersioned: () => boolean
}

export function refuseVersions(store: ObjectStore): VersionedBucket {
  let versioned = false
  const observe = <T>(answer: T): T => {
    if (typeof answer === "object" && answer !== null && "versioned" in answer) versioned ||= answer.versioned === true
    return answer
  }
  return {
    isVersioned: () => versioned,
    store: {
      get: async (key, o) => observe(await store.get(key, o)),
      head: async (key, o) => observe(await store.head(key, o)),
      async put(key, bytes, o) {
        if (versioned) throw new ObjectStoreError("versioned", "not sent", { certain: true })
        return observe(await store.put(key, bytes, o))
      },
      list: (prefix, o) => store.list(prefix, o),
      delete: (key, o) => store.delete(key, o),
    },
  }
}
