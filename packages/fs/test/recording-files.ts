/**
 * Files that record the calls that change the disk, and know what a power failure may take: content that was written and not synced,
 * and names in folders that were changed and not synced since.
 */
import { constants } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { type Files, nodeFiles } from "@sessions/fs"

export interface RecordingFiles extends Files {
  /** Calls on data: `rename a`, `fsync .`; paths are relative to the root. Calls on derived files and on locks are left out. */
  readonly calls: string[]
  /** Data that a power failure may take: `content PATH`, `name PATH` (a new one), `gone PATH` (a removed one that may come back). */
  unsafe(): readonly string[]
}

export function createRecordingFiles(root: string): RecordingFiles {
  const paths = new Map<number, string>()
  const content = new Set<string>()
  /** New names by path: true; removed ones: false. */
  const names = new Map<string, boolean>()
  const calls: string[] = []

  const record = (op: string, path: string): void => {
    if (isData(relative(root, path))) calls.push(`${op} ${relative(root, path) || "."}`)
  }
  const addName = (path: string): void => {
    names.set(path, true)
  }
  // Also of a name that was never synced: the system may have written it.
  const dropName = (path: string): void => {
    names.set(path, false)
  }
  const below = (path: string, of: string): boolean => path === of || path.startsWith(`${of}/`)
  /** Everything known of a path and of what is below it moves along. No new path is below the old one, so each is visited once. */
  const move = (from: string, to: string): void => {
    const moved = (path: string): string => join(to, relative(from, path))
    for (const [fd, path] of paths) if (below(path, from)) paths.set(fd, moved(path))
    for (const path of content) if (below(path, from) && content.delete(path)) content.add(moved(path))
    for (const [path, isNew] of names) {
      if (path === from || !below(path, from)) continue
      names.delete(path)
      names.set(moved(path), isNew)
    }
  }
  const forget = (path: string): void => {
    for (const known of content) if (below(known, path)) content.delete(known)
    for (const known of names.keys()) if (known !== path && below(known, path)) names.delete(known)
    dropName(path)
  }
  const pathOf = (fd: number): string => paths.get(fd) ?? `fd ${fd}`

  return {
    ...nodeFiles,
    calls,
    unsafe: () =>
      [
        ...[...content].map((path) => ["content", relative(root, path)]),
        ...[...names].map(([path, isNew]) => [isNew ? "name" : "gone", relative(root, path)]),
      ]
        .filter(([, path = ""]) => isData(path))
        .map((words) => words.join(" "))
        .sort(),
    open(path, flags, mode) {
      const fd = nodeFiles.open(path, flags, mode)
      paths.set(fd, path)
      if ((flags & constants.O_CREAT) === 0) return fd
      record("create", path)
      addName(path)
      return fd
    },
    close(fd) {
      nodeFiles.close(fd)
      paths.delete(fd)
    },
    write(fd, bytes, offset, length) {
      content.add(pathOf(fd))
      return nodeFiles.write(fd, bytes, offset, length)
    },
    async fdatasync(fd) {
      await nodeFiles.fdatasync(fd)
      record("sync", pathOf(fd))
      content.delete(pathOf(fd))
    },
    async fsync(fd) {
      await nodeFiles.fsync(fd)
      record("sync", pathOf(fd))
      content.delete(pathOf(fd))
      for (const name of names.keys()) if (dirname(name) === pathOf(fd)) names.delete(name)
    },
    mkdir(path, mode) {
      nodeFiles.mkdir(path, mode)
      record("mkdir", path)
      addName(path)
    },
    rename(from, to) {
      nodeFiles.rename(from, to)
      record("rename", to)
      forget(to)
      names.delete(to)
      move(from, to)
      dropName(from)
      addName(to)
    },
    unlink(path) {
      nodeFiles.unlink(path)
      forget(path)
    },
    async remove(path) {
      await nodeFiles.remove(path)
      record("remove", path)
      forget(path)
    },
  }
}

/** What is rebuilt if it is missing, locks, and what is under construction: none of it was acknowledged. */
function isData(path: string): boolean {
  const name = basename(path)
  if (/^\.(locks|new|rolled|trash)$/.test(path) || /^\.(locks|new|rolled)\//.test(path)) return false
  return !name.endsWith(".marks") && name !== "metadata.json" && !name.startsWith(".tmp-")
}
