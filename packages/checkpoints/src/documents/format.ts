/**
 * The documents of a snapshot, `sessions/<session>/checkpoint.<ULID>.<n>`, as text. Each holds records of files. Number 0 also says what
 * snapshot it is; it is written last, so a snapshot without it does not exist, and it alone is put again.
 */
import { isUlid } from "@sessions/core/format"
import { StorageError } from "@sessions/core/storage"
import { isPath } from "../path.ts"
import { type FileRecord, isRecord } from "../record.ts"

export interface SnapshotHead {
  readonly messageId: string
  readonly at: string
  readonly reason: "turn" | "rewind"
  /** The leaf before a rewind. */
  readonly leafId?: string | null
  /** Its records are being moved into the next snapshot, and it is not listed any more. */
  readonly evicted?: true
}

export interface DocumentContent {
  /** In number 0 only. */
  readonly head?: SnapshotHead
  readonly files: ReadonlyMap<string, FileRecord>
}

export interface DocumentKey {
  readonly snapshot: string
  readonly number: number
}

const VERSION = 1

export function keyOf(session: string, { snapshot, number }: DocumentKey): string {
  return `${prefixOf(session)}${snapshot}.${number}`
}

export function prefixOf(session: string): string {
  return `sessions/${session}/checkpoint.`
}

/** Undefined for other documents. */
export function parseKey(session: string, key: string): DocumentKey | undefined {
  const [snapshot, digits = "", ...rest] = key.slice(prefixOf(session).length).split(".")
  if (!isUlid(snapshot) || !/^(?:0|[1-9]\d{0,8})$/.test(digits) || rest.length > 0) return undefined
  return { snapshot, number: Number(digits) }
}

export function encode({ head, files }: DocumentContent): string {
  return JSON.stringify({ v: VERSION, ...head, files: Object.fromEntries(files) })
}

/** `unsupported` for a document of a newer version, `corrupt` for anything else that is none. */
export function decode(key: string, text: string): DocumentContent {
  const value = parsed(text)
  if (typeof value?.["v"] === "number" && value["v"] > VERSION) {
    const message = `${key} was written by a newer version of @sessions/checkpoints: use that one.`
    throw new StorageError("unsupported", message, { at: key })
  }
  const { files } = value ?? {}
  const records = typeof files === "object" && files !== null ? Object.entries(files) : undefined
  const areRecords = records?.every(([path, record]) => isPath(path) && isRecord(record)) === true
  if (value?.["v"] !== VERSION || !areRecords) throw corruptError(key)
  const head = headIn(value)
  if (key.endsWith(".0") && head === undefined) throw corruptError(key)
  return { ...(head !== undefined && { head }), files: new Map(records) }
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return undefined
  }
}

function headIn(value: Readonly<Record<string, unknown>>): SnapshotHead | undefined {
  const { messageId, at, reason, leafId, evicted } = value
  if (typeof messageId !== "string" || typeof at !== "string" || Number.isNaN(Date.parse(at))) return undefined
  if (reason !== "turn" && reason !== "rewind") return undefined
  const leaf = typeof leafId === "string" || leafId === null ? { leafId } : {}
  return { messageId, at, reason, ...leaf, ...(evicted === true && { evicted }) }
}

function corruptError(key: string): StorageError {
  const message = `${key} is not the document of a snapshot. It is left as it is; delete it to continue without its records.`
  return new StorageError("corrupt", message, { at: key })
}
