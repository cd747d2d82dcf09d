/**
 * Deletes sessions whose last message is old. Each is deleted under the condition that its log still ends where it ended when it was listed,
 * so nothing that another writer appends meanwhile is lost.
 */
import { SessionError, hasCode } from "../../format/errors.ts"
import { checkCallOptions, type OptionChecks } from "../../format/options.ts"
import { isAboveZero, isAnything, isBoolean, isNonEmpty, oneOf } from "../../format/shape.ts"
import type { SessionsInside } from "../../session/inside.ts"
import type { CallOptions, Deleted, Head, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { checkSignal, signalOf } from "../../storage/signals.ts"
import type { DeletedSessions, DeleteOldOptions } from "../types.ts"

type Skipped = DeletedSessions["skipped"][number]

const OPTIONS: OptionChecks<DeleteOldOptions> = {
  signal: isAnything,
  olderThan: isAboveZero,
  cwd: isNonEmpty,
  source: oneOf("interactive", "cron"),
  dryRun: isBoolean,
}

/** The repository, whose open sessions stay. */
type Repository = Pick<SessionsInside, "find" | "infoOf" | "deleted" | "options">

/** A session whose last message is before the limit. */
interface Old {
  readonly id: string
  readonly lastMessageAt: string
  readonly bytes: number
  readonly head: Head
}

export async function deleteOld(
  storage: SessionStorage,
  repository: Repository,
  o: DeleteOldOptions,
): Promise<DeletedSessions> {
  checkCallOptions("deleteOldSessions", o, OPTIONS)
  if (o.olderThan === undefined)
    throw new SessionError("invalid", "deleteOldSessions needs `olderThan`, in milliseconds.")
  checkSignal(o.signal)
  if (storage.capabilities.deleteIf !== true) throw unsupportedConditionError(storage)
  const { old, failed } = await listOld(storage, repository, o)
  const removed: DeletedSessions["removed"][number][] = []
  const skipped: Skipped[] = []
  for (const { head, ...session } of old) {
    checkSignal(o.signal)
    const { id, lastMessageAt } = session
    try {
      const isOpen =
        repository.find(id) !== undefined || (await hasPrompts(storage, id, repository.options.now(), signalOf(o)))
      const deleted = isOpen ? "open" : await deleteAt(storage, repository, id, head, o)
      if (typeof deleted === "string") skipped.push({ id, lastMessageAt, why: deleted })
      else removed.push({ ...session, purged: deleted.purged })
    } catch (error) {
      await rethrowUnlessOfOne(storage, error, signalOf(o))
      skipped.push({ id, lastMessageAt, why: "failed", error })
    }
  }
  return { removed, skipped: [...skipped, ...failed] }
}

/** The sessions that the options name, the oldest first, and those that cannot be read. */
async function listOld(
  storage: SessionStorage,
  { infoOf, options }: Repository,
  { olderThan, cwd, source, ...o }: DeleteOldOptions,
): Promise<{ readonly old: readonly Old[]; readonly failed: readonly Skipped[] }> {
  const signal = signalOf(o)
  const limit = options.now() - olderThan
  const old: Old[] = []
  const failed: Skipped[] = []
  for await (const row of storage.list(signal)) {
    const { id } = row
    if (row.error !== undefined) {
      failed.push({ id, why: "failed", error: row.error })
      continue
    }
    const { next, log, bytes } = row
    try {
      const info = await infoOf(id, row, signal)
      const { lastMessageAt } = info
      const isWanted = (cwd ?? info.cwd) === info.cwd && (source ?? info.source) === info.source
      // 0 if no timestamp of the log is a time: then nothing shows that it is old but its last append.
      const at = Date.parse(lastMessageAt) || Date.parse(info.updatedAt)
      if (isWanted && at < limit) old.push({ id, lastMessageAt, bytes, head: { next, log } })
    } catch (error) {
      await rethrowUnlessOfOne(storage, error, signal)
      if (!hasCode(error, "not_found")) failed.push({ id, why: "failed", error })
    }
  }
  return { old: old.toSorted(byTime), failed }
}

function byTime(a: Old, b: Old): number {
  return Date.parse(a.lastMessageAt) - Date.parse(b.lastMessageAt) || (a.id < b.id ? -1 : 1)
}

/** Nothing is awaited between the look at the repository and the call of the storage. */
async function deleteAt(
  storage: SessionStorage,
  { find, deleted }: Repository,
  id: string,
  expect: Head,
  { dryRun = false, ...o }: DeleteOldOptions,
): Promise<Pick<Deleted, "purged"> | "open" | "changed"> {
  if (find(id) !== undefined) return "open"
  if (dryRun) return { purged: true }
  try {
    const result = await storage.delete(id, { ...signalOf(o), expect })
    deleted(id)
    return result
  } catch (error) {
    if (hasCode(error, "conflict")) return "changed"
    throw error
  }
}

/**
 * Whether a server that runs prompts, such as that of `@sessions/http`, has any for the session or is about to: the document
 * `sessions/<id>/prompts` has `prompts` that are not ended, or a `lease` whose time is not over.
 */
async function hasPrompts(storage: SessionStorage, id: string, now: number, o: CallOptions): Promise<boolean> {
  const doc = await storage.docs.get(`sessions/${id}/prompts`, o)
  if (doc === undefined) return false
  try {
    const { prompts, lease } = JSON.parse(doc.text) as { prompts?: readonly unknown[]; lease?: { until?: number } }
    return (prompts?.length ?? 0) > 0 || (lease?.until ?? 0) > now
  } catch {
    // A document that cannot be read may be a queue.
    return true
  }
}

/** An error of one session does not end the call. */
async function rethrowUnlessOfOne(storage: SessionStorage, error: unknown, o: CallOptions): Promise<void> {
  if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
  if (hasCode(error, "unavailable") && !(await isInReach(storage, o))) throw error
}

/** Whether the storage answers at all; whether it has this session does not matter. */
async function isInReach(storage: SessionStorage, o: CallOptions): Promise<boolean> {
  try {
    await storage.head("any", o)
    return true
  } catch (error) {
    return !hasCode(error, "unavailable")
  }
}

function unsupportedConditionError(storage: SessionStorage): StorageError {
  const { description } = storage
  const message = `${description} cannot delete a session on the condition that it has not changed, so deleteOldSessions() could delete what a writer has just appended. Nothing was deleted; delete() takes single sessions.`
  return new StorageError("unsupported", message, { storage: description })
}
