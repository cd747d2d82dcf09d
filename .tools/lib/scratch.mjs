import { existsSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"

const IN_MEMORY = "/dev/shm"
/** What the profiles of all browsers and the files of a server take is below one; containers have 64 MB there by default. */
const ENOUGH = 2 * 1024 ** 3

/**
 * A folder for files of browsers and servers that nobody reads after a run, in memory if the system has room there: their syncs would hold up the disk for
 * the tests that wait for it.
 */
export function scratch() {
  if (!existsSync(IN_MEMORY)) return tmpdir()
  const { bavail, bsize } = statfsSync(IN_MEMORY)
  return bavail * bsize >= ENOUGH ? IN_MEMORY : tmpdir()
}
