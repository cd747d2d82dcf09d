/** Making a session: whole or not at all, with one winner. */
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { isMissing } from "../errors.ts"
import type { Files } from "../disk/files.ts"
import { createLogIdentity, storeIdentity } from "../log/identity.ts"
import {
  FIRST_PART,
  FOLDER_MODE,
  IDENTITY_FILE,
  type Layout,
  METADATA_FILE,
  type SessionPaths,
} from "../disk/layout.ts"
import {
  createFile,
  discard,
  ensureFolder,
  notAFolder,
  syncFile,
  syncFolder,
  toTemporary,
} from "../disk/small-files.ts"
import { keepAside } from "../log/torn.ts"
import { listParts } from "../log/view.ts"

/**
 * Builds the folder aside and renames it into place. A folder that is there without a log (it holds documents, or a first line that
 * never became whole) gets one in place: the name `session.jsonl` appears with the whole batch in it.
 */
export async function createLog(
  files: Files,
  layout: Layout,
  paths: SessionPaths,
  bytes: Uint8Array,
  durable: boolean,
): Promise<void> {
  const stat = files.lstat(paths.folder)
  if (stat?.isDirectory() === false) throw notAFolder(paths.folder)
  if (stat === undefined) await createFolder(files, layout, paths, bytes, durable)
  else await createInPlace(files, paths.folder, bytes, durable)
  if (durable) await syncFolder(files, layout.root)
}

async function createFolder(
  files: Files,
  layout: Layout,
  paths: SessionPaths,
  bytes: Uint8Array,
  durable: boolean,
): Promise<void> {
  const fresh = join(layout.fresh, randomUUID())
  makeFolder(files, layout.fresh, fresh)
  try {
    createFile(files, join(fresh, FIRST_PART), bytes)
    storeIdentity(files, fresh, createLogIdentity())
    if (durable) await syncFiles(files, fresh)
    files.rename(fresh, paths.folder)
  } catch (error) {
    await files.remove(fresh)
    throw error
  }
}

async function createInPlace(files: Files, folder: string, bytes: Uint8Array, durable: boolean): Promise<void> {
  for (const part of listParts(files, folder)) {
    const path = join(folder, part.name)
    const size = files.lstat(path)?.size ?? 0
    if (size > 0) await keepAside(files, path, 0, size)
    files.unlink(path)
  }
  discard(files, join(folder, METADATA_FILE))
  storeIdentity(files, folder, createLogIdentity())
  const temporary = toTemporary(join(folder, FIRST_PART))
  createFile(files, temporary, bytes)
  try {
    files.rename(temporary, join(folder, FIRST_PART))
  } catch (error) {
    discard(files, temporary)
    throw error
  }
  if (durable) await syncFiles(files, folder)
}

/** The folder for new ones is there nearly always, so it is made only where it turns out to be missing. */
function makeFolder(files: Files, parent: string, path: string): void {
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
