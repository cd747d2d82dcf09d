/** A log of another version: what its first write does, and what becomes of it when another writer changes it. */
import type { BlobLimits } from "../format/blobs.ts"
import { hasCode, SessionError } from "../format/errors.ts"
import { unknownVersion } from "../format/identify.ts"
import type { LoadedLog } from "../log/load.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { deletedSessionError } from "../write/errors.ts"
import type { OtherVersion, ReloadableSession } from "./live-types.ts"
import { reload } from "./reload.ts"

interface MigratedSession extends ReloadableSession {
  readonly options: ReloadableSession["options"] & {
    readonly blobs: BlobLimits
    readonly now: () => number
    readonly migrateOnWrite: boolean
  }
}

/** Of a session whose log is of another version. */
export function otherVersionOf(live: MigratedSession, loaded: Pick<LoadedLog, "older" | "newer">): OtherVersion {
  const { storage, id, options, store, state } = live
  const refusal = refusalOf(live, loaded)
  return {
    refusal,

    async migrate() {
      if (refusal !== undefined) throw refusal
      await loaded.older?.reader.replace(storage, id, options).catch((error: unknown) => {
        store.outdated = hasCode(error, "not_found")
        throw error
      })
      if ((await storage.head(id)) !== undefined && (await reload(live))) return
      store.outdated = true
      const message = `The log of ${id} changed while it was migrated. Open the session again.`
      throw new SessionError("conflict", message, { session: id })
    },

    async checkUnchanged(seen) {
      const { head } = state
      const stored = seen ?? (await retryUnavailable(() => storage.head(id)))
      if (stored?.next === head.next && stored.log === head.log) return
      store.outdated = true
      if (stored === undefined) throw deletedSessionError(live, [])
      const message = `The log of ${id}, which is of another version, was changed by another writer. Open the session again.`
      throw new SessionError("conflict", message, { session: id, storage: storage.description })
    },
  }
}

/** Undefined if the first write migrates the log. */
function refusalOf(
  { id, storage, options: { migrateOnWrite } }: MigratedSession,
  { older, newer }: Pick<LoadedLog, "older" | "newer">,
): SessionError | undefined {
  const about = { session: id, storage: storage.description }
  if (newer !== undefined) {
    const message = `The log of ${id} ${unknownVersion(newer.version)}. Use a newer program to write to it.`
    return new SessionError("newer_version", message, about)
  }
  if (older === undefined || (migrateOnWrite && storage.capabilities.replace)) return undefined
  const why = migrateOnWrite ? `${storage.description} cannot replace a log` : "migrateOnWrite is off"
  const message = `The log of ${id} is of the older version ${older.version}, and ${why}: it is open for reading only. Fork the session to continue it.`
  return new SessionError("read_only", message, about)
}
