/** Whether, and how, an open session whose log is not of this version may be written to. */
import { SessionError } from "../format/errors.ts"
import { unknownVersion } from "../format/identify.ts"
import { transferFeature } from "./features.ts"
import type { LiveSession } from "./live-session.ts"
import type { WriteGuard } from "./live.ts"
import type { LoadedLog } from "../log/loaded-log.ts"

export function writeGuardOf(
  shared: LiveSession,
  { older, newer }: Pick<LoadedLog, "older" | "newer">,
  { migrateOnWrite }: { readonly migrateOnWrite: boolean },
): WriteGuard {
  const { id, storage } = shared
  const about = { session: id, storage: storage.description }
  if (newer !== undefined) {
    const message = `The log of ${id} ${unknownVersion(newer.version)}. Use a newer program to write to it.`
    return { kind: "refused", error: new SessionError("newer_version", message, about) }
  }
  if (older === undefined) return { kind: "open" }
  if (migrateOnWrite && storage.capabilities.replace) {
    let running: Promise<void> | undefined
    const migrate = (): Promise<void> => (running ??= migrateInPlace(shared).finally(() => (running = undefined)))
    return { kind: "migrate", migrate }
  }
  const why = migrateOnWrite ? `${storage.description} cannot replace a log` : "migrateOnWrite is off"
  const message = `The log of ${id} is of the older version ${older.version}, and ${why}: it is open for reading only. Fork it to go on.`
  return { kind: "refused", error: new SessionError("read_only", message, about) }
}

/** Writes the migrated log in the older one's place; the session goes on in it. */
async function migrateInPlace(shared: LiveSession): Promise<void> {
  const { migrateStored } = await transferFeature()
  await migrateStored(shared.storage, shared.id, { blobs: shared.options.blobs })
  const head = await shared.storage.head(shared.id)
  if (head === undefined || !(await shared.reload())) {
    throw new SessionError(
      "conflict",
      `The log of ${shared.id} changed while it was migrated. Open the session again.`,
      { session: shared.id },
    )
  }
  shared.writeGuard = { kind: "open" }
}
