/** The log as it was before its migration, kept as blobs. */
import { SessionError } from "../format/errors.ts"
import type { Origin } from "../format/records.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"

type Backup = NonNullable<Origin["backup"]>

/** Small enough for every blob store, and for holding one at a time. */
const PIECE_BYTES = 8_000_000
const PREFIX = "sha256:"

/** Puts the lines' bytes, each line with its LF. */
export async function putBackup(
  storage: SessionStorage,
  lines: readonly string[],
  o: CallOptions = {},
): Promise<Backup> {
  const encoder = new TextEncoder()
  const blobs: string[] = []
  let bytes = 0
  let piece: Uint8Array[] = []
  let held = 0
  const put = async (): Promise<void> => {
    const joined = new Uint8Array(held)
    let at = 0
    for (const part of piece) {
      joined.set(part, at)
      at += part.length
    }
    blobs.push(PREFIX + (await storage.blobs.put(joined, o)))
    piece = []
    held = 0
  }
  for (const line of lines) {
    const all = encoder.encode(`${line}\n`)
    bytes += all.length
    for (let at = 0; at < all.length; ) {
      const part = all.subarray(at, at + PIECE_BYTES - held)
      piece.push(part)
      held += part.length
      at += part.length
      if (held === PIECE_BYTES) await put()
    }
  }
  if (held > 0) await put()
  return { blobs, bytes }
}

/** The backup as text. `not_found` where there is none, `corrupt` where a piece of it is missing. */
export async function* readBackup(
  storage: SessionStorage,
  id: string,
  origin: unknown,
  o: CallOptions = {},
): AsyncGenerator<string, void, undefined> {
  const backup = (origin as Origin | undefined)?.backup
  const about = { session: id, storage: storage.description }
  if (backup === undefined) {
    throw new SessionError(
      "not_found",
      `The session ${id} has no backup: its log was never migrated in this place.`,
      about,
    )
  }
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  for (const ref of backup.blobs) {
    const hash = ref.startsWith(PREFIX) ? ref.slice(PREFIX.length) : ref
    const bytes = await storage.blobs.get(hash, o)
    if (bytes === undefined) {
      throw new StorageError(
        "corrupt",
        `The backup of ${id} is not whole: its blob ${hash} is not in ${storage.description}.`,
        about,
      )
    }
    const text = decoder.decode(bytes, { stream: true })
    if (text !== "") yield text
  }
  const rest = decoder.decode()
  if (rest !== "") yield rest
}
