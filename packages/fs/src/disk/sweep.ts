/** Removing what processes that ended left in the folders for new and for deleted ones. */
import { join } from "node:path"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { discard, isFolderOrNothing, isTemporary, removeQuietly } from "./small-files.ts"
import { interruptedSwaps } from "./swap.ts"

/** Nothing takes so long to build or to remove, and a clock may be set by hours. */
const LEFT_MS = 24 * 60 * 60 * 1000

/**
 * What is older than a day, but for logs that a swap left aside: those are whole, and theirs to complete who opens the session. What
 * cannot be looked at or removed is left for another time.
 */
export async function sweepLeftovers(files: Files, layout: Layout): Promise<void> {
  for (const folder of [layout.trash, layout.fresh, layout.docs]) {
    const names = namesIn(files, folder)
    const kept = new Set(interruptedSwaps(names).map((name) => `${name}.swap`))
    for (const name of names) {
      if (kept.has(name) || (folder === layout.docs && !isTemporary(name))) continue
      const path = join(folder, name)
      if (isOld(files, path)) await removeQuietly(files, path)
    }
  }
}

/** Small files of a session's folder that were being written when their writer ended. */
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
