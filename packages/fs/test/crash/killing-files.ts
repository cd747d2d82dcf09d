/** Files on which the process ends, or operations fail, where the plan says so. */
import { type Files, nodeFiles } from "../../src/disk/files.ts"
import { systemError } from "../faulty-files.ts"
import type { KillStep, OpKind } from "./protocol.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface KillingFiles extends Files {
  /** The change that is under way. */
  during: OpKind | undefined
}

export function createKillingFiles(kill: KillStep | undefined, errors: number, random: Dice): KillingFiles {
  let step = 0
  const isHere = (): boolean => {
    const counts =
      kill !== undefined && state.during !== undefined && (kill.kind === "any" || kill.kind === state.during)
    return counts && step++ === kill.step
  }
  const fails = (): boolean => state.during !== undefined && random.next() < errors
  const change = <T>(work: () => T): T => {
    const here = isHere()
    if (here && kill?.phase !== "after") die()
    if (fails()) throw systemError(random.pick(ERRORS))
    const outcome = work()
    if (here) die()
    return outcome
  }
  const changeLater = async (work: () => Promise<void>): Promise<void> => {
    const here = isHere()
    if (here && kill?.phase !== "after") die()
    if (fails()) throw systemError("EIO")
    await work()
    if (here) die()
  }
  const state: KillingFiles = {
    ...nodeFiles,
    during: undefined,
    write(fd, bytes, offset, length) {
      const here = isHere()
      if (here && kill?.phase === "before") die()
      if (here && kill?.phase === "half") {
        nodeFiles.write(fd, bytes, offset, random.below(length))
        die()
      }
      if (fails()) {
        if (random.next() < 0.5) throw systemError("ENOSPC")
        return nodeFiles.write(fd, bytes, offset, random.below(length))
      }
      const written = nodeFiles.write(fd, bytes, offset, length)
      if (here) die()
      return written
    },
    open: (path, flags, mode) =>
      mode === undefined ? nodeFiles.open(path, flags) : change(() => nodeFiles.open(path, flags, mode)),
    truncate: (fd, size) => change(() => nodeFiles.truncate(fd, size)),
    fdatasync: (fd) => changeLater(() => nodeFiles.fdatasync(fd)),
    fsync: (fd) => changeLater(() => nodeFiles.fsync(fd)),
    rename: (from, to) => change(() => nodeFiles.rename(from, to)),
    unlink: (path) => change(() => nodeFiles.unlink(path)),
    mkdir: (path, mode) => change(() => nodeFiles.mkdir(path, mode)),
    utimes: (path, ms) => change(() => nodeFiles.utimes(path, ms)),
    remove: (path) => changeLater(() => nodeFiles.remove(path)),
  }
  return state
}

const ERRORS = ["EIO", "ENOSPC"] as const

function die(): never {
  process.kill(process.pid, "SIGKILL")
  // The signal may take a moment; nothing may happen in it.
  for (;;);
}
