/** The form of a path in records: relative, separated by `/`, without `.`, `..` and empty parts. */
import { SessionError } from "@sessions/core"

/** Throws `invalid` for a path that is absolute, has `..` or NUL, is the root itself, or cannot be stored as text. */
export function checkPath(path: unknown): string {
  return checkParts(path).join("/")
}

/** The same, as the names of the folders and of the file. */
export function checkParts(path: unknown): readonly string[] {
  const parts = toParts(path)
  if (typeof parts !== "string") return parts
  throw new SessionError("invalid", `${JSON.stringify(path)} ${parts}; give a path relative to the root of the files.`)
}

/** Whether a path has the form of records. */
export function isPath(path: string): boolean {
  const parts = toParts(path)
  return typeof parts !== "string" && parts.join("/") === path
}

/** The path of an imported record; undefined if it is not below the root. Some agents record absolute paths. */
export function pathBelow(root: string, path: string): string | undefined {
  const folder = root.endsWith("/") ? root : `${root}/`
  const parts = toParts(path.startsWith(folder) ? path.slice(folder.length) : path)
  return typeof parts === "string" ? undefined : parts.join("/")
}

/** Absolute paths of POSIX and of Windows, whatever the system: a record may be read on another one. */
const ABSOLUTE = /^(?:[\\/]|[A-Za-z]:[\\/])/
/** With the flag `u` a surrogate pair is one character, so only a lone surrogate matches. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/** The parts of a path, or what is wrong with it. */
function toParts(path: unknown): readonly string[] | string {
  if (typeof path !== "string") return "is not a path"
  if (path.includes("\0")) return "has a NUL character"
  if (LONE_SURROGATE.test(path)) return "has a lone surrogate"
  if (ABSOLUTE.test(path)) return "is absolute"
  const parts = path.split("/").filter((part) => part !== "" && part !== ".")
  if (parts.includes("..")) return 'has ".."'
  return parts.length === 0 ? "names no file" : parts
}
