/** Migrates a stored log of an older version: replaces it by a current log in one step, with a backup of the old lines. */
import { SessionError, hasCode } from "../../format/errors.ts"
import { toEncodedEntry, encodeHeader, lineOf, parseLine } from "../../format/line.ts"
import { checkIdentity, identifyLog } from "../../format/identify.ts"
import { type MigratedLog, migrateLines } from "../older/migrate.ts"
import { signalOf } from "../../storage/signals.ts"
import { utf8Length } from "../../storage/utf8.ts"
import {
  type CallOptions,
  type Chunk,
  type Head,
  type HeadInfo,
  MAX_CHUNK_BYTES,
  type SessionStorage,
} from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { restoreEntries } from "../../log/blobs.ts"
import { storeInfo } from "../../info/store.ts"
import { projectWhole } from "../../info/projection.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { notFoundError, readLines } from "../../log/load.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import { putBackup } from "./backup.ts"
import type { LineToWrite } from "../write/log-to-write.ts"
import { withLines } from "../headers.ts"
import { toStoredLines } from "../write/stored-form.ts"
import type { BlobLimits } from "../../format/blobs.ts"
import type { Entry } from "../../format/entry.ts"
import { FORMAT, VERSION } from "../../format/header.ts"
import { sendWithBlobs } from "../../write/fresh-blobs.ts"

export interface Migration {
  readonly migrated: boolean
  /** Format and version of the log before the call. */
  readonly from: { readonly format: string; readonly version: number }
}

export interface MigrateStoredOptions extends CallOptions {
  readonly blobs?: BlobLimits
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
}

/**
 * Leaves a current log unchanged. Errors: `read_only` if the storage cannot replace a log; `conflict` if another writer keeps
 * appending to it; `newer_version` and `not_a_session` for a log that cannot be migrated; `too_large` for a line that the storage
 * cannot hold. The old log stays complete until the replacement; after `indeterminate`, either log may be stored.
 */
export async function migrateStored(
  storage: SessionStorage,
  id: string,
  o: MigrateStoredOptions = {},
): Promise<Migration> {
  const signal = signalOf(o)
  const about = { session: id, storage: storage.description }
  /** The old format, after a replacement whose outcome is unknown. */
  let unknown: Migration["from"] | undefined
  for (let attempt = 1; ; attempt++) {
    const head = await storage.head(id, signal)
    if (head === undefined) throw notFoundError(storage, id)
    const lines = await readLines(storage, id, { from: 0, to: head.next }, signal)
    const identity = identifyLog(lines)
    if (identity.kind === "sessions") {
      return { migrated: unknown !== undefined, from: unknown ?? { format: FORMAT, version: VERSION } }
    }
    checkIdentity(identity, `The log of ${id} in ${storage.description}`, about)
    if (storage.replace === undefined || !storage.capabilities.replace) {
      const message = `${storage.description} cannot replace a log, so ${id} keeps version ${identity.version}. Fork the session to continue it.`
      throw new SessionError("read_only", message, about)
    }
    const migrated = migrateLines(lines, { id })
    try {
      await replaceLog(storage, id, head, lines, migrated, o)
      return { migrated: true, from: migrated.from }
    } catch (error) {
      if (hasCode(error, "indeterminate")) unknown = migrated.from
      // On a conflict, another process appended to the log, or migrated it, after it was read.
      else if (!hasCode(error, "conflict")) throw error
      if (attempt === 2) throw error
    }
  }
}

async function replaceLog(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  lines: readonly string[],
  migrated: MigratedLog,
  { blobs = {}, now = Date.now, ...o }: MigrateStoredOptions,
): Promise<void> {
  const stored = await toStoredLines(storage, migrated.records, blobs)
  for (const [index, { line }] of stored.entries()) {
    if (utf8Length(line) <= storage.capabilities.maxLineBytes) continue
    const message = `Line ${index + 1} of the migrated log of ${id} would be longer than ${storage.description} takes. The log was not changed.`
    throw new SessionError("too_large", message, { session: id, storage: storage.description })
  }
  let header = migrated.header
  const put = async (): Promise<void> => {
    header = withLines(migrated, { backup: await putBackup(storage, lines, o) })
    for (const line of stored) await line.putBlobs?.()
  }
  const replace = async (): Promise<Head | undefined> => {
    await checkStored(storage, id, stored)
    const chunks = toChunks([encodeHeader(header), ...stored.map(({ line }) => line)])
    return storage.replace?.(id, chunks, { ...o, expect: { next: head.next, log: head.log } })
  }
  const next = await sendWithBlobs(put, replace, now)
  const slots = stored.map(({ line, entry }, index) => entry ?? parseEntry(line, index + 1))
  const log = EntryLog.of([undefined, ...slots])
  await storeInfo(storage, id, projectWhole({ header, log }, next?.log ?? ""), o)
}

/** Parses the new lines as a reader will, with their blobs from the storage, and compares them with the migrated entries. */
async function checkStored(storage: SessionStorage, id: string, stored: readonly LineToWrite[]): Promise<void> {
  for (const [index, { line, entry, putBlobs }] of stored.entries()) {
    if (entry === undefined) continue
    const seq = index + 1
    const record = parseLine(line).record as Entry | undefined
    const read = record === undefined || putBlobs === undefined ? record : await restored(storage, record)
    if (read !== undefined && lineOf(toEncodedEntry(read), seq) === lineOf(toEncodedEntry(entry), seq)) continue
    const message = `Line ${seq} of the migrated log of ${id} does not read back as it was written. The log was not changed.`
    throw new StorageError("corrupt", message, { session: id, storage: storage.description })
  }
}

async function restored(storage: SessionStorage, record: Entry): Promise<Entry> {
  return (await restoreEntries(storage, [record])).entries[0] as Entry
}

async function* toChunks(lines: readonly string[]): AsyncGenerator<Chunk, void, undefined> {
  let from = 0
  let bytes = 0
  let held: string[] = []
  for (const line of lines) {
    const size = utf8Length(line) + 1
    if (held.length > 0 && bytes + size > MAX_CHUNK_BYTES) {
      yield { from, lines: held }
      from += held.length
      held = []
      bytes = 0
    }
    held.push(line)
    bytes += size
  }
  yield { from, lines: held }
}
