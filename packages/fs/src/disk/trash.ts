/** Moves folders out of use in one step, so that they can be removed later. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { errnoOf, isMissing } from "./errors.ts"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { checkInnerFolder, ensureFolder, retryBusy } from "./small-files.ts"

/** Returns the folder's new path. `check` is called right before each rename; what it throws is passed on. */
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
    // Deleting must work on a full disk. The folder for new files exists nearly always, and is swept like this one.
    if (errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT") return await move(layout.fresh)
    throw error
  }
  return move(layout.trash)
}
