/**
 * The blobs of an exported log, in a folder beside its file: `FILE.blobs/<sha256>`. Export fills it with what the log refers to,
 * import takes from it what the store may lack.
 */
import { blobRefs } from "@sessions/core"
import type { Entry, Header } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { CommandError } from "../errors.ts"
import { filesIn, makeFolder, writeNewFile } from "./read-write.ts"

export function blobFolderOf(file: string): string {
  return `${file}.blobs`
}

/** Gives how many were written. One that the store lacks is left out: the log's diagnostics say so. */
export async function writeBlobs(storage: SessionStorage, id: string, folder: string, cwd: string): Promise<number> {
  let written = 0
  for (const hash of await referencedBlobs(storage, id)) {
    const bytes = await storage.blobs.get(hash)
    if (bytes === undefined) continue
    if (written === 0) await makeFolder(folder, cwd)
    await writeNewFile(`${folder}/${hash}`, cwd, once(bytes))
    written++
  }
  return written
}

/** Gives how many there were. A file whose name is not the hash of its bytes would answer for another's content: refused. */
export async function readBlobs(storage: SessionStorage, folder: string, cwd: string): Promise<number> {
  let read = 0
  for (const file of await filesIn(folder, cwd)) {
    if (!HASH.test(file.name)) continue
    const hash = await storage.blobs.put(await file.read())
    if (hash !== file.name)
      throw new CommandError(`${folder}/${file.name} is damaged: its bytes have the hash ${hash}.`)
    read++
  }
  return read
}

const HASH = /^[0-9a-f]{64}$/

async function referencedBlobs(storage: SessionStorage, id: string): Promise<ReadonlySet<string>> {
  const hashes = new Set<string>()
  for await (const { lines } of storage.read(id)) {
    for (const line of lines) for (const hash of hashesIn(line)) hashes.add(hash)
  }
  return hashes
}

/** Only places that the format calls references: a text that looks like one is somebody's text. */
function hashesIn(line: string): readonly string[] {
  // Most lines have none, and parsing is what would take the time.
  if (!/[0-9a-f]{64}/.test(line)) return []
  const record = parsed(line)
  if (record === undefined) return []
  return [
    ...blobRefs(record, { foreign: true }).map(({ hash }) => hash),
    ...snapshotBlobs(record),
    ...((record as Partial<Header>).origin?.backup?.blobs ?? []),
  ].map((ref) => ref.replace(/^sha256:/, ""))
}

function snapshotBlobs(record: object): string[] {
  const { type, files } = record as Partial<Entry>
  if (type !== "file_snapshot" || typeof files !== "object" || files === null) return []
  return Object.values(files).flatMap(({ blob }: { blob: string | null }) => (blob === null ? [] : [blob]))
}

function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === "object" && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

async function* once(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
