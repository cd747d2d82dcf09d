/** The time of the last append is the modification time of the last part's file, and must not go back when the machine's clock does. */
import type { Files } from "../disk/files.ts"

/**
 * Call after a write. Where the clock stands before the time that the log had already, the log keeps that until the clock has
 * caught up. Half a millisecond is added, since a time that is stored in other units may come back a little smaller.
 */
export function keepTime(files: Files, path: string, before: number): void {
  const known = Math.floor(before)
  if (Date.now() >= known) return
  try {
    files.utimes(path, known + 0.5)
  } catch {
    // The lines are there; a listing that sorts them wrongly is no reason to say otherwise.
  }
}
