/** Whether a log of another version can be written: never, after a migration, or freely. */
import { SessionError } from "../format/errors.ts"
import { unknownVersion } from "../format/identify.ts"
import type { LoadedLog } from "../log/load.ts"
import type { WriteGuard } from "./live-types.ts"
import type { SessionStorage } from "../storage/contract.ts"

export function writeGuardOf(
  { older, newer }: Pick<LoadedLog, "older" | "newer">,
  id: string,
  storage: SessionStorage,
  migrateOnWrite: boolean,
): WriteGuard {
  const about = { session: id, storage: storage.description }
  if (newer !== undefined) {
    const message = `The log of ${id} ${unknownVersion(newer.version)}. Use a newer program to write to it.`
    return { kind: "refused", error: new SessionError("newer_version", message, about) }
  }
  if (older === undefined) return { kind: "open" }
  if (migrateOnWrite && storage.capabilities.replace) return { kind: "migrate", reader: older.reader }
  const why = migrateOnWrite ? `${storage.description} cannot replace a log` : "migrateOnWrite is off"
  const message = `The log of ${id} is of the older version ${older.version}, and ${why}: it is open for reading only. Fork the session to continue it.`
  return { kind: "refused", error: new SessionError("read_only", message, about) }
}
