/**
 * The folder of a file, reached from the root without following a link.
 *
 * On Linux every folder on the way is opened in the one before it, and names are resolved in the opened folder, by `/proc/self/fd`. So a
 * link that takes the place of a folder at any moment leads nowhere. Elsewhere Node has no such calls: the folders are checked before and
 * after, and a link that appears between the last check and the change of a file would be followed.
 */
import { join } from "node:path"
import { SessionError } from "@sessions/core"
import { codeOf, isMissing, OPEN_FOLDER, type System } from "./system.ts"

export interface Folder {
  /** The path of a name in this folder. */
  at(name: string): string
  /** Throws if the path of the folder leads elsewhere by now. */
  check(): void
  close(): void
}

/** Opens folders below one root. `root` is a real path. */
export interface Folders {
  /** Undefined if there is no such folder, unless `create` is set. Throws `invalid` for a link or a file in its place. */
  open(parts: readonly string[], o: { readonly create: boolean }): Folder | undefined
}

export function createFolders(system: System, root: string): Folders {
  return hasDescriptorPaths(system, root) ? byDescriptor(system, root) : byPath(system, root)
}

/** Deno numbers its files itself, and may forbid `/proc`. */
function hasDescriptorPaths(system: System, root: string): boolean {
  if (process.platform !== "linux") return false
  const descriptor = system.openSync(root, OPEN_FOLDER)
  try {
    const [one, other] = [system.fstatSync(descriptor), system.statSync(`/proc/self/fd/${descriptor}`)]
    return one.ino === other.ino && one.dev === other.dev
  } catch {
    return false
  } finally {
    system.closeSync(descriptor)
  }
}

function byDescriptor(system: System, root: string): Folders {
  const openIn = (path: string, create: boolean): number | undefined => {
    try {
      return system.openSync(path, OPEN_FOLDER)
    } catch (error) {
      if (codeOf(error) === "ENOTDIR" || codeOf(error) === "ELOOP") return refuse(system, path, create)
      if (!isMissing(error)) throw error
      if (!create) return undefined
      makeFolder(system, path)
      return system.openSync(path, OPEN_FOLDER)
    }
  }
  return {
    open(parts, { create }) {
      let descriptor = system.openSync(root, OPEN_FOLDER)
      for (const part of parts) {
        const above = descriptor
        try {
          const next = openIn(`/proc/self/fd/${above}/${part}`, create)
          if (next === undefined) return undefined
          descriptor = next
        } finally {
          system.closeSync(above)
        }
      }
      const opened = descriptor
      return {
        at: (name) => `/proc/self/fd/${opened}/${name}`,
        check: () => undefined,
        close: () => system.closeSync(opened),
      }
    },
  }
}

function byPath(system: System, root: string): Folders {
  const walk = (parts: readonly string[], create: boolean): string | undefined => {
    let path = root
    for (const part of parts) {
      path = join(path, part)
      const stat = system.lstatSync(path, { throwIfNoEntry: false })
      if (stat === undefined && !create) return undefined
      if (stat === undefined) makeFolder(system, path)
      else if (!stat.isDirectory()) return refuse(system, path, create)
    }
    const { dev, ino } = system.lstatSync(path)
    return `${dev}:${ino}`
  }
  return {
    open(parts, { create }) {
      const identity = walk(parts, create)
      if (identity === undefined) return undefined
      const path = join(root, ...parts)
      return {
        at: (name) => join(path, name),
        check() {
          if (walk(parts, false) !== identity) throw refusedError(path, "was replaced by another folder")
        },
        close: () => undefined,
      }
    },
  }
}

function makeFolder(system: System, path: string): void {
  try {
    system.mkdirSync(path)
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error
  }
}

/** There is no folder below a file. A link is never followed, wherever it leads. */
function refuse(system: System, path: string, create: boolean): undefined {
  const isLink = system.lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true
  if (isLink || create) throw refusedError(path, isLink ? "is a link" : "is not a folder")
}

export function refusedError(path: string, why: string): SessionError {
  return new SessionError("invalid", `${path.replace(/^\/proc\/self\/fd\/\d+\//, "")} ${why}; it is left as it is.`)
}
