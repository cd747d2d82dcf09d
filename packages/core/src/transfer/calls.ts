/** The calls on whole sessions of a repository: check options and ids, and call the modules. */
import type { AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import { arrayOf, type Check, isAnything, isFunction, isObject, isString, oneOf } from "../format/shape.ts"
import type { AnyMetadata } from "../info/projection.ts"
import { CALL, OPEN } from "../session/arguments.ts"
import { insideOfSessions } from "../session/inside.ts"
import type { Sessions } from "../session/repository-types.ts"
import type { Session } from "../session/types.ts"
import { checkStorage } from "../storage/checks.ts"
import type { CollectedBlobs, CollectOptions } from "../storage/collect-blobs.ts"
import type { CallOptions, Deleted, SessionStorage, Swept } from "../storage/contract.ts"
import { tagOf } from "../storage/realm.ts"
import { signalOf } from "../storage/signals.ts"
import { collectStorage } from "./delete/collect-storage.ts"
import { copyStored } from "./copy/copy.ts"
import { deleteNow } from "./delete/delete-now.ts"
import { deleteOld } from "./delete/delete-old.ts"
import { exportStored } from "./export/export.ts"
import { writeFork } from "./copy/fork.ts"
import { importStored } from "./import/import.ts"
import { mergeStored } from "./merge/merge.ts"
import { migrateStored, type Migration } from "./migrate/migrate.ts"
import type {
  CopyOptions,
  DeletedSessions,
  DeleteOldOptions,
  ExportOptions,
  ForkOptions,
  ImportOptions,
  ImportResult,
  ImportSource,
  MergeResult,
  VerifyReport,
} from "./types.ts"
import { verifyStored } from "./verify/verify.ts"

const isFormat: Check = (value) => (isObject(value) ? undefined : oneOf("auto", "sessions", "pi", "oh-my-pi")(value))
const isHashes: Check = (value) => {
  const hashes = tagOf(value) === "Set" ? [...(value as Set<unknown>)] : value
  const isValid = value === "any" || arrayOf(isString)(hashes) === undefined
  return isValid ? undefined : ' must be "any", or an array or a Set of hashes.'
}
const COPY: OptionChecks<CopyOptions> = { ...CALL, onProgress: isFunction }
const IMPORT: OptionChecks<ImportOptions> = {
  ...COPY,
  id: isAnything,
  from: isFormat,
  beside: isAnything,
  blobs: isHashes,
}
const EXPORT: OptionChecks<ExportOptions> = {
  ...CALL,
  format: oneOf("jsonl", "markdown"),
  selfContained: isAnything,
  backup: isAnything,
}
const FORK: OptionChecks<ForkOptions> = { ...OPEN, at: isString, id: isAnything }

/** Creates a session with the path to `at` (default: the leaf) and its annotations, across compactions. `not_found`, `exists`. */
export async function forkSession<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>(
  sessions: Sessions<Own, Metadata>,
  id: string,
  o: ForkOptions = {},
): Promise<Session<Own, Metadata>> {
  checkCallOptions("forkSession", o, FORK)
  const { options, check, use, created } = insideOfSessions("forkSession", sessions)
  const { at: _, id: forkId = options.newId(), ...open } = o
  check(forkId)
  await use(id, open, ({ live, handle }) => writeFork(live, handle, forkId, options, o))
  const fork = await sessions.open(forkId, open)
  created(forkId, fork.header)
  return fork
}

/** Reads a session from a file of this format, of pi or oh-my-pi, or of the format of an {@link Importer}, and writes it. */
export async function importSession(
  sessions: Sessions,
  source: ImportSource,
  o: ImportOptions = {},
): Promise<ImportResult> {
  checkCallOptions("importSession", o, IMPORT)
  const { options, check, created } = insideOfSessions("importSession", sessions)
  const id = o.id ?? options.newId()
  check(id)
  const { result, header } = await importStored(sessions.storage, source, id, options, o)
  created(id, header)
  return result
}

/** The log byte for byte, or self-contained, or as Markdown. `not_found` if there is no such session. */
export async function* exportSession(
  sessions: Sessions,
  id: string,
  o: ExportOptions = {},
): AsyncGenerator<string, void, undefined> {
  checkCallOptions("exportSession", o, EXPORT)
  await written("exportSession", sessions, id)
  yield* exportStored(sessions.storage, id, o)
}

/** Copies a session with its blobs to another storage, under the same id. The same call completes an interrupted copy. */
export async function copySession(
  sessions: Sessions,
  id: string,
  to: SessionStorage,
  o: CopyOptions = {},
): Promise<ImportResult> {
  checkCallOptions("copySession", o, COPY)
  checkStorage("copySession", to)
  const { now } = await written("copySession", sessions, id)
  return copyStored(sessions.storage, id, to, { ...o, now })
}

/**
 * Brings the logs of a session here and in another storage to the same set of entries, the same leaf and the same annotations, with their
 * blobs. A session that is missing there is copied. Waits for a turn that runs here. The same call completes an interrupted merge.
 *
 * `not_found` if the session is missing here, or was merged with that storage before and is missing there now; `exists` if that storage
 * has another session under the id; `corrupt` if a log repeats an id or lacks a parent; `too_large`; `read_only` for a log of an older
 * version that cannot be migrated; `conflict` if other writers keep appending. Before anything is written, except for the last.
 */
export async function mergeSession(
  sessions: Sessions,
  id: string,
  other: SessionStorage,
  o: CallOptions = {},
): Promise<MergeResult> {
  checkCallOptions("mergeSession", o, CALL)
  checkStorage("mergeSession", other)
  const { options, check, find, merged } = insideOfSessions("mergeSession", sessions)
  check(id)
  const merge = async (): Promise<MergeResult> => {
    let mayHaveWritten = true
    try {
      const result = await mergeStored(sessions.storage, id, other, { ...options, ...signalOf(o) })
      mayHaveWritten = result.received > 0
      return result
    } finally {
      if (mayHaveWritten) merged(id)
    }
  }
  const live = await find(id)?.catch(() => undefined)
  if (live === undefined) return merge()
  return live.turns.run(async () => {
    await live.drain()
    return merge()
  }, o.signal)
}

/** Replaces a log of an older version by version 4 in one step, and keeps a backup. Leaves a current log unchanged. */
export async function migrateSession(sessions: Sessions, id: string, o: CallOptions = {}): Promise<Migration> {
  checkCallOptions("migrateSession", o, CALL)
  const { options, check } = insideOfSessions("migrateSession", sessions)
  check(id)
  return migrateStored(sessions.storage, id, { ...o, blobs: options.blobs, now: options.now })
}

/** Reads the whole log and reports every defect. `not_found`, `not_a_session`. */
export async function verifySession(sessions: Sessions, id: string, o: CallOptions = {}): Promise<VerifyReport> {
  checkCallOptions("verifySession", o, CALL)
  await written("verifySession", sessions, id)
  return verifyStored(sessions.storage, id, o)
}

/**
 * Deletes as `delete` of the repository does, with the blobs that only this session mentioned: reads all logs and documents, and removes those.
 *
 * A blob that was put within the last two hours stays for the next call or for {@link collect}, because the put may be that of another
 * writer, which mentions it later; `purged` is false until it is gone. If the log cannot be read or is gone already, each blob that nothing
 * mentions counts as the session's. Rejects like `collectBlobs` if another session cannot be read, and then nothing is deleted.
 */
export async function deleteWithBlobs(sessions: Sessions, id: string, o: CallOptions = {}): Promise<Deleted> {
  checkCallOptions("deleteWithBlobs", o, CALL)
  const { check, flush, deleted } = insideOfSessions("deleteWithBlobs", sessions)
  check(id)
  // Pending appends are written before the delete, so that none fails on a deleted log.
  await flush(id).catch(() => undefined)
  return deleteNow(sessions.storage, id, () => deleted(id), o)
}

/**
 * Deletes the sessions whose last message is more than `olderThan` milliseconds ago, the oldest first: of one `cwd` or `source`, or all.
 * A session that is open or that changes meanwhile stays, as `skipped` says; what a writer appends is never deleted by a call that has
 * not seen it. A session that is open in another process and does not write is deleted: its next append is `not_found`.
 *
 * `unsupported` if the storage cannot delete under a condition ({@link SessionStorage}, `deleteIf`). Rejects if the storage as a whole
 * does not answer; what was deleted until then stays deleted, and the same call goes on. Blobs are left to {@link collect}.
 */
export async function deleteOldSessions(sessions: Sessions, o: DeleteOldOptions): Promise<DeletedSessions> {
  const inside = insideOfSessions("deleteOldSessions", sessions)
  return deleteOld(sessions.storage, inside, o)
}

/**
 * Removes from the storage what nothing refers to: blobs that no log and no document mentions, and (`swept`) what deletions,
 * replacements and interrupted writes left. Safe beside writers, and may be interrupted anywhere.
 *
 * `olderThan`: see `collectBlobs`; at least 7,200,000, 2 hours, because a writer puts the blobs of a line again only if more than one hour
 * has passed since it put them. Rejects like `collectBlobs` if a session cannot be read; the rest is swept by then.
 */
export async function collect(
  sessions: Sessions,
  o: CollectOptions = {},
): Promise<CollectedBlobs & { readonly swept: Swept }> {
  insideOfSessions("collect", sessions)
  return collectStorage(sessions.storage, o)
}

/** Writes the pending appends of a session before its stored log is read. Throws `invalid` for a wrong id, and `closed`. */
async function written(call: string, sessions: Sessions, id: string): Promise<{ readonly now: () => number }> {
  const { options, check, flush } = insideOfSessions(call, sessions)
  check(id)
  await flush(id)
  return options
}
