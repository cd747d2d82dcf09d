/** The names of memory files, and checks of scopes and texts. */
import { SessionError } from "@sessions/core"

/** The file that consolidation keeps as an index, and that facts are written to unless another target is given. */
export const INDEX_FILE = "MEMORY.md"

/** The files of consolidation. In a folder their names begin with a dot. */
export const CONSOLIDATION_FILES = { state: "consolidation_state.json", lock: "consolidation_lock" } as const

const HIDDEN: ReadonlySet<string> = new Set(Object.values(CONSOLIDATION_FILES))

/** With `memory.`, 24 digits of a hash and a dot before it, the key of a document may have 64 characters. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,28}\.md$/

/** Far more than a model reads; a document is kept in memory as a whole. */
const MAX_TEXT_UNITS = 1_000_000

export function isMemoryName(name: unknown): name is string {
  return typeof name === "string" && NAME.test(name)
}

export function isHiddenName(name: string): boolean {
  return HIDDEN.has(name)
}

export function checkMemoryName(name: unknown): asserts name is string {
  if (isMemoryName(name)) return
  const rule = 'letters, digits, "_" and "-", then ".md", at most 32 characters, and no path'
  throw invalidError(`${JSON.stringify(name)} is no name of a memory file: use ${rule}.`)
}

/** A memory file, or one of consolidation. */
export function checkFileName(name: string): void {
  if (!HIDDEN.has(name)) checkMemoryName(name)
}

export function checkMemoryText(name: string, text: unknown): asserts text is string {
  if (typeof text !== "string") throw invalidError(`The text of ${name} must be a string.`)
  if (text.length > MAX_TEXT_UNITS) {
    throw invalidError(
      `${name} would have ${text.length} characters, and at most ${MAX_TEXT_UNITS} are allowed: shorten it.`,
    )
  }
  if (/\p{Cs}/u.test(text))
    throw invalidError(`The text of ${name} has a lone surrogate, which UTF-8 cannot store: remove it.`)
}

export function checkScope(call: string, scope: unknown): asserts scope is string {
  if (typeof scope === "string" && scope !== "" && !/\p{Cs}/u.test(scope)) return
  throw invalidError(
    `${call} needs \`scope\`: what the memory belongs to, usually the folder that the sessions work in.`,
  )
}

export function invalidError(message: string): SessionError {
  return new SessionError("invalid", message)
}
