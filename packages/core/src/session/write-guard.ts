/** Decides whether a log of another version can be written: never, after a migration, or freely. */
import { SessionError } from "../format/errors.ts"
import { unknownVersion } from "../format/identify.ts"
import { transferFeature } from "./features.ts"
import type { LiveSession } from "./live-session.ts"
import type { WriteGuard } from "./live.ts"
import type { LoadedLog } from "../log/loaded-log.ts"

export function writeGuardOf(
  live: LiveSession,
  { older, newer }: Pick<LoadedLog, "older" | "newer">,
  { migrateOnWrite }: { readonly migrateOnWrite: boolean },
): WriteGuard {
  const { id, storage } = live
  const about = { session: id, storage: storage.description }
  if (newer !== undefined) {
    const message = `The log of ${id} ${unknownVersion(newer.version)}. Use a newer program to write to it.`
    return { kind: "refused", error: new SessionError("newer_version", message, about) }
  }
  if (older === undefined) return { kind: "open" }
  if (migrateOnWrite && storage.capabilities.replace) {
    let running: Promise<void> | undefined
    const migrate = (): Promise<void> => (running ??= migrateInPlace(live).finally(() => (running = undefined)))
    return { kind: "migrate", migrate }
  }
  const why = migrateOnWrite ? `${storage.description} cannot replace a log` : "migrateOnWrite is off"
  const message = `The log of ${id} is of the older version ${older.version}, and ${why}: it is open for reading only. Fork the session to continue it.`
  return { kind: "refused", error: new SessionError("read_only", message, about) }
}

/** Replaces the stored log by its migration, and loads that into the session. */
async function migrateInPlace(live: LiveSession): Promise<void> {
  const { migrateStored } = await transferFeature()
  await migrateStored(live.storage, live.id, { blobs: live.options.blobs })
  const head = await live.storage.head(live.id)
  if (head === undefined || !(await live.reload())) {
    throw new SessionError("conflict", `The log of ${live.id} changed while it was migrated. Open the session again.`, {
      session: live.id,
    })
  }
  live.writeGuard = { kind: "open" }
}
