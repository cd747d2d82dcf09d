import { type FileStat, type Files, nodeFiles } from "@sessions/fs"

/** One call of the port, as a fault sees it. */
export interface FileCall {
  readonly op: keyof Files
  /** Of the file or folder, also where the call has a descriptor. */
  readonly path: string
}

/** Does the call, does something else in its place, or throws. */
export type Fault = (call: FileCall, proceed: () => unknown) => unknown

export interface FaultyFiles extends Files {
  /** Every call passes through it; undefined for none. */
  fault: Fault | undefined
  /** Descriptors that were opened and not closed. */
  readonly opened: ReadonlyMap<number, string>
}

/** Node's files with a place to interfere. */
export function createFaultyFiles(): FaultyFiles {
  const paths = new Map<number, string>()
  const through = <T>(op: keyof Files, path: string, work: () => T): T =>
    (state.fault === undefined ? work() : state.fault({ op, path }, work)) as T
  const of = (fd: number): string => paths.get(fd) ?? `fd ${fd}`
  const later = async (op: keyof Files, path: string, work: () => Promise<void>): Promise<void> => {
    await through(op, path, work)
  }
  const state: FaultyFiles = {
    fault: undefined,
    opened: paths,
    open: (path, flags, mode) =>
      through("open", path, () => {
        const fd = nodeFiles.open(path, flags, mode)
        paths.set(fd, path)
        return fd
      }),
    close: (fd) => {
      nodeFiles.close(fd)
      paths.delete(fd)
    },
    write: (fd, bytes, offset, length) => through("write", of(fd), () => nodeFiles.write(fd, bytes, offset, length)),
    read: (fd, into, offset, length, position) =>
      through("read", of(fd), () => nodeFiles.read(fd, into, offset, length, position)),
    readAsync: async (fd, into, offset, length, position) =>
      through("readAsync", of(fd), () => nodeFiles.readAsync(fd, into, offset, length, position)),
    fstat: (fd) => through("fstat", of(fd), () => nodeFiles.fstat(fd)),
    lstat: (path) => through<FileStat | undefined>("lstat", path, () => nodeFiles.lstat(path)),
    truncate: (fd, size) => through("truncate", of(fd), () => nodeFiles.truncate(fd, size)),
    fdatasync: (fd) => later("fdatasync", of(fd), () => nodeFiles.fdatasync(fd)),
    fsync: (fd) => later("fsync", of(fd), () => nodeFiles.fsync(fd)),
    rename: (from, to) => through("rename", to, () => nodeFiles.rename(from, to)),
    unlink: (path) => through("unlink", path, () => nodeFiles.unlink(path)),
    mkdir: (path, mode) => through("mkdir", path, () => nodeFiles.mkdir(path, mode)),
    readdir: (path) => through("readdir", path, () => nodeFiles.readdir(path)),
    utimes: (path, ms) => through("utimes", path, () => nodeFiles.utimes(path, ms)),
    remove: (path) => later("remove", path, () => nodeFiles.remove(path)),
    watch: (path, changed) => through("watch", path, () => nodeFiles.watch(path, changed)),
  }
  return state
}

/** An error as the system throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: injected`), { code })
}

/** Whether a call is a write of lines: to a part, in place or under construction. */
export function isLogWrite({ op, path }: FileCall): boolean {
  return op === "write" && (path.endsWith(".jsonl") || path.includes(".tmp-"))
}

/** Whether a call asks the disk for more than to be read, so that it may fail, or a process end before it, with consequences. */
export function isChange({ op }: FileCall): boolean {
  return CHANGES.has(op)
}

const CHANGES: ReadonlySet<string> = new Set([
  "write",
  "truncate",
  "rename",
  "unlink",
  "mkdir",
  "remove",
  "fsync",
  "fdatasync",
  "utimes",
])

/** A process that ended: nothing it asks for happens any more, and nothing it waits for comes. */
export function dead(): Fault {
  return ({ op }) => {
    if (op === "fdatasync" || op === "fsync" || op === "readAsync" || op === "remove")
      return new Promise(() => undefined)
    throw systemError("EDEAD")
  }
}
