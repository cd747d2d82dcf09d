/** Storages below a folder: processes of all runtimes use the same one. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle, findRuntimes, type Runtime } from "../../../../packages/fs/test/crash/processes.ts"
import { readInProcess, startProcess } from "./processes.ts"
import type { Store } from "./store.ts"

/** `program` is the client. */
export async function openFolderStore(program: URL, atomicBatch: Store["atomicBatch"]): Promise<Store> {
  // Processes are killed, not machines, so memory does as well as a disk.
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-linear-"))
  const [bundled = ""] = await bundle(folder, [program])
  const runtimes = findRuntimes()
  let started = 0
  return {
    atomicBatch,
    async open(_, faults) {
      const root = mkdtempSync(join(folder, "root-"))
      return {
        start: (plan, recording, begun) => {
          const runtime = runtimes[started++ % runtimes.length] as Runtime
          return startProcess(runtime, bundled, { ...plan, place: { root, faults } }, recording, begun)
        },
        settle: async () => undefined,
        readStored: (plan) =>
          readInProcess(runtimes[0] as Runtime, bundled, { ...plan, place: { root, faults: false } }),
        remove: async () => rmSync(root, { recursive: true }),
      }
    },
    close: async () => rmSync(folder, { recursive: true, force: true }),
  }
}
