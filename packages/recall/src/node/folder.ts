/** Memory files in a folder, where people edit them too: read, compare and rename under a lock. */
import { createHash, randomBytes } from "node:crypto"
import { join, resolve } from "node:path"
import { type CallOptions, checkSignal, StorageError } from "@sessions/core/storage"
import { withFileLock, toStorageError } from "@sessions/fs/lock"
import { checkFileName, checkMemoryText, checkScope, invalidError, isHiddenName, isMemoryName } from "../files/names.ts"
import type { MemoryFiles, MemoryStore } from "../files/types.ts"
import { codeOf, CREATE_FILE, isMissing, OPEN_FILE, OPEN_FOLDER, type System, SYSTEM } from "./system.ts"

/**
 * Keeps the memory of one scope as `.md` files in a folder, made at the first write. Files have the mode 0600 and are replaced by a rename
 * after they are on the disk, so none is ever half written. The first write stores the scope in `.scope`; with another scope every call is
 * `invalid` from then on. Links are not followed, except that the folder itself may be one.
 *
 * Writers of this package wait for each other, up to 10 s. An editor takes no lock: what it saves after the file was compared and before
 * it is renamed, two calls of the file system later, is overwritten.
 */
export function createFolderMemory(folder: string): MemoryStore {
  return folderMemoryOn(SYSTEM, folder)
}

/** The same on other calls to the file system, for tests. */
export function folderMemoryOn(system: System, folder: string): MemoryStore {
  if (typeof folder !== "string" || folder === "") throw invalidError("createFolderMemory needs the path of a folder.")
  const path = resolve(folder)
  return {
    of(scope) {
      checkScope("of", scope)
      return filesOf(system, path, scope)
    },
  }
}

const LOCK = ".memory.lock"
const SCOPE = ".scope"
const TEMPORARY = ".memory-new-"
const FILE_MODE = 0o600

function filesOf(system: System, folder: string, scope: string): MemoryFiles {
  /** Whether the folder has an owner. Without `.scope` it belongs to the scope that writes first. */
  const checkOwner = (): boolean => {
    const owner = readBytes(system, join(folder, SCOPE))?.toString("utf8")
    if (owner !== undefined && owner !== scope) {
      const other = JSON.stringify(owner.slice(0, 200))
      throw invalidError(
        `${folder} has the memory of ${other}: use a folder for each scope, or the same scope, or remove ${SCOPE}.`,
      )
    }
    return owner !== undefined
  }

  const change = (
    name: string,
    to: string | undefined,
    { expect, signal }: CallOptions & { readonly expect: string | null },
  ): Promise<void> =>
    guarded(`change ${name}`, folder, () =>
      // The lock does not accept a folder that is a link.
      withFileLock(
        join(realPath(system, folder), LOCK),
        async (checkHeld) => {
          if (!checkOwner() && to !== undefined) replaceFile(system, folder, SCOPE, Buffer.from(scope), checkHeld)
          const path = join(folder, fileNameOf(name))
          const compare = (): void => {
            checkHeld()
            const found = readBytes(system, path)
            if ((found === undefined ? null : versionOf(found)) === expect) return
            throw new StorageError("conflict", `${name} has another version, or does not exist. Read it again.`, {
              at: path,
            })
          }
          compare()
          if (to === undefined) {
            system.unlinkSync(path)
            syncFolder(system, folder)
          } else replaceFile(system, folder, fileNameOf(name), Buffer.from(to, "utf8"), compare)
        },
        signal === undefined ? {} : { signal },
      ),
    )

  return {
    async list({ signal } = {}) {
      checkSignal(signal)
      return guarded("list the memory files", folder, async () => {
        checkOwner()
        const entries = entriesOf(system, folder).filter((entry) => entry.isFile() && isMemoryName(entry.name))
        return entries.map(({ name }) => name).sort()
      })
    },
    async read(name, { signal } = {}) {
      checkFileName(name)
      checkSignal(signal)
      return guarded(`read ${name}`, folder, async () => {
        checkOwner()
        const bytes = readBytes(system, join(folder, fileNameOf(name)))
        return bytes === undefined ? undefined : { text: decoded(name, bytes), version: versionOf(bytes) }
      })
    },
    async write(name, text, o) {
      checkFileName(name)
      checkMemoryText(name, text)
      checkSignal(o.signal)
      await change(name, text, o)
      return versionOf(Buffer.from(text, "utf8"))
    },
    async delete(name, o) {
      checkFileName(name)
      checkSignal(o.signal)
      await change(name, undefined, o)
    },
  }
}

function fileNameOf(name: string): string {
  return isHiddenName(name) ? `.${name}` : name
}

function versionOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex")
}

/** Keeps a byte order mark. Bytes of another encoding would be lost by a write. */
function decoded(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new StorageError("corrupt", `${name} is not UTF-8 text; it is left as it is. Save it as UTF-8.`, { cause })
  }
}

/** Undefined if there is no file. Anything else in its place is an error. */
function readBytes(system: System, path: string): Buffer | undefined {
  let descriptor: number
  try {
    descriptor = system.openSync(path, OPEN_FILE)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
  try {
    if (!system.fstatSync(descriptor).isFile()) {
      throw new StorageError("misconfigured", `${path} is not a file: move it away.`, { at: path })
    }
    return system.readFileSync(descriptor)
  } finally {
    system.closeSync(descriptor)
  }
}

/** `check` is called last before the rename. */
function replaceFile(system: System, folder: string, name: string, bytes: Uint8Array, check: () => void): void {
  sweep(system, folder)
  const temporary = join(folder, TEMPORARY + randomBytes(8).toString("hex"))
  const descriptor = system.openSync(temporary, CREATE_FILE, FILE_MODE)
  try {
    try {
      for (let done = 0; done < bytes.length; ) done += system.writeSync(descriptor, bytes, done)
      system.fsyncSync(descriptor)
    } finally {
      system.closeSync(descriptor)
    }
    check()
    system.renameSync(temporary, join(folder, name))
  } catch (error) {
    discard(system, temporary)
    throw error
  }
  syncFolder(system, folder)
}

/** Under the lock, a temporary file is one of a writer that was killed. */
function sweep(system: System, folder: string): void {
  for (const { name } of entriesOf(system, folder)) if (name.startsWith(TEMPORARY)) discard(system, join(folder, name))
}

/** The change is visible by now. If the disk may not keep it, the outcome is unknown, and no refusal. */
function syncFolder(system: System, folder: string): void {
  // Windows cannot open a folder, and keeps names without it.
  if (process.platform === "win32") return
  try {
    const descriptor = system.openSync(folder, OPEN_FOLDER)
    try {
      system.fsyncSync(descriptor)
    } finally {
      system.closeSync(descriptor)
    }
  } catch (cause) {
    const message = `A file in ${folder} was changed, but the disk could not be made to keep that: look at the system's log.`
    throw new StorageError("indeterminate", message, { at: folder, cause })
  }
}

function entriesOf(system: System, folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(system, folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

function readEntries(system: System, folder: string): readonly { readonly name: string; isFile(): boolean }[] {
  return system.readdirSync(folder, { withFileTypes: true })
}

function realPath(system: System, folder: string): string {
  try {
    return system.realpathSync(folder)
  } catch (error) {
    if (isMissing(error)) return folder
    throw error
  }
}

function discard(system: System, path: string): void {
  try {
    system.unlinkSync(path)
  } catch {
    // A later write removes it.
  }
}

/** Gives an error of the file system a code and a sentence. */
async function guarded<T>(what: string, folder: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const errno = codeOf(error)
    if (typeof errno !== "string" || !/^E[A-Z]+$/.test(errno)) throw error
    throw toStorageError(error, what, { at: folder })
  }
}
