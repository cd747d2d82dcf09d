/** Asks for the server's settings at the first connection, and checks that they keep what the option `durability` promises. */
import { type Capabilities, StorageError } from "@sessions/core/storage"
import type { Connection } from "./database.ts"

interface Settings {
  readonly version: string | number
  readonly standby: boolean
  readonly fsync: string
  readonly commit: string
  readonly standbys: string
  readonly encoding: string
}

const SETTINGS = `SELECT current_setting('server_version_num')::int AS version, pg_is_in_recovery() AS standby,
  current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit,
  current_setting('synchronous_standby_names') AS standbys, current_setting('server_encoding') AS encoding`

/** Generated columns. */
const OLDEST = 120_000

export interface Server {
  /** Whether texts in the database are UTF-8. With another encoding, characters are lost or replaced by similar ones. */
  readonly isUtf8: boolean
}

/** Rejects with `unsupported` if an acknowledged append would not survive what `durability` says. A standby, which writes nothing, is not checked. */
export async function checkServer(db: Connection, durability: Capabilities["durability"]): Promise<Server> {
  const [settings] = await db.query<Settings>(SETTINGS)
  if (settings === undefined) return { isUtf8: false }
  if (Number(settings.version) < OLDEST) throw unsupportedError("The server is older than PostgreSQL 12; update it.")
  const problem = settings.standby ? undefined : problemOf(settings, durability)
  if (problem !== undefined) throw unsupportedError(`durability "${durability}" is not possible here: ${problem}.`)
  return { isUtf8: settings.encoding === "UTF8" }
}

function problemOf({ fsync, commit, standbys }: Settings, durability: Capabilities["durability"]): string | undefined {
  if (durability === "none" || durability === "os") return undefined
  if (fsync !== "on") return 'the server runs with fsync = off; turn it on, or choose "os"'
  if (commit === "off") return 'synchronous_commit is off for this role; set it to on, or choose "os"'
  if (durability === "disk") return undefined
  if (standbys === "") return 'synchronous_standby_names is empty; name a standby, or choose "disk"'
  if (commit === "local") return 'synchronous_commit is local for this role; set it to on, or choose "disk"'
  return undefined
}

function unsupportedError(message: string): StorageError {
  return new StorageError("unsupported", message)
}
