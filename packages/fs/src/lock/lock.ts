/**
 * A lock between storage objects and processes of one host: a file that its holder creates, refreshes and removes.
 *
 * A lock that was not refreshed for {@link STALE_MS} may be taken over, and its former holder may resume after that and write.
 * Therefore a holder checks {@link Lock.isCertain} around each write, and a writer that took the lock from a living owner (`fence`)
 * first begins a new part (see `write/writer.ts`): a late write then lands behind the end of the old part, where it is void.
 */
import { dirname } from "node:path"
import { checkSignal, onAbort, StorageError } from "@sessions/core/storage"
import { errnoOf, isMissing } from "../disk/errors.ts"
import type { Files } from "../disk/files.ts"
import { checkInnerFolder, createFile, discard, ensureFolder } from "../disk/small-files.ts"
import { holdLock, isFull, type Lock, makeLockFile, ownerIn, toWaitPath } from "./lock-file.ts"
import { createOwner, isDead, type LockOwner } from "./owner.ts"

export interface AcquireOptions {
  /** Milliseconds to wait for another holder; then `unavailable`. */
  readonly timeout: number
  readonly signal?: AbortSignal | undefined
  /** Lets a waiting process go first; set after the lock was yielded to one. */
  readonly polite?: boolean
}

/** The owner of a lock not refreshed for this long is stopped, swapped out, or on a broken machine. */
const STALE_MS = 10_000

/**
 * Waits for the lock. Rejects with `unavailable` after the timeout and with `aborted` at the signal; errors of the file system are
 * passed on.
 */
export async function acquireLock(files: Files, path: string, o: AcquireOptions): Promise<Lock> {
  checkInnerFolder(files, dirname(path))
  const started = performance.now()
  let observed = OBSERVED.get(path)
  OBSERVED.delete(path)
  if (o.polite === true && files.lstat(toWaitPath(path)) !== undefined) await pause(POLITE_MS, o.signal)
  for (let attempt = 0; ; attempt++) {
    const lock = tryLock(files, path)
    if (lock !== undefined) return lock
    observed = observe(files, path, observed)
    if (observed !== undefined && isStale(observed)) {
      const taken = takeOver(files, path, observed)
      if (taken !== undefined) return taken
    }
    const waited = performance.now() - started
    if (waited >= o.timeout) {
      if (observed !== undefined) OBSERVED.set(path, observed)
      throw timeoutError(path, observed, waited)
    }
    askFor(files, path)
    await pause(Math.min(1 + attempt, MAX_POLL_MS) * (0.5 + Math.random()), o.signal)
  }
}

/** The lock, or undefined if it is held. */
export function tryLock(files: Files, path: string): Lock | undefined {
  checkInnerFolder(files, dirname(path))
  const owner = createOwner(false)
  const since = { wall: Date.now(), steady: performance.now() }
  let isNamed: boolean
  try {
    isNamed = makeLockFile(files, path, owner)
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return undefined
    if (!isMissing(error)) throw error
    ensureFolder(files, dirname(path))
    return tryLock(files, path)
  }
  discard(files, toWaitPath(path))
  return holdLock(files, path, owner, since, isNamed)
}

interface Observation {
  readonly owner: LockOwner | undefined
  readonly mtimeMs: number
  /** Since when this process has seen it unchanged, by the monotonic clock. */
  readonly since: number
}

/** Observations of calls that gave up: with a short timeout none of them alone watches a lock for long enough to know that it is stale. */
const OBSERVED = new Map<string, Observation>()

/** How long a writer waits after yielding: longer than the others take between two attempts. */
const POLITE_MS = 8
const MAX_POLL_MS = 10
/** A lock with an old time stamp must also stay unchanged for this long, because the wall clock may have been set. */
const STILL_MS = 500
/** For a lock without an owner in it: its creator crashed before writing it, or the disk was full. */
const NAMELESS_MS = 1_000

function observe(files: Files, path: string, before: Observation | undefined): Observation | undefined {
  const stat = files.lstat(path)
  if (stat === undefined) return undefined
  const owner = ownerIn(files, path)
  const same = before !== undefined && before.owner?.token === owner?.token && before.mtimeMs === stat.mtimeMs
  return { owner, mtimeMs: stat.mtimeMs, since: same ? before.since : performance.now() }
}

function isStale(seen: Observation): boolean {
  if (seen.owner !== undefined && isDead(seen.owner)) return true
  const still = performance.now() - seen.since
  const limit = seen.owner === undefined ? NAMELESS_MS : STALE_MS
  // A time in the future is of a clock that was set since: a holder would have refreshed it meanwhile.
  return still > limit || (still > STILL_MS && Math.abs(Date.now() - seen.mtimeMs) > limit)
}

/**
 * Replaces a stale lock file by ours. The `.take` file makes this exclusive: two processes that see the same stale lock must not
 * take it from each other.
 */
function takeOver(files: Files, path: string, seen: Observation): Lock | undefined {
  const guard = `${path}.take`
  const dead = seen.owner !== undefined && isDead(seen.owner)
  const owner = createOwner(!dead || (seen.owner?.fence ?? false))
  const since = { wall: Date.now(), steady: performance.now() }
  let isNamed: boolean
  try {
    isNamed = makeLockFile(files, guard, owner)
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error
    const left = files.lstat(guard)
    const taker = ownerIn(files, guard)
    const old = left !== undefined && Math.abs(Date.now() - left.mtimeMs) > STALE_MS
    if (old || (taker !== undefined && isDead(taker))) discard(files, guard)
    return undefined
  }
  const now = observe(files, path, seen)
  if (now === undefined || now.since !== seen.since) {
    discard(files, guard)
    return undefined
  }
  try {
    files.rename(guard, path)
  } catch (error) {
    // This process was stopped for so long that another one removed the `.take` file as stale.
    if (isMissing(error)) return undefined
    // Something other than a file is in the lock's place.
    discard(files, guard)
    throw error
  }
  discard(files, toWaitPath(path))
  return holdLock(files, path, owner, since, isNamed)
}

function askFor(files: Files, path: string): void {
  try {
    createFile(files, toWaitPath(path), new Uint8Array())
  } catch (error) {
    // Without it the holder lets go after a pause only.
    if (errnoOf(error) !== "EEXIST" && !isFull(error)) throw error
  }
}

function timeoutError(path: string, seen: Observation | undefined, waited: number): StorageError {
  // Another program may have written the file: its host name must not contain terminal control characters.
  const host = seen?.owner?.host.replaceAll(/\p{C}/gu, "?") ?? ""
  const owner =
    seen?.owner === undefined ? "another writer" : `process ${seen.owner.pid}${host === "" ? "" : ` on ${host}`}`
  return new StorageError(
    "unavailable",
    `Waited ${Math.round(waited)} ms for the lock at ${path}, which ${owner} holds: repeat the call, or set a longer timeout.`,
    { at: path },
  )
}

/** Resolves after `ms`, or rejects with `aborted` as soon as the signal fires. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer)
      off?.()
      try {
        checkSignal(signal)
        resolve()
      } catch (error) {
        reject(error)
      }
    }
    const timer = setTimeout(done, ms)
    const off = signal === undefined ? undefined : onAbort(signal, done)
    if (signal?.aborted === true) done()
  })
}
