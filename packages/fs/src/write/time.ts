/** The time of the last append is the modification time of the last part's file, and must not go back when the machine's clock does. */
import type { Files } from "../disk/files.ts"

/** Whether the clock stands before a time that a log has already. */
export function isBack(before: number): boolean {
  return Date.now() < Math.floor(before)
}

/**
 * Call after a write. Where the clock stands before the time that the log had already, the log keeps that until the clock has
 * caught up. Half a millisecond is added, since a time that is stored in other units may come back a little smaller.
 */
export function keepTime(files: Files, path: string, before: number): void {
  if (!isBack(before)) return
  try {
    files.utimes(path, Math.floor(before) + 0.5)
  } catch {
    // The lines are there; a listing that sorts them wrongly is no reason to say otherwise.
  }
}
