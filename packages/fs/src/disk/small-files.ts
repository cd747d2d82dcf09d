/** Reads, creates, replaces and syncs small files and folders. A reader sees the old content or the new, never a mixture. */
import { randomUUID } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { StorageError } from "@sessions/core/storage"
import { errnoOf, isNoFile } from "./errors.ts"
import { APPEND, CREATE, type Files, type FileStat, READ } from "./files.ts"
import { FILE_MODE, FOLDER_MODE } from "./layout.ts"
import { RANDOM_NAME } from "./file-names.ts"

/** The bytes of a file; undefined if there is no regular file. A file that is too large for memory is an error. */
export function readWhole(files: Files, path: string): Buffer | undefined {
  return readFile(files, path, (size) => {
    if (size <= LARGEST_BYTES) return size
    throw Object.assign(new Error(`${path} is too large to be read at once`), { code: "ERR_FS_FILE_TOO_LARGE" })
  })
}

/**
 * The same for derived data: what cannot be read, as a file that root has written, or is larger than any valid file, is a missing file.
 * `opened` is called with the file that the bytes are read from.
 */
export function readDerived(files: Files, path: string, opened?: (file: FileStat) => void): Buffer | undefined {
  try {
    return readFile(files, path, (size) => (size <= LARGEST_DERIVED_BYTES ? size : undefined), opened)
  } catch {
    return undefined
  }
}

/** At most the first `most` bytes of a file; undefined as for {@link readWhole}. */
export function readStart(files: Files, path: string, most: number): Buffer | undefined {
  return readFile(files, path, (size) => Math.min(size, most))
}

function readFile(
  files: Files,
  path: string,
  toLength: (size: number) => number | undefined,
  opened?: (file: FileStat) => void,
): Buffer | undefined {
  let fd: number
  try {
    fd = files.open(path, READ)
  } catch (error) {
    if (isNoFile(error)) return undefined
    throw error
  }
  try {
    const stat = files.fstat(fd)
    opened?.(stat)
    const length = stat.isFile() ? toLength(stat.size) : undefined
    return length === undefined ? undefined : readFully(files, fd, 0, length)
  } finally {
    files.close(fd)
  }
}

/** Fewer than `length` bytes if the file ends before. */
export function readFully(files: Files, fd: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let have = 0
  while (have < length) {
    const count = files.read(fd, bytes, have, length - have, position + have)
    if (count === 0) break
    have += count
  }
  return bytes.subarray(0, have)
}

export function writeFully(files: Files, fd: number, bytes: Uint8Array): void {
  let done = 0
  while (done < bytes.length) {
    const count = files.write(fd, bytes, done, bytes.length - done)
    if (count === 0) throw Object.assign(new Error("nothing could be written"), { code: "ENOSPC" })
    done += count
  }
}

/** Creates a file that must not exist; leaves nothing behind if it fails. */
export function createFile(files: Files, path: string, bytes: Uint8Array): void {
  const fd = files.open(path, CREATE, FILE_MODE)
  try {
    writeFully(files, fd, bytes)
  } catch (error) {
    files.close(fd)
    discard(files, path)
    throw error
  }
  files.close(fd)
}

/** The same, with the content on stable storage when it resolves. The name is durable once the folder is synced. */
export function createFileSynced(files: Files, path: string, bytes: Uint8Array): Promise<void> {
  return createSynced(files, path, (fd) => writeFully(files, fd, bytes))
}

/** The same with a range of another file, which need not fit into memory. */
export function copySynced(files: Files, path: string, from: number, range: ByteRange): Promise<void> {
  return createSynced(files, path, (fd) => {
    for (let at = range.start; at < range.end; at += COPY_BYTES) {
      writeFully(files, fd, readFully(files, from, at, Math.min(COPY_BYTES, range.end - at)))
    }
  })
}

async function createSynced(files: Files, path: string, write: (fd: number) => void): Promise<void> {
  const fd = files.open(path, CREATE, FILE_MODE)
  try {
    write(fd)
    await files.fdatasync(fd)
  } catch (error) {
    files.close(fd)
    discard(files, path)
    throw error
  }
  files.close(fd)
}

/** Replaces a file by a rename, without waiting for the disk. */
export function replaceFile(files: Files, path: string, text: string): void {
  const temporary = toTemporary(path)
  createFile(files, temporary, Buffer.from(text, "utf8"))
  try {
    files.rename(temporary, path)
  } catch (error) {
    discard(files, temporary)
    throw error
  }
}

/** A name in the same folder that no part, document or id has. */
export function toTemporary(path: string): string {
  return join(dirname(path), `${TEMPORARY}${randomUUID()}`)
}

export function isTemporary(name: string): boolean {
  return IS_TEMPORARY.test(name)
}

export const TEMPORARY = ".tmp-"
const IS_TEMPORARY = new RegExp(`^\\.tmp-${RANDOM_NAME}$`)

export function renameRetrying(files: Files, from: string, to: string): Promise<void> {
  return retryBusy(() => files.rename(from, to))
}

/** Retries for about half a second while Windows reports that a reader, a virus scanner or an indexer holds the file. */
export async function retryBusy<T>(work: () => T): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return work()
    } catch (error) {
      const errno = errnoOf(error)
      if (attempt >= BUSY_RETRIES || (errno !== "EPERM" && errno !== "EBUSY")) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 2 ** attempt))
  }
}

/** Makes renames and new names in a folder below the root durable. The root itself is synced by `root.ts`. */
export function syncFolder(files: Files, path: string): Promise<void> {
  return syncOpened(files, path, READ)
}

/** Syncs a folder that is opened with these flags. Windows cannot open a folder, and keeps names without it. */
export async function syncOpened(files: Files, path: string, flags: number): Promise<void> {
  if (process.platform === "win32") return
  const fd = files.open(path, flags)
  try {
    await files.fsync(fd)
  } finally {
    files.close(fd)
  }
}

/** Makes a file's content durable, whichever process wrote it. */
export async function syncFile(files: Files, path: string): Promise<void> {
  const fd = files.open(path, APPEND)
  try {
    await files.fdatasync(fd)
  } finally {
    files.close(fd)
  }
}

/** Creates a folder and those above it. A file in its place, or a link below the root, is an error. Returns whether it was missing. */
export function ensureFolder(files: Files, path: string, above = true): boolean {
  try {
    files.mkdir(path, FOLDER_MODE)
    return true
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === "EEXIST" || errno === "EISDIR") {
      checkFolder(files, path)
      return false
    }
    // A folder that cannot be created although its parent exists (as in /proc).
    if (errno === "ENOENT" && !above) throw neverMadeError(path, error)
    if (errno !== "ENOENT" || dirname(path) === path) throw error
    ensureFolder(files, dirname(path))
    return ensureFolder(files, path, false)
  }
}

function neverMadeError(path: string, cause: unknown): StorageError {
  const message = `The folder ${path} cannot be made, although the one above it exists: choose another root.`
  return new StorageError("misconfigured", message, { at: path, cause })
}

/** The error that the system gives for a file or an unfollowed link in the place of a folder. */
export function notAFolder(path: string): Error {
  return Object.assign(new Error(`${path} is not a folder`), { code: "ENOTDIR" })
}

/** Whether a path can be used as a folder: it is a folder, or nothing. A link never is. */
export function isFolderOrNothing(files: Files, path: string): boolean {
  return files.lstat(path)?.isDirectory() !== false
}

/** Throws if a link or a file is in the place of one of the root's own folders: a link may lead anywhere. */
export function checkInnerFolder(files: Files, path: string): void {
  if (!isFolderOrNothing(files, path)) throw notAFolder(path)
}

/** Removes a folder that is out of use already; a later sweep removes what remains. */
export async function removeQuietly(files: Files, path: string): Promise<void> {
  try {
    await files.remove(path)
  } catch {
    // It stays in a folder that is swept later.
  }
}

/** Removes a file that is out of use; a failure changes nothing that counts. */
export function discard(files: Files, path: string): void {
  try {
    files.unlink(path)
  } catch {
    // It stays under a name that nothing reads.
  }
}

interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The limit of `fs.readFile`. */
const LARGEST_BYTES = 2 ** 31 - 1
/** Several times the metadata of a log with 100,000 parts. */
const LARGEST_DERIVED_BYTES = 33_554_432
const COPY_BYTES = 1_048_576

/** About half a second in all: 1, 2, 4, … 256 ms. */
const BUSY_RETRIES = 9

/** The root itself may be a link. Below it only real folders are followed, so nothing outside the root is ever touched. */
function checkFolder(files: Files, path: string): void {
  if (!basename(path).startsWith(".") || files.lstat(path)?.isDirectory() === true) return
  throw notAFolder(path)
}
