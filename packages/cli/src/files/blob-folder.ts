/**
 * The blobs of an exported log, in a folder next to its file: `FILE.blobs/<sha256>`. Export writes the blobs that the log refers to,
 * import puts them into the store.
 */
import { blobRefs, isHeader } from "@sessions/core/format"
import type { Header } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { CommandError } from "../errors.ts"
import { filesIn, makeFolder, removePath, writeNewFile } from "./read-write.ts"

export function blobFolderOf(file: string): string {
  return `${file}.blobs`
}

/**
 * Returns the number of blobs written. A blob missing from the store is skipped; the log's diagnostics report it. If one fails, those
 * written before it are removed.
 */
export async function writeBlobs(storage: SessionStorage, id: string, folder: string, cwd: string): Promise<number> {
  const written: string[] = []
  let made: string | undefined
  try {
    for (const hash of await referencedBlobs(storage, id)) {
      const bytes = await storage.blobs.get(hash)
      if (bytes === undefined) continue
      if (written.length === 0) made = await makeFolder(folder, cwd)
      await writeNewFile(`${folder}/${hash}`, cwd, singleChunk(bytes))
      written.push(`${folder}/${hash}`)
    }
  } catch (error) {
    for (const file of made === undefined ? written : [made]) await removePath(file, cwd)
    throw error
  }
  return written.length
}

/** Returns the hashes of the blobs read. Fails on a damaged file, whose bytes do not have the hash in its name. */
export async function readBlobs(storage: SessionStorage, folder: string, cwd: string): Promise<readonly string[]> {
  const read: string[] = []
  for (const file of await filesIn(folder, cwd)) {
    if (!HASH.test(file.name)) continue
    const hash = await storage.blobs.put(await file.read())
    if (hash !== file.name)
      throw new CommandError(
        `${folder}/${file.name} is damaged: its content has the hash ${hash}. Restore the file or remove it.`,
      )
    read.push(hash)
  }
  return read
}

const HASH = /^[0-9a-f]{64}$/

async function referencedBlobs(storage: SessionStorage, id: string): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>()
  // In a log of this format an image has its reference in `blobs`; another program's text may name the blob of another session.
  let foreign = false
  for await (const { lines, from } of storage.read(id)) {
    if (from === 0) foreign = !isHeader(parsed(lines[0] ?? ""))
    for (const line of lines) for (const hash of hashesIn(line, foreign)) hashes.add(hash)
  }
  return hashes
}

/** Reads only the fields that the format defines as references: a text may merely look like one. */
function hashesIn(line: string, foreign: boolean): readonly string[] {
  // Most lines refer to no blob, and parsing them would take most of the time.
  if (!/[0-9a-f]{64}/.test(line)) return []
  const record = parsed(line)
  if (record === undefined) return []
  const backup: unknown = (record as Partial<Header>).origin?.backup?.blobs
  return [
    ...blobRefs(record, { foreign }).map(({ hash }) => hash),
    ...snapshotBlobs(record).flatMap(hashIn),
    ...(Array.isArray(backup) ? backup.flatMap(hashIn) : []),
  ]
}

function snapshotBlobs(record: object): unknown[] {
  const { type, files } = record as { readonly type?: unknown; readonly files?: unknown }
  if (type !== "file_snapshot" || typeof files !== "object" || files === null) return []
  return Object.values(files).map((file: { readonly blob?: unknown } | null | undefined) => file?.blob)
}

/** A reference of another form refers to nothing; `verify` reports it. */
function hashIn(ref: unknown): readonly string[] {
  const hash = typeof ref === "string" ? /^(?:sha256:)?([0-9a-f]{64})$/.exec(ref)?.[1] : undefined
  return hash === undefined ? [] : [hash]
}

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

async function* singleChunk(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
