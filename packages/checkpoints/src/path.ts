/** The form of a path in records: relative, separated by `/`, without `.`, `..` and empty parts. */
import { SessionError } from "@sessions/core"

/** Throws `invalid` for a path that is absolute, has `..` or NUL, is the root itself, or cannot be stored as text. */
export function checkPath(path: unknown): string {
  const problem = problemOf(path)
  if (problem !== undefined) {
    const message = `${JSON.stringify(path)} ${problem}; give a path relative to the root of the files.`
    throw new SessionError("invalid", message)
  }
  return partsOf(path as string).join("/")
}

/** Whether a path has the form of records. */
export function isPath(path: string): boolean {
  return problemOf(path) === undefined && partsOf(path).join("/") === path
}

/** The path of an imported record; undefined if it is not below the root. Some agents record absolute paths. */
export function pathBelow(root: string, path: string): string | undefined {
  const folder = root.endsWith("/") ? root : `${root}/`
  const relative = path.startsWith(folder) ? path.slice(folder.length) : path
  return problemOf(relative) === undefined ? partsOf(relative).join("/") : undefined
}

/** Of POSIX and of Windows, whatever the system: a record may be read on another one. */
const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/
/** With the flag `u` a surrogate pair is one character, so only a lone surrogate matches. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

function problemOf(path: unknown): string | undefined {
  if (typeof path !== "string") return "is not a path"
  if (path.includes("\0")) return "has a NUL character"
  if (LONE_SURROGATE.test(path)) return "has a lone surrogate"
  if (ABSOLUTE.test(path)) return "is absolute"
  const parts = partsOf(path)
  if (parts.includes("..")) return 'has ".."'
  return parts.length === 0 ? "names no file" : undefined
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".")
}
