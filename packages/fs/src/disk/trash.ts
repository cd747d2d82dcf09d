/**
 * Removes folders in two steps: one rename moves a folder out of use, then its files are removed. What a crash or a failure leaves of
 * the second step is found by the name of its session, and is removed by the next deletion of it or when the root is opened next.
 */
import { randomUUID } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { errnoOf, isMissing } from "./errors.ts"
import type { Files } from "./files.ts"
import { RANDOM_NAME } from "./file-names.ts"
import { below, FIRST_PART, type Layout } from "./layout.ts"
import {
  checkInnerFolder,
  createFile,
  ensureFolder,
  isFolderOrNothing,
  notAFolder,
  retryBusy,
  TEMPORARY,
} from "./small-files.ts"

/** Between the file name of a session, in which it cannot occur, and a random part. */
const SEPARATOR = "~"

const OWN = new RegExp(`^(?:[^~]+${SEPARATOR})?${RANDOM_NAME}$`)

/** Whether a name in `.new` or `.trash` is one that this package gives: anything else there is not ours to remove. */
export function isOwnName(name: string): boolean {
  return OWN.test(name)
}

/** A name in `.new` or `.trash` for a folder with content of the session with this file name. */
export function toLeftoverName(name: string): string {
  return `${name}${SEPARATOR}${randomUUID()}`
}

/**
 * Returns the folder's new path. `name` is the file name of its session. `check` is called right before each rename; what it throws is
 * passed on.
 *
 * A folder that can only be renamed as a copy, such as one in an image layer of overlayfs, stays: its log is gone once its first part is,
 * and {@link removeFolder} removes the rest. Then the path is the one before. Sync that folder before the rest is removed.
 */
export async function moveToTrash(
  files: Files,
  layout: Layout,
  path: string,
  name: string,
  check: () => void = () => undefined,
): Promise<string> {
  const move = async (folder: string): Promise<string> => {
    checkInnerFolder(files, folder)
    const trashed = join(folder, toLeftoverName(name))
    try {
      await retryBusy(() => {
        check()
        files.rename(path, trashed)
      })
    } catch (error) {
      if (errnoOf(error) === "EXDEV") return endInPlace(files, path, check)
      throw error
    }
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
    // Deleting must work on a full disk. The folder for new files exists nearly always, and is searched like this one.
    if (errnoOf(error) === "ENOSPC" || errnoOf(error) === "EDQUOT") return await move(layout.fresh)
    throw error
  }
  return move(layout.trash)
}

/** In a folder whose log has ended in place: what is left of it is no damaged log. A temporary file to everyone else. */
const ENDED = `${TEMPORARY}ended`

/** The removal of the first part is the step that commits, and the mark says that it was removed on purpose. */
async function endInPlace(files: Files, folder: string, check: () => void): Promise<string> {
  try {
    createFile(files, join(folder, ENDED), new Uint8Array())
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error
  }
  await retryBusy(() => {
    check()
    try {
      files.unlink(join(folder, FIRST_PART))
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  })
  return folder
}

/** Whether the log in this folder, which has no first part, was ended in place, so that the rest of it is to be removed. */
export function hasEndedInPlace(files: Files, folder: string): boolean {
  return files.lstat(join(folder, ENDED)) !== undefined && files.lstat(join(folder, FIRST_PART)) === undefined
}

/** Removes a folder out of use, the mark of one that has ended in place last. */
export async function removeFolder(files: Files, path: string): Promise<void> {
  if (isFolderOrNothing(files, path) && hasEndedInPlace(files, path)) {
    for (const { name } of files.readdir(path)) if (name !== ENDED) await files.remove(join(path, name))
  }
  await files.remove(path)
}

/**
 * The paths of everything out of use that has content of a session: what was moved to the trash, or never put in place. Call under the
 * session's lock, since its creations and replacements build such a folder. Throws if the folders cannot be read.
 */
export function leftoversOf(files: Files, layout: Layout, name: string): string[] {
  const isOfSession = (entry: string): boolean => entry.startsWith(`${name}${SEPARATOR}`) && isOwnName(entry)
  // A name without a separator is of version 0.1, and may be of any session.
  const isTrash = (entry: string): boolean => isOfSession(entry) || (!entry.includes(SEPARATOR) && isOwnName(entry))
  const folder = below(layout.root, name)
  const ended = isFolderOrNothing(files, folder) && hasEndedInPlace(files, folder) ? [folder] : []
  return [...ended, ...pathsIn(files, layout.trash, isTrash), ...pathsIn(files, layout.fresh, isOfSession)]
}

/**
 * Removes what {@link leftoversOf} finds. Returns whether nothing is left. `sync` is called with each folder from which something was
 * removed; what it throws is passed on.
 */
export async function purge(
  files: Files,
  layout: Layout,
  name: string,
  sync: (folder: string) => Promise<void>,
): Promise<boolean> {
  const folders = new Set<string>()
  const isPurged = await removeLeftovers(files, layout, name, folders)
  for (const folder of folders) await sync(folder)
  return isPurged
}

async function removeLeftovers(files: Files, layout: Layout, name: string, folders: Set<string>): Promise<boolean> {
  // A sweep of another process may have given a folder another name meanwhile, and is removing it.
  for (let attempt = 0; attempt < PURGE_ATTEMPTS; attempt++) {
    try {
      const left = leftoversOf(files, layout, name)
      if (left.length === 0) return true
      for (const path of left) {
        folders.add(dirname(path))
        await removeFolder(files, path).catch(() => undefined)
      }
    } catch {
      return false
    }
  }
  return false
}

const PURGE_ATTEMPTS = 3

/** The paths of everything of ours in the trash. Throws if the folder cannot be read. */
export function trashed(files: Files, layout: Layout): string[] {
  return pathsIn(files, layout.trash, isOwnName)
}

/** The file name of the session whose content a path of the trash has; undefined for one of version 0.1, which does not say. */
export function nameInTrash(path: string): string | undefined {
  const entry = basename(path)
  const at = entry.indexOf(SEPARATOR)
  return at < 0 ? undefined : entry.slice(0, at)
}

function pathsIn(files: Files, folder: string, isWanted: (name: string) => boolean): string[] {
  if (!isFolderOrNothing(files, folder)) throw notAFolder(folder)
  try {
    return files.readdir(folder).flatMap(({ name }) => (isWanted(name) ? [join(folder, name)] : []))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
