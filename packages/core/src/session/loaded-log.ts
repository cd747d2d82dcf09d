/**
 * A stored log, as far as it has been read: its header, its end, and as much before that as somebody needed. Reads backwards in
 * growing pieces. Logs of older versions are read whole and migrated in memory.
 */
import { SessionError } from "../errors.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { parseLine } from "../format/line.ts"
import type { Header } from "../format/records.ts"
import type { LogIdentity } from "../migrations/identify.ts"
import { identifyLog } from "../migrations/identify.ts"
import type { CallOptions, HeadInfo, SessionStorage, Seq } from "../storage/contract.ts"
import { EntryLog } from "../tree/entry-log.ts"
import type { Slot } from "../tree/entry-log.ts"
import { parseSlot } from "./parse-slots.ts"

/** Size of the first piece, about; a live context of a few turns fits. Later pieces double up to the largest. */
const FIRST_PIECE_BYTES = 65_536
const LARGEST_PIECE_BYTES = 4_194_304

export interface LoadedLog {
  readonly header: Header
  readonly headInfo: HeadInfo
  readonly log: EntryLog
  readonly diagnostics: Diagnostic[]
  /** The stored log is of this older version; its entries are migrated, and it cannot be written to as it is. */
  readonly older?: { readonly format: string; readonly version: number }
  /** The stored log is of a version or format that is not ours to write. */
  readonly newer?: { readonly version: number }
}

/** Reads the header and the last piece. `not_found` where there is no session, `not_a_session` where the log is something else. */
export async function loadLog(
  storage: SessionStorage,
  id: string,
  o: CallOptions & { readonly contextFrom?: Seq | ((head: HeadInfo) => Seq | undefined) } = {},
): Promise<LoadedLog> {
  const headInfo = await storage.head(id, o)
  if (headInfo === undefined) throw notFound(storage, id)
  const first = await readLines(storage, id, { from: 0, to: 1 }, o)
  const identity = identifyLog(first)
  if (identity.kind === "sessions") return loadCurrent(storage, id, headInfo, identity.header, o)
  return loadOther(storage, id, headInfo, o)
}

async function loadCurrent(
  storage: SessionStorage,
  id: string,
  headInfo: HeadInfo,
  header: Header,
  o: CallOptions & { readonly contextFrom?: Seq | ((head: HeadInfo) => Seq | undefined) },
): Promise<LoadedLog> {
  const diagnostics: Diagnostic[] = []
  if (headInfo.torn !== undefined && headInfo.torn > 0) diagnostics.push(tornTail(headInfo.torn))
  if (header.origin?.lines !== undefined && headInfo.next < header.origin.lines) {
    const message = `The log has ${headInfo.next} of ${header.origin.lines} lines: the import, fork or copy that made it was cut off. Run it again to complete it.`
    diagnostics.push({ code: "incomplete", message })
  }
  const loaded: LoadedLog = { header, headInfo, log: new EntryLog(headInfo.next), diagnostics }
  const hint = typeof o.contextFrom === "function" ? o.contextFrom(headInfo) : o.contextFrom
  await loadOlder(storage, id, loaded, hint, o)
  return loaded
}

async function loadOther(storage: SessionStorage, id: string, headInfo: HeadInfo, o: CallOptions): Promise<LoadedLog> {
  const lines = await readLines(storage, id, {}, o)
  const identity = identifyLog(lines)
  const diagnostics: Diagnostic[] = []
  if (headInfo.torn !== undefined && headInfo.torn > 0) diagnostics.push(tornTail(headInfo.torn))
  if (identity.kind === "older") {
    const { isRawLine, migrateLines } = await import("../migrations/index.ts")
    const migrated = migrateLines(lines, { id })
    const slots: Slot[] = [undefined, ...migrated.records.map((record) => (isRawLine(record) ? undefined : record))]
    const log = EntryLog.of(slots)
    return {
      header: migrated.header,
      headInfo,
      log,
      diagnostics: [...diagnostics, ...migrated.diagnostics],
      older: migrated.from,
    }
  }
  if (identity.kind === "newer") return readOnlyLog(lines, headInfo, identity, diagnostics)
  throw notASession(storage, id, identity)
}

/** A log of a newer program is shown as far as its entries look like ours; nothing is written to it. */
function readOnlyLog(
  lines: readonly string[],
  headInfo: HeadInfo,
  identity: LogIdentity & { kind: "newer" },
  diagnostics: Diagnostic[],
): LoadedLog {
  const message = `The log is of version ${identity.version}, which this program does not know. It is open for reading only; use a newer program to write to it.`
  diagnostics.push({ code: "unknown_version", seq: 0, message })
  const record = parseLine(lines[0] ?? "").record ?? { type: "session" }
  const log = EntryLog.of(lines.map((line, seq) => parseSlot(line, seq, (found) => diagnostics.push(found))))
  return { header: record as Header, headInfo, log, diagnostics, newer: { version: identity.version } }
}

/**
 * Reads the piece before what is held, at least back to `hint` where one is given. Hints come from the log and may be wrong: one
 * that is nonsense costs reading, never truth.
 */
export async function loadOlder(
  storage: SessionStorage,
  id: string,
  loaded: Pick<LoadedLog, "headInfo" | "log" | "diagnostics">,
  hint: Seq | undefined,
  o: CallOptions = {},
): Promise<void> {
  const { log, headInfo, diagnostics } = loaded
  const before = log.from
  if (before === 0) return
  const bytesPerLine = Math.max(1, headInfo.bytes / headInfo.next)
  const held = headInfo.next - before
  const wanted = Math.ceil(FIRST_PIECE_BYTES / bytesPerLine)
  const most = Math.ceil(LARGEST_PIECE_BYTES / bytesPerLine)
  const piece = Math.max(4, Math.min(Math.max(wanted, held), most))
  const from = Math.max(0, hint === undefined || hint >= before ? before - piece : Math.min(hint, before - 1))
  const known = log.at(before)
  const overlap = known === undefined ? 0 : 1
  const lines = await readLines(storage, id, { from, to: before + overlap }, o)
  // One line that is known already comes along: in another log, made anew or replaced under this reader, it would be another one.
  const last = overlap === 1 ? parseLine(lines.pop() ?? "").record?.["id"] : undefined
  if (lines.length !== before - from || last !== known?.id) {
    const message = `The log of ${id} was replaced or deleted while it was read. Open the session again.`
    throw new SessionError("conflict", message, { session: id, storage: storage.description })
  }
  const found: Diagnostic[] = []
  const slots = lines.map((line, index) => parseSlot(line, from + index, (diagnostic) => found.push(diagnostic)))
  log.prepend(slots)
  diagnostics.unshift(...found)
}

/** All lines of a range at once. */
export async function readLines(
  storage: SessionStorage,
  id: string,
  range: { readonly from?: Seq; readonly to?: Seq },
  o: CallOptions = {},
): Promise<string[]> {
  const lines: string[] = []
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  for await (const chunk of storage.read(id, range, signal)) for (const line of chunk.lines) lines.push(line)
  return lines
}

export function notFound(storage: SessionStorage, id: string): SessionError {
  return new SessionError("not_found", `There is no session ${id} in ${storage.description}.`, {
    session: id,
    storage: storage.description,
  })
}

function notASession(storage: SessionStorage, id: string, identity: LogIdentity): SessionError {
  const why = identity.kind === "foreign" ? identity.reason : "it has no header"
  return new SessionError(
    "not_a_session",
    `${id} in ${storage.description} is not a session log: ${why}. It was left as it is.`,
    {
      session: id,
      storage: storage.description,
    },
  )
}

function tornTail(bytes: number): Diagnostic {
  const message = `The log ends in ${bytes} bytes of a line that was never finished. They are ignored, and kept aside at the next append.`
  return { code: "torn_tail", bytes, message }
}
