/** The files of a folder on a disk: read, replaced by a rename, removed, without following a link below the root. */
import { randomBytes } from "node:crypto"
import type { Stats } from "node:fs"
import { join, resolve, sep } from "node:path"
import { SessionError } from "@sessions/core"
import { checkParts } from "../path.ts"
import type { FileStat, WorkFiles } from "../types.ts"
import { createFolders, type Folder, type Folders, refusedError } from "./folder.ts"
import { CREATE_FILE, codeOf, isMissing, OPEN_FILE, type System, SYSTEM } from "./system.ts"

/**
 * The files below `root`, for Node, Bun and Deno. The root itself may be a link, and must exist at the first call. A path outside it is
 * `invalid`. A file is replaced by a temporary file and a rename, so it is never half written; a crash may leave the temporary one, which
 * the next write in its folder removes.
 */
export function createWorkFiles(root: string): WorkFiles {
  return workFilesOn(SYSTEM, root)
}

/** The same on other calls to the file system, for tests. */
export function workFilesOn(system: System, given: string): WorkFiles {
  if (typeof given !== "string" || given === "") {
    throw new SessionError("invalid", "createWorkFiles needs the path of the folder that the agent works in.")
  }
  const root = resolve(given)
  let opened: { readonly real: string; readonly folders: Folders } | undefined
  const use = (): { readonly real: string; readonly folders: Folders } => {
    if (opened !== undefined) return opened
    const real = system.realpathSync(root)
    return (opened = { real, folders: createFolders(system, real) })
  }
  /** Folders in which temporary files of dead processes were looked for. */
  const swept = new Set<string>()

  /** Calls `work` with the folder of a file and its name; `none` if there is no such folder. */
  const within = <T>(path: string, create: boolean, none: T, work: (folder: Folder, name: string) => T): T => {
    const parts = partsOf(path)
    try {
      const folder = use().folders.open(parts.slice(0, -1), { create })
      if (folder === undefined) return none
      try {
        return work(folder, parts.at(-1) as string)
      } finally {
        folder.close()
      }
    } catch (error) {
      throw named(error, join(use().real, ...parts))
    }
  }

  return {
    root,

    async stat(path) {
      const parts = partsOf(path)
      let at = use().real
      for (const part of parts.slice(0, -1)) {
        at = at.endsWith(sep) ? at + part : at + sep + part
        const stat = lstatOrMissing(system, at)
        if (stat?.isSymbolicLink() === true) return { kind: "other" }
        if (stat?.isDirectory() !== true) return { kind: "absent" }
      }
      const stat = lstatOrMissing(system, at + sep + (parts.at(-1) as string))
      return stat === undefined ? { kind: "absent" } : toFileStat(stat)
    },

    async read(path) {
      return within(path, false, undefined, (folder, name) => {
        const at = folder.at(name)
        const stat = system.lstatSync(at, { throwIfNoEntry: false })
        if (stat === undefined) return undefined
        if (!stat.isFile()) throw refusedError(path, "is not a file")
        return readFile(system, folder, at)
      })
    },

    async write(path, bytes, { mode } = {}) {
      within(path, true, undefined, (folder, name) => {
        const place = path.slice(0, -name.length)
        if (!swept.has(place)) sweep(system, folder)
        swept.add(place)
        const at = folder.at(name)
        const old = system.lstatSync(at, { throwIfNoEntry: false })
        if (old?.isDirectory() === true) removeEmpty(system, use().folders, folder, partsOf(path))
        else if (old !== undefined && !old.isFile()) throw refusedError(path, "is not a file")
        replaceFile(system, folder, at, bytes, mode ?? (old?.isFile() === true ? old.mode & MODE_BITS : undefined))
      })
    },

    async remove(path) {
      within(path, false, undefined, (folder, name) => {
        const stat = system.lstatSync(folder.at(name), { throwIfNoEntry: false })
        if (stat === undefined) return
        if (!stat.isFile()) throw refusedError(path, "is not a file")
        folder.check()
        system.unlinkSync(folder.at(name))
      })
    },
  }
}

/** The error with the file's path, in place of a number of an open folder that nobody knows. */
function named(error: unknown, path: string): unknown {
  if (error instanceof Error) error.message = error.message.replace(/'\/proc\/self\/fd\/\d+\/.*'$/s, `'${path}'`)
  return error
}

/** Permissions; not the bits that give a program the rights of its owner. */
const MODE_BITS = 0o777
const HAS_MODES = process.platform !== "win32"

const TEMPORARY = ".sessions-rewind-"
/** The id of the process that writes it, so that one that was killed is known. */
const TEMPORARY_NAME = /^\.sessions-rewind-(\d+)-[0-9a-f]{16}$/

function partsOf(path: string): readonly string[] {
  const parts = checkParts(path)
  // On Windows these would lead to another folder, drive or stream.
  if (sep === "\\" && parts.some((part) => /[\\:]/.test(part))) {
    throw new SessionError("invalid", `${JSON.stringify(path)} has a character that Windows takes for a separator.`)
  }
  return parts
}

function lstatOrMissing(system: System, at: string): Stats | undefined {
  try {
    return system.lstatSync(at, { throwIfNoEntry: false })
  } catch (error) {
    // A file took the place of a folder since it was looked at.
    if (codeOf(error) === "ENOTDIR") return undefined
    throw error
  }
}

function toFileStat(stat: Stats): FileStat {
  if (!stat.isFile()) return { kind: stat.isDirectory() ? "folder" : "other" }
  const { size: bytes, mtimeMs, ctimeMs, ino, mode } = stat
  return { kind: "file", bytes, mtimeMs, id: `${ino}:${ctimeMs}`, ...(HAS_MODES && { mode: mode & MODE_BITS }) }
}

function readFile(system: System, folder: Folder, at: string): Uint8Array | undefined {
  const descriptor = openOrMissing(system, at)
  if (descriptor === undefined) return undefined
  try {
    const stat = system.fstatSync(descriptor)
    if (!stat.isFile()) throw refusedError(at, "is not a file")
    folder.check()
    // One byte more than it should have, to find its end.
    let bytes = new Uint8Array(stat.size + 1)
    for (let length = 0; ; ) {
      const count = system.readSync(descriptor, bytes, length, bytes.length - length, null)
      if (count === 0) return bytes.subarray(0, length)
      length += count
      if (length === bytes.length) bytes = grown(bytes)
    }
  } finally {
    system.closeSync(descriptor)
  }
}

/** For a file that grows while it is read. */
function grown(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(bytes.length * 2)
  larger.set(bytes)
  return larger
}

function openOrMissing(system: System, at: string): number | undefined {
  try {
    return system.openSync(at, OPEN_FILE)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** An empty file is created first: should it turn out to be elsewhere, none of the bytes are. */
function replaceFile(system: System, folder: Folder, at: string, bytes: Uint8Array, mode: number | undefined): void {
  const temporary = folder.at(`${TEMPORARY}${process.pid}-${randomBytes(8).toString("hex")}`)
  const descriptor = system.openSync(temporary, CREATE_FILE, mode ?? 0o666)
  try {
    try {
      folder.check()
      for (let done = 0; done < bytes.length; ) done += system.writeSync(descriptor, bytes, done)
      if (mode !== undefined && HAS_MODES) system.fchmodSync(descriptor, mode)
    } finally {
      system.closeSync(descriptor)
    }
    folder.check()
    system.renameSync(temporary, at)
  } catch (error) {
    discard(system, temporary)
    throw error
  }
}

/** Removes a folder in which there are only folders. `above`: the folder it is in. */
function removeEmpty(system: System, folders: Folders, above: Folder, parts: readonly string[]): void {
  const folder = folders.open(parts, { create: false })
  try {
    for (const name of folder === undefined ? [] : system.readdirSync(folder.at(""))) {
      const inner = [...parts, name]
      const isFolder = system.lstatSync((folder as Folder).at(name), { throwIfNoEntry: false })?.isDirectory()
      if (isFolder !== true) throw refusedError(parts.join("/"), "is a folder that is not empty")
      removeEmpty(system, folders, folder as Folder, inner)
    }
  } finally {
    folder?.close()
  }
  above.check()
  system.rmdirSync(above.at(parts.at(-1) as string))
}

function sweep(system: System, folder: Folder): void {
  for (const name of system.readdirSync(folder.at(""))) {
    const [, id] = TEMPORARY_NAME.exec(name) ?? []
    if (id !== undefined && !isRunning(Number(id))) discard(system, folder.at(name))
  }
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0)
    return true
  } catch (error) {
    return codeOf(error) !== "ESRCH"
  }
}

function discard(system: System, path: string): void {
  try {
    system.unlinkSync(path)
  } catch {
    // It is removed by a later write in this folder.
  }
}
