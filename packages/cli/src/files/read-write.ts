/** Reads and writes files outside the store, for import and export. Errors name the file and the reason. */
import { closeSync, createReadStream, openSync, readSync } from "node:fs"
import { link, lstat, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { randomUUID } from "node:crypto"
import { dirname, join, resolve } from "node:path"
import { setImmediate } from "node:timers/promises"
import { CommandError } from "../errors.ts"
import { decompressed, isZstd } from "./zstd.ts"

export type Chunks = AsyncIterable<Uint8Array>

/** Opens a file, which is decompressed if its name ends in `.zst` or `.zstd`, or a pipe. A file is returned as a function, because it can be read again; a pipe only once. */
export async function openFile(file: string, cwd: string): Promise<Chunks | (() => Chunks)> {
  const path = resolve(cwd, file)
  const found = await withFileError(file, "read", () => stat(path))
  if (found.isDirectory()) throw new CommandError(`cannot read ${file}: it is a folder; name a file.`)
  return found.isFile() ? () => chunksOf(file, path, true) : chunksOf(file, path, false)
}

/**
 * Creates a file, never overwrites one, and returns the bytes written. The file gets its name when it is complete and synced, so that other
 * programs never read half of it: a crash leaves at most a `.sessions-*.tmp` beside it.
 */
export async function writeNewFile(
  file: string,
  cwd: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<number> {
  const path = resolve(cwd, file)
  const folder = dirname(path)
  await withFileError(file, "write", () => refuseExisting(path))
  const temporary = join(folder, `.sessions-${randomUUID()}.tmp`)
  const handle = await withFileError(file, "write", () => open(temporary, "wx", 0o600))
  let bytes = 0
  try {
    try {
      for await (const chunk of chunks) {
        const data = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
        await withFileError(file, "write", () => handle.writeFile(data))
        bytes += data.length
      }
      await withFileError(file, "write", () => handle.sync())
    } finally {
      await withFileError(file, "write", () => handle.close())
    }
    await withFileError(file, "write", () => moveToNewName(temporary, path))
    await withFileError(file, "write", () => syncFolder(folder))
  } finally {
    await rm(temporary, { force: true })
  }
  return bytes
}

async function refuseExisting(path: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined
    throw error
  })
  if (found !== undefined) throw Object.assign(new Error("the file exists"), { code: "EEXIST" })
}

/** A link is refused if the name was taken meanwhile; a file system without hard links can only rename. */
async function moveToNewName(temporary: string, path: string): Promise<void> {
  try {
    await link(temporary, path)
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw error
    await refuseExisting(path)
    await rename(temporary, path)
  }
}

/** Makes new names in a folder durable. Windows cannot open a folder, and keeps names without it. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return
  const handle = await open(folder, "r")
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export interface NamedFile {
  readonly name: string
  readonly read: () => Promise<Uint8Array>
}

/** The files in a folder; empty if the folder does not exist. */
export async function filesIn(folder: string, cwd: string): Promise<readonly NamedFile[]> {
  const path = resolve(cwd, folder)
  const names = await readdir(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return []
    throw error
  })
  return names.map((name) => ({
    name,
    read: () => withFileError(join(folder, name), "read", () => readFile(join(path, name))),
  }))
}

/** Returns the path of the first folder that was created, or undefined if all exist. The names of new folders are durable. */
export async function makeFolder(folder: string, cwd: string): Promise<string | undefined> {
  const path = resolve(cwd, folder)
  const first = await withFileError(folder, "create", () => mkdir(path, { recursive: true, mode: 0o700 }))
  if (first === undefined) return undefined
  for (let made = path; made.length >= first.length; made = dirname(made)) {
    const above = dirname(made)
    await withFileError(folder, "create", () => syncFolder(above))
    if (above === made) break
  }
  return first
}

/** Removes a file, or a folder with its content. A missing one is no error. */
export function removePath(path: string, cwd: string): Promise<void> {
  return withFileError(path, "remove", () => rm(resolve(cwd, path), { recursive: true, force: true }))
}

async function* chunksOf(file: string, path: string, isFile: boolean): Chunks {
  try {
    if (isZstd(path)) yield* decompressed(file, createReadStream(path))
    else if (isFile) yield* piecesOf(path)
    else yield* createReadStream(path) as AsyncIterable<Uint8Array>
  } catch (error) {
    throw toFileError(file, "read", error)
  }
}

/** After so many pieces, 4 MB, other work has its turn: an interruption, and the line that shows the progress. */
const PIECES_IN_A_ROW = 64

/** The bytes of a file, in one buffer: a stream of Node takes half as long as it takes to parse them. */
async function* piecesOf(path: string): Chunks {
  const buffer = new Uint8Array(65_536)
  const fd = openSync(path, "r")
  try {
    let pieces = 0
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      yield buffer.subarray(0, read)
      if (++pieces % PIECES_IN_A_ROW === 0) await setImmediate()
    }
  } finally {
    closeSync(fd)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or folder",
  EISDIR: "it is a folder; name a file",
  ENOTDIR: "part of the path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "it already exists; choose another name or remove it",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
}

/** An error of the file system becomes one that names the file and the reason. */
export async function withFileError<T>(file: string, verb: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFileError(file, verb, error)
  }
}

function toFileError(file: string, verb: string, error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined) return error
  return new CommandError(`cannot ${verb} ${file}: ${REASONS[code] ?? code}.`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === "string" ? code : undefined
}
