/** Creates a session: whole or not at all, with exactly one winner. */
import { join } from "node:path"
import type { Files } from "../disk/files.ts"
import {
  FIRST_PART,
  FOLDER_MODE,
  IDENTITY_FILE,
  type Layout,
  METADATA_FILE,
  type SessionPaths,
} from "../disk/layout.ts"
import type { Root } from "../disk/root.ts"
import {
  checkInnerFolder,
  createFile,
  discard,
  ensureFolder,
  notAFolder,
  removeQuietly,
  syncFile,
  syncFolder,
  toTemporary,
} from "../disk/small-files.ts"
import { hasEndedInPlace, removeFolder, toLeftoverName } from "../disk/trash.ts"
import { orUndo } from "../disk/undo.ts"
import { errnoOf, isMissing } from "../disk/errors.ts"
import { createLogIdentity, storeIdentity } from "../log/identity.ts"

export interface Creation {
  readonly files: Files
  readonly layout: Layout
  readonly root: Root
  readonly paths: SessionPaths
  readonly bytes: Uint8Array
  /** Whether files and names must be on stable storage when it resolves. */
  readonly durable: boolean
  /** Throws if the lock was lost. Called before each step that could damage another writer's log. */
  readonly checkHeld: () => void
}

/**
 * Builds the folder in `.new` and renames it into place. If a folder without a log exists, with documents, the log is
 * created in it: `session.jsonl` appears by a rename with the whole batch. Returns the log's identity.
 */
export async function createLog(creation: Creation): Promise<string> {
  const { files, paths } = creation
  let stat = files.lstat(paths.folder)
  if (stat?.isDirectory() === false) throw notAFolder(paths.folder)
  if (stat !== undefined && hasEndedInPlace(files, paths.folder)) {
    creation.checkHeld()
    await removeFolder(files, paths.folder)
    stat = undefined
  }
  const log = createLogIdentity()
  if (stat !== undefined || !(await createFolder(creation, log))) await createInPlace(creation, log)
  return log
}

/** False if something else, such as a document, has taken the folder's place meanwhile. */
async function createFolder({ files, layout, root, paths, bytes, durable }: Creation, log: string): Promise<boolean> {
  const fresh = join(layout.fresh, toLeftoverName(paths.name))
  makeFolder(files, layout.fresh, fresh)
  try {
    createFile(files, join(fresh, FIRST_PART), bytes)
    storeIdentity(files, fresh, log)
    if (durable) await syncFiles(files, fresh)
    files.rename(fresh, paths.folder)
  } catch (error) {
    await removeQuietly(files, fresh)
    const errno = errnoOf(error)
    if (errno === "ENOTEMPTY" || errno === "EEXIST") return false
    throw error
  }
  if (!durable) return true
  const undo = async (): Promise<void> => {
    files.rename(paths.folder, fresh)
    await removeQuietly(files, fresh)
  }
  await orUndo(() => root.sync(), undo, unknown(paths))
  return true
}

async function createInPlace(creation: Creation, log: string): Promise<void> {
  const { files, root, paths, bytes, durable, checkHeld } = creation
  const { folder } = paths
  const path = join(folder, FIRST_PART)
  checkHeld()
  // Without it a crash before the lines are there would leave the row of a log that is gone.
  discard(files, join(folder, METADATA_FILE))
  storeIdentity(files, folder, log)
  const temporary = toTemporary(path)
  createFile(files, temporary, bytes)
  try {
    if (durable) await syncFile(files, temporary)
    if (durable) await syncFile(files, join(folder, IDENTITY_FILE))
    checkHeld()
    files.rename(temporary, path)
  } catch (error) {
    discard(files, temporary)
    throw error
  }
  if (!durable) return
  const sync = async (): Promise<void> => {
    await syncFolder(files, folder)
    await root.sync()
  }
  await orUndo(sync, () => files.unlink(path), unknown(paths))
}

/** The parent exists nearly always, so it is created only after an error. */
function makeFolder(files: Files, parent: string, path: string): void {
  checkInnerFolder(files, parent)
  try {
    files.mkdir(path, FOLDER_MODE)
  } catch (error) {
    if (!isMissing(error)) throw error
    ensureFolder(files, parent)
    files.mkdir(path, FOLDER_MODE)
  }
}

async function syncFiles(files: Files, folder: string): Promise<void> {
  for (const name of [FIRST_PART, IDENTITY_FILE]) await syncFile(files, join(folder, name))
  await syncFolder(files, folder)
}

function unknown({ session, folder }: SessionPaths): string {
  return `Session ${session} was made in ${folder}, but the disk could neither be made to keep it nor let go of it: look whether it is there.`
}
