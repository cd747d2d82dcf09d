/** The states of files in the working folder, and their bytes as blobs of the storage. */
import { sha256Hex, type SessionStorage } from "@sessions/core/storage"
import { ABSENT, type FileRecord, isSame, toRef } from "./record.ts"
import type { FileStat, WorkFiles } from "./types.ts"

export interface FileState {
  readonly record: FileRecord
  readonly stat: FileStat
}

/** A file that was written again within one tick of its clock keeps its time. FAT has ticks of 2 s, the longest of all. */
const CLOCK_TICK_MS = 2000
/** A file that is being written is read so often; then the last bytes count. */
const READS = 3

export class FileStates {
  readonly #files: WorkFiles
  readonly #storage: SessionStorage
  readonly #maxFileBytes: number
  /** Files that were read in this process, and still holds while the file's stat is the same. */
  readonly #read = new Map<string, FileState>()

  constructor(files: WorkFiles, storage: SessionStorage, maxFileBytes: number) {
    this.#files = files
    this.#storage = storage
    this.#maxFileBytes = maxFileBytes
  }

  /**
   * The state of a file. It is read only if its size, time or identity changed since it was read last. A folder in the place of a file
   * that is tracked, as `known` says, means that the file is absent.
   */
  async of(path: string, known: FileRecord | undefined): Promise<FileState> {
    const { bytes: _, ...state } = await this.#look(path, known, true)
    return state
  }

  /** The same, and its bytes are in the storage when this resolves, unless `stored` is a record of the same state. */
  async backUp(path: string, stored: FileRecord | undefined): Promise<FileState> {
    let found = await this.#look(path, stored, true)
    if (isSame(found.record, stored) || !("blob" in found.record) || found.record.blob === null) return found
    if (found.bytes === undefined) found = await this.#look(path, stored, false)
    const { bytes, record, stat } = found
    if (bytes === undefined || !("blob" in record)) return found
    await this.#storage.blobs.put(bytes)
    return { record, stat }
  }

  /** Whether the file has not changed since it was in this state. */
  async isStill(path: string, { stat }: FileState): Promise<boolean> {
    return isSameStat(await this.#files.stat(path), stat)
  }

  async #look(
    path: string,
    tracked: FileRecord | undefined,
    mayKnow: boolean,
  ): Promise<FileState & { readonly bytes?: Uint8Array }> {
    for (let read = 1; ; read++) {
      const stat = await readable(() => this.#files.stat(path))
      if (stat === "unreadable") return { record: { skipped: stat }, stat: { kind: "other" } }
      const known = this.#read.get(path)
      if (mayKnow && known !== undefined && isSameStat(known.stat, stat)) return known
      this.#read.delete(path)
      const isTracked = tracked !== undefined && "blob" in tracked
      if (stat.kind === "absent" || (stat.kind === "folder" && isTracked)) return { record: ABSENT, stat }
      if (stat.kind !== "file") return { record: { skipped: "not_a_file" }, stat }
      if (stat.bytes > this.#maxFileBytes) return { record: { skipped: "too_large" }, stat }
      const readAt = Date.now()
      const bytes = await readable(() => this.#files.read(path))
      if (bytes === "unreadable") return { record: { skipped: bytes }, stat }
      const isSettled = isSameStat(await this.#files.stat(path), stat)
      if (!isSettled && read < READS) continue
      if (bytes === undefined) return { record: ABSENT, stat: { kind: "absent" } }
      if (bytes.length > this.#maxFileBytes) return { record: { skipped: "too_large" }, stat }
      const mode = stat.mode === undefined ? {} : { mode: stat.mode }
      const record: FileRecord = { blob: toRef(await sha256Hex(bytes)), bytes: bytes.length, ...mode }
      if (isSettled && stat.mtimeMs < readAt - CLOCK_TICK_MS) this.#read.set(path, { record, stat })
      return { record, stat, bytes }
    }
  }
}

/** Its permissions, or those of a folder on the way to it, keep a file from being read: no reason to fail for all other files. */
async function readable<T>(look: () => Promise<T>): Promise<T | "unreadable"> {
  try {
    return await look()
  } catch (error) {
    const { code } = error as { code?: unknown }
    if (code === "EACCES" || code === "EPERM") return "unreadable"
    throw error
  }
}

function isSameStat(a: FileStat, b: FileStat): boolean {
  if (a.kind !== "file" || b.kind !== "file") return a.kind === b.kind
  return a.bytes === b.bytes && a.mtimeMs === b.mtimeMs && a.id === b.id && a.mode === b.mode
}
