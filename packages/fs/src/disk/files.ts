/**
 * The interface to the file system. Every operation of this storage goes through it, so that tests can make any of them fail, hang
 * or lie. Errors are the system's own (`code: "ENOSPC"`); `errors.ts` translates them.
 *
 * Small operations are synchronous, because a promise costs several times what appending 2 KB does. Bulk reads, removing folders and
 * everything that waits for the disk are asynchronous.
 */
import * as fs from "node:fs"

export interface FileStat {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
  readonly nlink: number
  /** Permissions in the lowest 12 bits, as `stat` of POSIX has them. */
  readonly mode: number
  isFile(): boolean
  isDirectory(): boolean
}

export interface FolderEntry {
  readonly name: string
  isFile(): boolean
  isDirectory(): boolean
}

export interface Files {
  open(path: string, flags: number, mode?: number): number
  close(fd: number): void
  /** Writes at the end of a file opened for appending, else at the descriptor's position. */
  write(fd: number, bytes: Uint8Array, offset: number, length: number): number
  read(fd: number, into: Uint8Array, offset: number, length: number, position: number): number
  readAsync(fd: number, into: Uint8Array, offset: number, length: number, position: number): Promise<number>
  fstat(fd: number): FileStat
  /** Undefined if nothing is there. Does not follow a symbolic link. */
  lstat(path: string): FileStat | undefined
  truncate(fd: number, size: number): void
  fdatasync(fd: number): Promise<void>
  fsync(fd: number): Promise<void>
  rename(from: string, to: string): void
  unlink(path: string): void
  mkdir(path: string, mode: number): void
  readdir(path: string): readonly FolderEntry[]
  /** Sets access and modification time, in milliseconds since the epoch. */
  utimes(path: string, ms: number): void
  /** Removes a folder and its content. A missing folder is no error. */
  remove(path: string): Promise<void>
  /** Calls back when something in the folder may have changed, with its name if the system tells it. */
  watch(path: string, changed: (name: string | undefined) => void): { close(): void }
}

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = fs.constants
/** Windows has no such flag, and needs a privilege to create a link. */
const O_NOFOLLOW = fs.constants.O_NOFOLLOW ?? 0
/** Without it, opening a pipe in the place of a file would wait for the pipe's other end. Windows has neither. */
const O_NONBLOCK = fs.constants.O_NONBLOCK ?? 0

export const READ: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
/** Follows a link: for the root and the folders above it. */
export const READ_LINKED: number = O_RDONLY | O_NONBLOCK
/** Writes from the start over the existing content. */
export const REWRITE: number = O_RDWR | O_NOFOLLOW
/** Every write goes to the end, also with several writers. */
export const APPEND: number = O_RDWR | O_APPEND | O_NOFOLLOW
/** Fails if the file exists. */
export const CREATE: number = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW

export const nodeFiles: Files = {
  open: (path, flags, mode) => fs.openSync(path, flags, mode),
  close: (fd) => fs.closeSync(fd),
  write: (fd, bytes, offset, length) => fs.writeSync(fd, bytes, offset, length, null),
  read: (fd, into, offset, length, position) => fs.readSync(fd, into, offset, length, position),
  readAsync: (fd, into, offset, length, position) =>
    new Promise((resolve, reject) => {
      fs.read(fd, into, offset, length, position, (error, count) => (error === null ? resolve(count) : reject(error)))
    }),
  fstat: (fd) => fs.fstatSync(fd),
  lstat: (path) => fs.lstatSync(path, { throwIfNoEntry: false }),
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  fdatasync: (fd) => settled((done) => fs.fdatasync(fd, done)),
  fsync: (fd) => settled((done) => fs.fsync(fd, done)),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  mkdir: (path, mode) => fs.mkdirSync(path, { mode }),
  readdir: (path) => fs.readdirSync(path, { withFileTypes: true }),
  utimes: (path, ms) => fs.utimesSync(path, ms / 1000, ms / 1000),
  remove: (path) => fs.promises.rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 }),
  watch: (path, changed) => {
    const watcher = fs.watch(path, { persistent: false }, (_, name) => changed(name ?? undefined))
    watcher.on("error", () => watcher.close())
    return watcher
  },
}

function settled(start: (done: (error: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    start((error) => (error === null ? resolve() : reject(error)))
  })
}
