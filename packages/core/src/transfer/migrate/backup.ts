/** The backup of a log before its migration: its bytes, stored as blobs. */
import { SessionError } from "../../format/errors.ts"
import { joinBytes } from "../../format/jsonl.ts"
import type { Origin } from "../../format/header.ts"
import { isObject } from "../../format/shape.ts"
import type { CallOptions, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { parseHash } from "../named-hash.ts"

export type Backup = NonNullable<Origin["backup"]>

/** Below the limit of every blob store; one is held in memory at a time. */
const BLOB_BYTES = 8_000_000
const PREFIX = "sha256:"

/** Stores the bytes of the lines, each with its LF. */
export async function putBackup(
  storage: SessionStorage,
  lines: readonly string[],
  o: CallOptions = {},
): Promise<Backup> {
  const encoder = new TextEncoder()
  const blobs: string[] = []
  let bytes = 0
  let parts: Uint8Array[] = []
  let size = 0
  const put = async (): Promise<void> => {
    blobs.push(PREFIX + (await storage.blobs.put(joinBytes(parts), o)))
    parts = []
    size = 0
  }
  for (const line of lines) {
    const all = encoder.encode(`${line}\n`)
    bytes += all.length
    for (let at = 0; at < all.length; ) {
      const part = all.subarray(at, at + BLOB_BYTES - size)
      parts.push(part)
      size += part.length
      at += part.length
      if (size === BLOB_BYTES) await put()
    }
  }
  if (size > 0) await put()
  return { blobs, bytes }
}

/** The backup as text. Errors: `not_found` without a backup, `corrupt` if it is malformed or one of its blobs is missing. */
export async function* readBackup(
  storage: SessionStorage,
  id: string,
  origin: unknown,
  o: CallOptions = {},
): AsyncGenerator<string, void, undefined> {
  const backup = isObject(origin) ? origin["backup"] : undefined
  const about = { session: id, storage: storage.description }
  if (backup === undefined) {
    throw new SessionError(
      "not_found",
      `The session ${id} has no backup: its log was not migrated in ${storage.description}.`,
      about,
    )
  }
  const malformed = (what: string, cause?: unknown): StorageError =>
    new StorageError("corrupt", `The backup of ${id} cannot be read: ${what} in ${storage.description}.`, {
      ...about,
      cause,
    })
  const blobs = isObject(backup) ? backup["blobs"] : undefined
  if (!Array.isArray(blobs)) throw malformed("the header has no list of its blobs")
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  const decode = (bytes?: Uint8Array): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch (cause) {
      throw malformed("its blobs are no text", cause)
    }
  }
  for (const ref of blobs) {
    const hash = parseHash(ref)
    if (hash === undefined) throw malformed("the header lists a blob without a hash")
    const bytes = await storage.blobs.get(hash, o)
    if (bytes === undefined) {
      throw new StorageError(
        "corrupt",
        `The backup of ${id} is incomplete: its blob ${hash} is not in ${storage.description}.`,
        about,
      )
    }
    const text = decode(bytes)
    if (text !== "") yield text
  }
  const rest = decode()
  if (rest !== "") yield rest
}
