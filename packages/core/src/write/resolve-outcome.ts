/** Reads the end of a stored log after an append that did not succeed, and compares it with the session in memory. */
import { parseLine } from "../format/line.ts"
import type { Seq, SessionStorage } from "../storage/contract.ts"
import type { SessionError } from "../format/errors.ts"
import type { EntryLog, EntrySlot } from "../log/entry-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import type { FoundLines, SessionState } from "./session-state.ts"
import { headAt, lineMark } from "../storage/head.ts"
import { retryOn, TRIES } from "../storage/retry.ts"
import { type LogEnd, readEnd } from "./writer.ts"

export interface ResolveContext {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  /** For a log that is another one, or does not have the last line that is known. Loads code on first use. */
  resolveOther(end: LogEnd): Promise<Resolved>
}

/** Entries that were not known before. */
export type RemoteLines =
  | ({ readonly kind: "lines" } & FoundLines)
  /** The log was rewritten or, with `loss`, has lost lines, and is loaded; these of its entries are new. */
  | {
      readonly kind: "reloaded"
      readonly from: Seq
      readonly slots: readonly EntrySlot[]
      /** Says what is gone. */
      readonly loss?: SessionError
    }

export type Resolved =
  | RemoteLines
  /** The session was deleted, or deleted and created again. */
  | { readonly kind: "gone" }

/**
 * If the log is replaced or deleted while more of it is read, its end is read again. Rejects with `conflict` if that happens each time,
 * and with what the storage rejects with.
 */
export async function resolveEnd(context: ResolveContext, end: LogEnd | undefined): Promise<Resolved> {
  const { id, storage, state } = context
  let found = end
  const again = async (): Promise<void> => void (found = await readEnd(storage, id, state.head))
  return retryOn("conflict", TRIES, () => compare(context, found), again)
}

async function compare(context: ResolveContext, end: LogEnd | undefined): Promise<Resolved> {
  const { state } = context
  if (end === undefined) return { kind: "gone" }
  const [last, ...lines] = end.lines
  const isHeld = end.head.log === state.head.log && isHeldEnd(state, last)
  return isHeld ? toLines(state, lines, state.acknowledged, end) : context.resolveOther(end)
}

/** Whether a stored line can be the one that is loaded at a seq. A line that is no entry is not loaded: any line can be it. */
export function isHeldLine(log: EntryLog, seq: Seq, line: string): boolean {
  const loaded = log.at(seq)
  return loaded === undefined || parseLine(line).record?.["id"] === loaded.id
}

/** Whether a line can be the last acknowledged one. Without a mark its id says it. */
export function isHeldEnd({ log, acknowledged, head }: SessionState, line: string | undefined): boolean {
  if (line === undefined) return false
  return head.mark === undefined ? isHeldLine(log, acknowledged - 1, line) : head.mark === lineMark(line)
}

/** The stored lines from `from` on, which other writers may have appended. */
export function toLines(
  state: SessionState,
  lines: readonly string[],
  from: Seq,
  { head: { log, bytes } }: Pick<LogEnd, "head">,
): RemoteLines & { readonly kind: "lines" } {
  const slots = lines.map((line, index) => parseEntry(line, from + index))
  const last = lines.at(-1)
  const head = last === undefined && from === state.acknowledged ? state.head : headAt(from + lines.length, log, last)
  return { kind: "lines", from, slots, head, bytes }
}
