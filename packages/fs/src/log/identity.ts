/**
 * The identity of a log: a random text in `log.id`, created with the log, so that a log that was deleted and created again, or
 * replaced, is not taken for the old one. A log that was copied in without that file is identified by a hash of its first line,
 * until the first write stores that hash as `log.id`.
 */
import { createHash, randomUUID } from "node:crypto"
import type { Files } from "../disk/files.ts"
import { below, FIRST_PART, IDENTITY_FILE } from "../disk/layout.ts"
import { readStart, replaceFile } from "../disk/small-files.ts"

export interface Identity {
  readonly log: string
  readonly stored: boolean
}

export function createLogIdentity(): string {
  return randomUUID()
}

/** Undefined if there is no log. */
export function readIdentity(files: Files, folder: string): Identity | undefined {
  const text = readStart(files, below(folder, IDENTITY_FILE), HEAD_BYTES)?.toString("utf8").trim()
  if (text !== undefined && text !== "") return { log: text, stored: true }
  const head = readHead(files, below(folder, FIRST_PART))
  if (head === undefined) return undefined
  return { log: createHash("sha256").update(head).digest("hex").slice(0, 32), stored: false }
}

export function storeIdentity(files: Files, folder: string, log: string): void {
  replaceFile(files, below(folder, IDENTITY_FILE), `${log}\n`)
}

/** Enough for the id and time of a header. */
const HEAD_BYTES = 4096
const LF = 10

/** The first line, or its first 4 KB. It never changes once it is whole. */
function readHead(files: Files, path: string): Uint8Array | undefined {
  const bytes = readStart(files, path, HEAD_BYTES)
  const end = bytes?.indexOf(LF) ?? -1
  return end < 0 ? bytes : bytes?.subarray(0, end)
}
