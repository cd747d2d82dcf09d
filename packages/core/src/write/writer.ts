/**
 * Appends lines to one log until the outcome is known. Creation, the append queue and transfers write through this, so that all of them
 * find out in the same way whether an attempt without an answer was written.
 */
import { backoff } from "../storage/clock.ts"
import type { CallOptions, Head, HeadInfo, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { type AdapterAppendOptions, takesInfoLater } from "../storage/info-later.ts"
import { headAt } from "../storage/head.ts"
import { hasCode } from "../format/errors.ts"
import { readLines, replacedLogError } from "../log/load.ts"
import { TRIES } from "../storage/retry.ts"

export interface WriteOptions extends CallOptions {
  /** The end of the log that the lines follow; 0 creates the log. */
  readonly expect: 0 | Head
  /** Makes the session information that is stored beside the new head. */
  readonly info?: (() => string | undefined) | undefined
  /** An earlier try of the same lines may have arrived: the log is read before anything is sent. Default false. */
  readonly unknown?: boolean
  /** Whether a line can be the last one before these lines. Default: any can. */
  readonly isLast?: (line: string) => boolean
  /** The same lines count as these even if another writer has written them. Default false: only if these may have arrived. */
  readonly sameIsOwn?: boolean
}

/** The end of a stored log, read because a write did not succeed. */
export interface LogEnd {
  readonly head: HeadInfo
  /**
   * From the last line before the expected end on. Empty for a log of another identity, for one that ends before that line, and for one
   * that begins otherwise than the log that was to be created.
   */
  readonly lines: readonly string[]
}

export type Written =
  | { readonly kind: "committed"; readonly head: Head }
  /**
   * The log has other lines where these belong, so none of these will arrive late; `mayBeIn`: some may be among those it has. `end`
   * undefined: there is no such log.
   */
  | { readonly kind: "conflict"; readonly end: LogEnd | undefined; readonly mayBeIn: boolean }
  /** The lines may be in the log, or may still arrive. */
  | { readonly kind: "unknown"; readonly error: unknown }
  /** The lines are not in the log and never will be. */
  | { readonly kind: "refused"; readonly error: unknown }

/**
 * Never rejects. Sends the same bytes at each try: while an outcome is unknown, a write that arrives late then meets itself. Of lines
 * of which the first ones arrived, the rest is sent behind them.
 */
export async function writeLines(
  storage: SessionStorage,
  id: string,
  lines: readonly string[],
  o: WriteOptions,
): Promise<Written> {
  if (o.unknown === true) return writeAgain(storage, id, lines, o, undefined)
  try {
    return committed(await storage.append(id, lines, appendOptions(storage, o, o.expect)), lines)
  } catch (error) {
    return writeAgain(storage, id, lines, o, { error })
  }
}

/** After a first try that failed, or one whose outcome is unknown since an earlier call. */
async function writeAgain(
  storage: SessionStorage,
  id: string,
  lines: readonly string[],
  o: WriteOptions,
  first: { readonly error: unknown } | undefined,
): Promise<Written> {
  let { expect } = o
  let left = lines
  let arrived = 0
  let mayArrive = first === undefined
  let failure = first
  for (let attempt = 1; ; attempt++) {
    const sent = failure !== undefined && isOutcomeUnknown(failure.error)
    mayArrive ||= sent
    const giveUp = (error: unknown): Written => ({ kind: mayArrive ? "unknown" : "refused", error })
    const conflict = hasCode(failure?.error, "conflict")
    const again = failure === undefined || sent || conflict || hasCode(failure.error, "unavailable")
    // A conflict is looked into all the same: it has an answer of its own.
    if (!again || (o.signal?.aborted === true && !conflict)) return giveUp(failure?.error)
    if (mayArrive || conflict) {
      let end: LogEnd | undefined
      try {
        end = await readEnd(storage, id, o.expect, { header: lines[0], mayBeOwn: mayArrive })
      } catch (error) {
        return giveUp(error)
      }
      const own = ownLines(lines, o.expect, end, mayArrive || o.sameIsOwn === true, o.isLast)
      if (own === undefined) return { kind: "conflict", end, mayBeIn: mayArrive }
      left = lines.slice(own)
      // Lines of a write that then fails may be seen and vanish again.
      expect = o.expect
      if (end !== undefined && own > 0) expect = headAt(end.head.next, end.head.log, end.lines.at(-1))
      if (expect !== 0 && left.length === 0) return { kind: "committed", head: expect }
      // The rest gets all its tries: each time there is less of it.
      if (own > arrived) attempt = 0
      arrived = Math.max(arrived, own)
      if (attempt === TRIES) return giveUp(conflict ? keepsRefusingError(storage, id) : failure?.error)
    } else if (attempt === TRIES) return giveUp(failure?.error)
    if (failure !== undefined && attempt > 0) await backoff(attempt)
    try {
      return committed(await storage.append(id, left, appendOptions(storage, o, expect)), left)
    } catch (error) {
      failure = { error }
    }
  }
}

function committed({ next, log }: Head, lines: readonly string[]): Written {
  return { kind: "committed", head: headAt(next, log, lines.at(-1)) }
}

function appendOptions(
  storage: SessionStorage,
  { info, signal }: WriteOptions,
  expect: 0 | Head,
): AdapterAppendOptions {
  const o = info === undefined ? { expect } : withInfo(storage, info, expect)
  return signal === undefined ? o : { ...o, signal }
}

function withInfo(storage: SessionStorage, make: () => string | undefined, expect: 0 | Head): AdapterAppendOptions {
  if (takesInfoLater(storage)) return { expect, infoLater: make }
  const info = make()
  return info === undefined ? { expect } : { expect, info }
}

/**
 * How many of the lines follow the expected end, with nothing else behind them; undefined if the log has anything else there. `mayBeOwn`:
 * whether lines that are the same are these.
 */
function ownLines(
  lines: readonly string[],
  expect: 0 | Head,
  end: LogEnd | undefined,
  mayBeOwn: boolean,
  isLast: (line: string) => boolean = () => true,
): number | undefined {
  if (end === undefined) return expect === 0 ? 0 : undefined
  let found = end.lines
  if (expect === 0) {
    if (found.length === 0) return undefined
  } else {
    const [last, ...rest] = found
    if (last === undefined || !isLast(last)) return undefined
    found = rest
  }
  if (found.length > 0 && !mayBeOwn) return undefined
  return found.length <= lines.length && found.every((line, index) => line === lines[index]) ? found.length : undefined
}

/**
 * Reads a log from the line before the expected end on. Undefined: there is no log. `created`: line 0 of a log to be created, and whether
 * an earlier try may have created it; rejects with `corrupt` if it may and line 0 is damaged.
 */
export async function readEnd(
  storage: SessionStorage,
  id: string,
  expect: 0 | Head,
  created: Created = { header: undefined, mayBeOwn: false },
): Promise<LogEnd | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      const head = await storage.head(id)
      if (head === undefined) return undefined
      const from = expect === 0 ? 0 : expect.next - 1
      const isOther =
        expect === 0 ? !(await isCreated(storage, id, created)) : head.log !== expect.log || head.next <= from
      if (isOther) return { head, lines: [] }
      const lines = await readLines(storage, id, { from, to: head.next, log: head.log })
      if (lines.length === head.next - from) return { head, lines }
      throw replacedLogError(storage, id)
    } catch (error) {
      if (attempt === TRIES || !(hasCode(error, "unavailable") || hasCode(error, "conflict"))) throw error
      await backoff(attempt)
    }
  }
}

interface Created {
  readonly header: string | undefined
  readonly mayBeOwn: boolean
}

/** Whether line 0 is that of the log to be created. Another log may be long, so no more of it is read. */
async function isCreated(storage: SessionStorage, id: string, { header, mayBeOwn }: Created): Promise<boolean> {
  try {
    const [first] = await readLines(storage, id, { from: 0, to: 1 })
    if (first !== undefined) return first === header
  } catch (error) {
    // A damaged line is another log's, unless a try that may have arrived wrote it: then the outcome stays unknown.
    if (hasCode(error, "corrupt") && !mayBeOwn) return false
    throw error
  }
  throw replacedLogError(storage, id)
}

/** Codes that say that nothing was written. Any other error, a defect of the storage included, leaves the outcome unknown. */
const CERTAIN: ReadonlySet<unknown> = new Set([
  "conflict",
  "invalid",
  "unsupported",
  "closed",
  "corrupt",
  "quota",
  "too_large",
  "unavailable",
  "misconfigured",
  "aborted",
])

function isOutcomeUnknown(error: unknown): boolean {
  const { code, sent } = (error ?? {}) as { code?: unknown; sent?: unknown }
  return !CERTAIN.has(code) || sent === true
}

function keepsRefusingError({ description }: SessionStorage, id: string): StorageError {
  const message = `${description} refused ${TRIES} appends to ${id}, though the log was as each expected it. Nothing was written.`
  return new StorageError("conflict", message, { session: id, storage: description })
}
