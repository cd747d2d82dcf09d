/** Getting rid of folders: out of sight in one step, then removed at leisure. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { isMissing } from "./errors.ts"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { ensureFolder } from "./small-files.ts"

/** Gives the path where the folder is now. Throws like a rename. */
export function moveToTrash(files: Files, layout: Layout, path: string): string {
  const trashed = join(layout.trash, randomUUID())
  try {
    files.rename(path, trashed)
  } catch (error) {
    if (!isMissing(error)) throw error
    ensureFolder(files, layout.trash)
    files.rename(path, trashed)
  }
  return trashed
}
