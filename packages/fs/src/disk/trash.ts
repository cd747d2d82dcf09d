/** Getting rid of folders: out of sight in one step, then removed at leisure. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { errnoOf, isMissing } from "./errors.ts"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { checkInnerFolder, ensureFolder, retryBusy } from "./small-files.ts"

/** Gives the path where the folder is now. Throws like a rename, and what `check` throws, which is called right before it. */
export async function moveToTrash(
  files: Files,
  layout: Layout,
  path: string,
  check: () => void = () => undefined,
): Promise<string> {
  const move = async (folder: string): Promise<string> => {
    checkInnerFolder(files, folder)
    const trashed = join(folder, randomUUID())
    await retryBusy(() => {
      check()
      files.rename(path, trashed)
    })
    return trashed
  }
  try {
    return await move(layout.trash)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  try {
    ensureFolder(files, layout.trash)
  } catch (error) {
    // Deleting must be possible on a full disk; this folder is there nearly always, and is swept like the other.
    if (errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT") return await move(layout.fresh)
    throw error
  }
  return move(layout.trash)
}
