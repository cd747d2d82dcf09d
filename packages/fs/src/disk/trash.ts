/** Getting rid of folders: out of sight in one step, then removed at leisure. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { isMissing } from "../errors.ts"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { ensureFolder, renamePatiently } from "./small-files.ts"

/** Gives the path where the folder is now. Throws like a rename. */
export async function moveToTrash(files: Files, layout: Layout, path: string): Promise<string> {
  const trashed = join(layout.trash, randomUUID())
  try {
    await renamePatiently(files, path, trashed)
  } catch (error) {
    if (!isMissing(error)) throw error
    ensureFolder(files, layout.trash)
    await renamePatiently(files, path, trashed)
  }
  return trashed
}
