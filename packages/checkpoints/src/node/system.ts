/** The calls to the file system, in one place so that tests can change the folder between any two of them. */
import * as fs from "node:fs"

export type System = Pick<
  typeof fs,
  | "closeSync"
  | "fchmodSync"
  | "fstatSync"
  | "lstatSync"
  | "mkdirSync"
  | "openSync"
  | "readdirSync"
  | "readSync"
  | "realpathSync"
  | "renameSync"
  | "rmdirSync"
  | "statSync"
  | "unlinkSync"
  | "writeSync"
>

export const SYSTEM: System = fs

// Windows lacks the first three, which then count as 0; there a link is found by the checks before.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_CREAT, O_EXCL, O_RDONLY, O_WRONLY } = fs.constants

export const OPEN_FOLDER: number = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
/** Not blocking: a pipe would wait for a writer. */
export const OPEN_FILE: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
export const CREATE_FILE: number = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW

export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT"
}

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}
