/** Removes leftovers of crashed processes from the folders for new and deleted files. */
import { join } from "node:path"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { discard, isFolderOrNothing, isTemporary, removeQuietly } from "./small-files.ts"
import { interruptedSwaps } from "./swap.ts"
import { emptyTrash } from "./trash.ts"

/** Nothing takes this long to build or to remove, and clocks may be wrong by hours. */
const LEFT_MS = 24 * 60 * 60 * 1000

/**
 * Empties the trash, and removes new files older than a day, except logs of an interrupted swap: those are whole, and the session's next
 * writer completes them. What cannot be read or removed is left for the next sweep.
 */
export async function sweepLeftovers(files: Files, layout: Layout): Promise<void> {
  await emptyTrash(files, layout)
  for (const folder of [layout.fresh, layout.docs]) {
    const names = namesIn(files, folder)
    const kept = new Set(interruptedSwaps(names).map((name) => `${name}.swap`))
    for (const name of names) {
      if (kept.has(name) || (folder === layout.docs && !isTemporary(name))) continue
      const path = join(folder, name)
      if (isOld(files, path)) await removeQuietly(files, path)
    }
  }
}

/** Temporary files in a session's folder whose writer crashed. */
export function sweepTemporaries(files: Files, folder: string): void {
  for (const name of namesIn(files, folder).filter(isTemporary)) {
    if (isOld(files, join(folder, name))) discard(files, join(folder, name))
  }
}

function isOld(files: Files, path: string): boolean {
  const age = Date.now() - (files.lstat(path)?.mtimeMs ?? Date.now())
  return age > LEFT_MS
}

function namesIn(files: Files, folder: string): string[] {
  if (!isFolderOrNothing(files, folder)) return []
  try {
    return files.readdir(folder).map((entry) => entry.name)
  } catch {
    return []
  }
}
