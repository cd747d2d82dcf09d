import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Runs `use` with a temporary folder, which is removed afterwards, also when the process exits by a signal. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "sessions-bench-"))
  // A browser that has just been closed may still be writing to its profile.
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.once("exit", remove)
  try {
    return await use(folder)
  } finally {
    process.off("exit", remove)
    remove()
  }
}
