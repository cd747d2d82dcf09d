/** The calls to the file system, in one place so that tests can change a file, or kill the process, before any of them. */
import * as fs from "node:fs"

export type System = Pick<
  typeof fs,
  | "closeSync"
  | "fstatSync"
  | "fsyncSync"
  | "openSync"
  | "readdirSync"
  | "readFileSync"
  | "realpathSync"
  | "renameSync"
  | "unlinkSync"
  | "writeSync"
>

export const SYSTEM: System = fs

// Windows lacks all but the first three, which then count as 0.
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = fs.constants

/** Not blocking: a pipe in the place of a file would wait for a writer. */
export const OPEN_FILE: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
export const OPEN_FOLDER: number = O_RDONLY | O_DIRECTORY
export const CREATE_FILE: number = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | null)?.code
}

export function isMissing(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR"
}
