import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder of its own on the disk, gone afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "sessions-bench-"))
  try {
    return await use(folder)
  } finally {
    // A browser that has just been closed may still be writing to its profile.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
