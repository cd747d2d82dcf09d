/** Getting rid of folders: out of sight in one step, then removed at leisure. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { isMissing } from "../errors.ts"
import type { Files } from "./files.ts"
import type { Layout } from "./layout.ts"
import { checkInnerFolder, ensureFolder, patiently } from "./small-files.ts"

/** Gives the path where the folder is now. Throws like a rename, and what `check` throws, which is called right before it. */
export async function moveToTrash(
  files: Files,
  layout: Layout,
  path: string,
  check: () => void = () => undefined,
): Promise<string> {
  checkInnerFolder(files, layout.trash)
  const trashed = join(layout.trash, randomUUID())
  const move = (): void => {
    check()
    files.rename(path, trashed)
  }
  try {
    await patiently(move)
  } catch (error) {
    if (!isMissing(error)) throw error
    ensureFolder(files, layout.trash)
    await patiently(move)
  }
  return trashed
}
