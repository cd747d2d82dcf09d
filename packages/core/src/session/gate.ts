/** Whether, and how, an open session whose log is not of this version may be written to. */
import { SessionError } from "../format/errors.ts"
import { unknownVersion } from "../transfer/older/identify.ts"
import { migrating } from "./rooms.ts"
import type { SharedSession, WriteGate } from "./shared-session.ts"
import type { LoadedLog } from "../log/loaded-log.ts"

export function gateOf(
  shared: SharedSession,
  { older, newer }: Pick<LoadedLog, "older" | "newer">,
  { migrateOnWrite }: { readonly migrateOnWrite: boolean },
): WriteGate {
  const { id, storage } = shared
  const about = { session: id, storage: storage.description }
  if (newer !== undefined) {
    const message = `The log of ${id} ${unknownVersion(newer.version)}. Use a newer program to write to it.`
    return { kind: "refused", error: new SessionError("newer_version", message, about) }
  }
  if (older === undefined) return { kind: "open" }
  if (migrateOnWrite && storage.capabilities.replace) {
    let running: Promise<void> | undefined
    const migrate = (): Promise<void> => (running ??= migrateOpen(shared).finally(() => (running = undefined)))
    return { kind: "migrate", migrate }
  }
  const why = migrateOnWrite ? `${storage.description} cannot replace a log` : "migrateOnWrite is off"
  const message = `The log of ${id} is of the older version ${older.version}, and ${why}: it is open for reading only. Fork it to go on.`
  return { kind: "refused", error: new SessionError("read_only", message, about) }
}

/** Writes the migrated log in the older one's place; the session goes on in it. */
async function migrateOpen(shared: SharedSession): Promise<void> {
  const { migrateStored } = await migrating.load()
  await migrateStored(shared.storage, shared.id, { blobs: shared.options.blobs })
  const head = await shared.storage.head(shared.id)
  if (head === undefined || !(await shared.reload())) {
    throw new SessionError(
      "conflict",
      `The log of ${shared.id} changed while it was migrated. Open the session again.`,
      { session: shared.id },
    )
  }
  shared.gate = { kind: "open" }
}
