import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Subject } from "@sessions/conformance"
import type { SessionStorage } from "@sessions/core/storage"
import type { Faults } from "./faults.ts"
import { faulty } from "./faults.ts"
import { openDriver } from "./src/driver.ts"
import { createSqliteStorage } from "./src/index.ts"

/** A folder of its own, because beside the database lie its WAL and its shared memory; and what is to go wrong there. */
interface Place {
  readonly folder: string
  readonly faults: Faults
}

const processes = new WeakMap<SessionStorage, { dead: boolean }>()

const arm = (fault: keyof Faults, times: number) => (place: Place) => {
  place.faults[fault] = times
}

const subject: Subject<Place> = {
  name: "sqlite",
  makeLocation: () => ({ folder: mkdtempSync(join(tmpdir(), "sessions-sqlite-")), faults: {} }),
  open({ folder, faults }) {
    const process = { dead: false }
    const storage = createSqliteStorage(join(folder, "sessions.db"), faulty(faults, process))
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
  crash(storage) {
    const process = processes.get(storage)
    if (process) process.dead = true
  },
  // No `late`: what was not committed when SQLite answered is not committed by itself while anybody looks.
  faults: {
    quota: arm("full", 1),
    responseLost: arm("lostAfter", 1),
    requestLost: arm("lostBefore", 1),
    busy: arm("busy", 1),
  },
}
export default subject
