/** The SQLite storage as a subject of the conformance suite, with faults in the library below it. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Subject } from "@sessions/conformance"
import type { Capabilities, SessionStorage } from "@sessions/core/storage"
import { createSqliteStorage, type SqliteStorageOptions } from "@sessions/sqlite"
import { openDatabase } from "../src/driver/library.ts"
import { type Faults, withFaults } from "./faults.ts"

/** A folder, because SQLite keeps two files next to the database, and the faults to inject there. */
interface Location {
  readonly folder: string
  readonly faults: Faults
}

export const onDisk: Subject<Location> = createSubject("sqlite", { maxBatchBytes: 4_000_000 })
export const relaxed: Subject<Location> = createSubject("sqlite os", { durability: "os" })

/** What {@link relaxed} can do, for runners that must know before a case starts. */
export const capabilities: Capabilities = createSqliteStorage({ path: "unused" }).capabilities

const processes = new WeakMap<SessionStorage, { dead: boolean }>()

/** `options.open`: the library below the faults; that of the runtime if it is missing. A file has one library per process: locks of two are no locks. */
export function createSubject(name: string, options: Omit<SqliteStorageOptions, "path">): Subject<Location> {
  const { open = openDatabase } = options
  return {
    name,
    makeLocation: () => ({ folder: mkdtempSync(join(folderFor(options), "sessions-sqlite-")), faults: {} }),
    open({ folder, faults }) {
      const process = { dead: false }
      const storage = createSqliteStorage({ ...options, path: fileIn(folder), open: withFaults(faults, process, open) })
      processes.set(storage, process)
      return storage
    },
    removeLocation: ({ folder }) => rmSync(folder, { recursive: true }),
    corruptLine({ folder }, session, seq) {
      const database = open(fileIn(folder))
      const rows = "FROM batch WHERE n = (SELECT n FROM session WHERE id = ?) AND seq <= ? ORDER BY seq DESC LIMIT 1"
      const row = database.prepare(`SELECT rowid AS row, seq, body ${rows}`).get(session, seq)
      const { row: id, seq: first, body } = row as { row: number; seq: number; body: Uint8Array }
      let at = 0
      for (let line = first; line < seq; line++) at = body.indexOf(10, at) + 1
      body[at] = 0xff
      database.prepare("UPDATE batch SET body = ? WHERE rowid = ?").run(body, id)
      database.close()
    },
    corruptHead({ folder }, session) {
      const database = open(fileIn(folder))
      database.prepare("UPDATE session SET bytes = -1 WHERE id = ?").run(session)
      database.close()
    },
    contains: ({ folder }, text) => readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(text)),
    crash(storage) {
      const process = processes.get(storage)
      if (process !== undefined) process.dead = true
    },
    // No `late`: SQLite does not commit a failed transaction later by itself while a connection is open.
    faults: {
      quota: arm("full"),
      requestLost: arm("lostBefore"),
      responseLost: arm("lostAfter"),
      busy: arm("busy"),
      removal({ faults }) {
        faults.removal = Number.POSITIVE_INFINITY
        return () => {
          faults.removal = 0
        }
      },
    },
  }
}

function fileIn(folder: string): string {
  return join(folder, "sessions.db")
}

function arm(fault: keyof Faults): (location: Location) => void {
  return ({ faults }) => {
    faults[fault] = 1
  }
}

/** A disk that is busy with others takes milliseconds for a commit; if no sync is asked for, memory does as well. */
function folderFor({ durability }: Omit<SqliteStorageOptions, "path">): string {
  return durability === "os" && existsSync("/dev/shm") ? "/dev/shm" : tmpdir()
}
