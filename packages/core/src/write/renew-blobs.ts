/**
 * When the blobs of lines that are not in the log yet must be put again: until the lines are there, a collector in another process takes
 * the blobs for unused, and a process may be suspended at any point for longer than a collector waits.
 */
import type { PendingAppend } from "./pending.ts"

/** Milliseconds. Far less than the day after which `collectBlobs` removes a blob that no log names, far more than a send usually takes. */
const BLOBS_ARE_OLD = 60 * 60 * 1000

/** `putAt`: when the put began. */
export function areOld(putAt: number, now: number): boolean {
  return now - putAt > BLOBS_ARE_OLD
}

export function hasOldBlobs({ putAt }: PendingAppend, clock: { now(): number }): boolean {
  return putAt !== undefined && areOld(putAt, clock.now())
}
