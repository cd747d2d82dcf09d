/** An older log rewritten as a current one, in one step, with a backup of what it was. */
import { SessionError } from "../../errors.ts"
import type { BlobLimits } from "../../format/blob-refs.ts"
import { encodeEntry, encodeHeader, lineOf, parseLine } from "../../format/line.ts"
import { FORMAT, VERSION } from "../../format/records.ts"
import type { Entry } from "../../format/records.ts"
import { identifyLog } from "../../migrations/identify.ts"
import { migrateLines } from "../../migrations/migrate.ts"
import { utf8Length } from "../../storage/checks.ts"
import { MAX_CHUNK_BYTES } from "../../storage/contract.ts"
import type { CallOptions, Chunk, HeadInfo, SessionStorage } from "../../storage/contract.ts"
import { hasCode, StorageError } from "../../storage/errors.ts"
import { restoreEntries } from "../blobs.ts"
import { keepFold } from "../info-store.ts"
import { foldInfo, startFold } from "../info.ts"
import { notFound, readLines } from "../loaded-log.ts"
import { parseSlot } from "../parse-slots.ts"
import { putBackup } from "./backup.ts"
import type { LineToWrite } from "./batches.ts"
import { toStoredLines, withLines } from "./import-older.ts"

export interface Migration {
  readonly migrated: boolean
  /** What the log is, or was. */
  readonly from: { readonly format: string; readonly version: number }
}

/**
 * Does nothing to a current log. `read_only` where the storage cannot replace a log; `conflict` where others keep writing to it;
 * `newer_version` and `not_a_session` for what cannot be migrated; `too_large` for a line that the storage cannot hold. Unless it
 * resolves, the log is as it was.
 */
export async function migrateStored(
  storage: SessionStorage,
  id: string,
  o: CallOptions & { readonly blobs?: BlobLimits } = {},
): Promise<Migration> {
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  for (let attempt = 1; ; attempt++) {
    const head = await storage.head(id, signal)
    if (head === undefined) throw notFound(storage, id)
    const [first = ""] = await readLines(storage, id, { from: 0, to: 1 }, signal)
    if (identifyLog([first]).kind === "sessions") return { migrated: false, from: { format: FORMAT, version: VERSION } }
    try {
      return await migrateAt(storage, id, head, o.blobs ?? {}, signal)
    } catch (error) {
      // Somebody wrote to it, or migrated it, after it was read; or nobody knows whether the new log stands there now.
      const again = hasCode(error, "conflict") || hasCode(error, "indeterminate")
      if (!again || attempt === 2) throw error
    }
  }
}

async function migrateAt(
  storage: SessionStorage,
  id: string,
  head: HeadInfo,
  limits: BlobLimits,
  o: CallOptions,
): Promise<Migration> {
  const about = { session: id, storage: storage.description }
  const lines = await readLines(storage, id, { from: 0, to: head.next }, o)
  const migrated = migrateLines(lines, { id })
  if (storage.replace === undefined || !storage.capabilities.replace) {
    const message = `${storage.description} cannot replace a log, so ${id} stays of version ${migrated.from.version}. Fork it to go on.`
    throw new SessionError("read_only", message, about)
  }
  const stored = await toStoredLines(storage, migrated, limits)
  for (const [index, { line }] of stored.entries()) {
    if (utf8Length(line) <= storage.capabilities.maxLineBytes) continue
    const message = `Line ${index + 1} of the migrated log of ${id} would be longer than ${storage.description} takes. The log was left as it is.`
    throw new SessionError("too_large", message, about)
  }
  const backup = await putBackup(storage, lines, o)
  for (const { before } of stored) await before?.()
  const header = encodeHeader(withLines(migrated, { backup }))
  await verifyStored(storage, id, stored)
  const next = await storage.replace(id, toChunks([header, ...stored.map(({ line }) => line)]), {
    ...o,
    expect: { next: head.next, log: head.log },
  })
  let fold = startFold(migrated.header, next.log)
  for (const [index, { line, entry }] of stored.entries()) {
    fold = foldInfo(fold, entry ?? parseSlot(line, index + 1, () => undefined), index + 1)
  }
  await keepFold(storage, id, fold, o)
  return { migrated: true, from: migrated.from }
}

/** Reads the new lines as whoever opens the log will, blobs from the storage, and compares them with what was to be written. */
async function verifyStored(storage: SessionStorage, id: string, stored: readonly LineToWrite[]): Promise<void> {
  for (const [index, { line, entry, before }] of stored.entries()) {
    if (entry === undefined) continue
    const seq = index + 1
    const record = parseLine(line).record as Entry | undefined
    const read = record === undefined || before === undefined ? record : await restored(storage, record)
    if (read !== undefined && lineOf(encodeEntry(read), seq) === lineOf(encodeEntry(entry), seq)) continue
    const message = `Line ${seq} of the migrated log of ${id} does not read back as it was written. The log was left as it is.`
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
