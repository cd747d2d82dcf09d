/** The SQLite storage as a subject of the conformance suite, with its faults. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Subject } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"
import { type Faults, withFaults } from "./faults.ts"
import { openDriver } from "./src/driver.ts"
import { createSqliteStorage } from "./src/index.ts"

/** A folder, because SQLite keeps the WAL and the shared memory next to the database, and the faults to inject there. */
interface Location {
  readonly folder: string
  readonly faults: Faults
}

const processes = new WeakMap<SessionStorage, { dead: boolean }>()

const arm = (fault: keyof Faults, times: number) => (location: Location) => {
  location.faults[fault] = times
}

const subject: Subject<Location> = {
  name: "sqlite-example",
  makeLocation: () => ({ folder: mkdtempSync(join(tmpdir(), "sessions-sqlite-")), faults: {} }),
  open({ folder, faults }) {
    const process = { dead: false }
    const storage = createSqliteStorage(join(folder, "sessions.db"), withFaults(faults, process))
    processes.set(storage, process)
    return storage
  },
  removeLocation: ({ folder }) => rmSync(folder, { recursive: true }),
  async corruptLine({ folder }, session, seq) {
    const driver = await openDriver(join(folder, "sessions.db"))
    const log = "(SELECT head ->> 'log' FROM sessions WHERE id = ?)"
    driver.prepare(`UPDATE lines SET line = x'ff' WHERE log = ${log} AND seq = ?`).run(session, seq)
    driver.close()
  },
  async corruptHead({ folder }, session) {
    const driver = await openDriver(join(folder, "sessions.db"))
    driver.prepare("UPDATE sessions SET head = substr(head, 2) WHERE id = ?").run(session)
    driver.close()
  },
  contains: ({ folder }, text) => readdirSync(folder).some((name) => readFileSync(join(folder, name)).includes(text)),
  crash(storage) {
    const process = processes.get(storage)
    if (process) process.dead = true
  },
  // No `late`: SQLite does not commit a failed transaction later by itself while a connection is open.
  faults: {
    quota: arm("full", 1),
    responseLost: arm("lostAfter", 1),
    requestLost: arm("lostBefore", 1),
    busy: arm("busy", 1),
  },
}
export default subject
