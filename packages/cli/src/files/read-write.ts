/** Reads and writes files outside the store, for import and export. Errors name the file and the reason. */
import { createReadStream } from "node:fs"
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { CommandError } from "../errors.ts"

export type Chunks = AsyncIterable<Uint8Array>

/** Opens a file or a pipe. A file is returned as a function, because it can be read again; a pipe only once. */
export async function openFile(file: string, cwd: string): Promise<Chunks | (() => Chunks)> {
  const path = resolve(cwd, file)
  const found = await withFileError(file, "read", () => stat(path))
  if (found.isDirectory()) throw new CommandError(`cannot read ${file}: it is a folder; name a file.`)
  return found.isFile() ? () => chunksOf(file, path) : chunksOf(file, path)
}

/** Creates a file, never overwrites one, and returns the bytes written. A failed write removes the incomplete file. */
export async function writeNewFile(
  file: string,
  cwd: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<number> {
  const path = resolve(cwd, file)
  const handle = await withFileError(file, "write", () => open(path, "wx", 0o600))
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      const data = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
      await withFileError(file, "write", () => handle.writeFile(data))
      bytes += data.length
    }
    await withFileError(file, "write", () => handle.sync())
  } catch (error) {
    await handle.close()
    await rm(path, { force: true })
    throw error
  }
  await withFileError(file, "write", () => handle.close())
  return bytes
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

/** Returns the path of the first folder that was created, or undefined if all exist. */
export function makeFolder(folder: string, cwd: string): Promise<string | undefined> {
  return withFileError(folder, "create", () => mkdir(resolve(cwd, folder), { recursive: true, mode: 0o700 }))
}

/** Removes a file, or a folder with its content. A missing one is no error. */
export function removePath(path: string, cwd: string): Promise<void> {
  return withFileError(path, "remove", () => rm(resolve(cwd, path), { recursive: true, force: true }))
}

async function* chunksOf(file: string, path: string): Chunks {
  const stream: AsyncIterable<Uint8Array> = createReadStream(path)
  try {
    yield* stream
  } catch (error) {
    throw toFileError(file, "read", error)
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

async function withFileError<T>(file: string, verb: string, work: () => Promise<T>): Promise<T> {
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
