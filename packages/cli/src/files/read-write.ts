/** Files outside the store: what import reads and export writes. Failures say the file and the reason. */
import { createReadStream } from "node:fs"
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises"
import { join, resolve } from "node:path"
import { CommandError } from "../errors.ts"

export type Chunks = AsyncIterable<Uint8Array>

/** A file is given as a function, since it can be read again; a pipe as what it yields, once. */
export async function openFile(file: string, cwd: string): Promise<Chunks | (() => Chunks)> {
  const path = resolve(cwd, file)
  const found = await told(file, "read", () => stat(path))
  if (found.isDirectory()) throw new CommandError(`cannot read ${file}: it is a folder.`)
  return found.isFile() ? () => chunksOf(file, path) : chunksOf(file, path)
}

/** Makes a new file; one that is there is left alone. A write that fails leaves no half of a file. Gives the bytes written. */
export async function writeNewFile(
  file: string,
  cwd: string,
  chunks: AsyncIterable<string | Uint8Array>,
): Promise<number> {
  const path = resolve(cwd, file)
  const handle = await told(file, "write", () => open(path, "wx", 0o600))
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      const data = typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk
      await told(file, "write", () => handle.writeFile(data))
      bytes += data.length
    }
    await told(file, "write", () => handle.sync())
  } catch (error) {
    await handle.close()
    await rm(path, { force: true })
    throw error
  }
  await told(file, "write", () => handle.close())
  return bytes
}

export interface NamedFile {
  readonly name: string
  readonly read: () => Promise<Uint8Array>
}

/** What lies in a folder; nothing where there is none. */
export async function filesIn(folder: string, cwd: string): Promise<readonly NamedFile[]> {
  const path = resolve(cwd, folder)
  const names = await readdir(path).catch((error: unknown) => {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return []
    throw error
  })
  return names.map((name) => ({ name, read: () => told(join(folder, name), "read", () => readFile(join(path, name))) }))
}

export async function makeFolder(folder: string, cwd: string): Promise<void> {
  await told(folder, "make", () => mkdir(resolve(cwd, folder), { recursive: true, mode: 0o700 }))
}

async function* chunksOf(file: string, path: string): Chunks {
  const stream: AsyncIterable<Uint8Array> = createReadStream(path)
  try {
    yield* stream
  } catch (error) {
    throw explained(file, "read", error)
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is not a folder",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "it exists already; choose another name or remove it",
  ENOSPC: "the disk is full",
  EROFS: "the file system is read-only",
  ENAMETOOLONG: "the name is too long",
}

async function told<T>(file: string, verb: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explained(file, verb, error)
  }
}

function explained(file: string, verb: string, error: unknown): unknown {
  const code = codeOf(error)
  if (code === undefined) return error
  return new CommandError(`cannot ${verb} ${file}: ${REASONS[code] ?? code}.`, { cause: error })
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined
  return typeof code === "string" ? code : undefined
}
