/**
 * The identity of a log: a random text in the session's folder, born with it, so that a log that was deleted and made again, or
 * replaced, is never taken for the old one. A log that somebody copied in without it is known by its first bytes, until the
 * first write stores that same identity.
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

/** Undefined where there is no log. */
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

/** Enough to hold a header's id and time. */
const HEAD_BYTES = 4096
const LF = 10

/** The first line, or as much of it as counts. It never changes once it is whole. */
function readHead(files: Files, path: string): Uint8Array | undefined {
  const bytes = readStart(files, path, HEAD_BYTES)
  const end = bytes?.indexOf(LF) ?? -1
  return end < 0 ? bytes : bytes?.subarray(0, end)
}
