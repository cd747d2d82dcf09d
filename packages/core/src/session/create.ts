/** A new session: collected in memory, then created in the storage by one batch, its header and all of its entries, or not at all. */
import { encodeHeader } from "../format/line.ts"
import type { Header } from "../format/header.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { isDeep } from "../storage/depth.ts"
import { headAt } from "../storage/head.ts"
import { rejectOnAbort, signalOf } from "../storage/signals.ts"
import type { CallOptions, Head, SessionStorage } from "../storage/contract.ts"
import type { Selection } from "../context/select.ts"
import { assign, pathForState } from "../write/assign.ts"
import { type EncodedAppendEntry, putPlanned } from "../write/encode.ts"
import { abortedError, sessionExistsError, unknownOutcomeError } from "../write/errors.ts"
import { sendWithBlobs } from "../write/fresh-blobs.ts"
import { checkMetadata, checkSizes, limitFor, tooDeepError, tooLargeError } from "../write/limits.ts"
import { storedBytes, storedLine } from "../write/pending.ts"
import { NONE_KNOWN } from "../write/repeats.ts"
import { writeLines, type Written } from "../write/writer.ts"
import { newSession } from "./open.ts"
import { runAppendHooks } from "./hooks.ts"
import type { LiveSession, LiveSessionOptions } from "./live-session.ts"

/** A session that is not stored yet. */
export interface NewSession {
  /** Reads as any session; nothing may be appended to it before it is created. */
  readonly live: LiveSession
  /** An earlier {@link create} may have written it, or may still do so. Then nothing may be added until `create` has found out. */
  readonly isUncertain: boolean
  /** Adds entries, as by `append`. If it rejects, nothing has changed. */
  add(entries: readonly NewEntry[], o: CallOptions): Promise<unknown>
  /**
   * Writes it, with these entries at its end. `exists` if the id is taken. A rejection with another code than `indeterminate` means that
   * there is no such session, and nothing has changed. After `indeterminate` the next call sends the same bytes again.
   */
  create(entries: readonly NewEntry[], o: CallOptions): Promise<LiveSession>
}

type Added = Pick<EncodedAppendEntry, "pending" | "blobs">

/** `too_large` if the header is longer than a line of the storage may be. */
export function startSession(storage: SessionStorage, header: Header, options: LiveSessionOptions): NewSession {
  const { id } = header
  const { maxLineBytes, maxBatchBytes } = storage.capabilities
  const line = encodeHeader(header)
  if (isDeep(header)) throw tooDeepError(id, "header")
  // Parsed from the line, so that later changes to the caller's objects do not change a header that is not written yet.
  const live = newSession(storage, JSON.parse(line) as Header, options)
  const { state } = live
  if (state.bytes > maxLineBytes + 1) throw tooLargeError(id, "header", state.bytes - 1, maxLineBytes)
  const added: Added[] = []
  /** The lines as first sent, while it is not known whether they arrived. */
  let sent: readonly string[] | undefined

  const add = async (entries: readonly NewEntry[], o: CallOptions, creates: boolean): Promise<void> => {
    const hooked = runAppendHooks(options.hooks, entries, id)
    const inputs = await rejectOnAbort(hooked, o.signal, () => abortedError(id, o.signal as AbortSignal, false))
    const given = { inputs, target: undefined, known: NONE_KNOWN }
    // All of the log is in memory.
    const path = pathForState(state, given) as Selection | undefined
    const { fresh } = assign(id, state, { ...given, path }, options)
    checkSizes(id, pendingOf(fresh), storage.capabilities)
    checkMetadata(id, state, fresh)
    for (const { pending, entry, blobs } of fresh) {
      state.push(pending, entry)
      // Counted as they come: summing all of them for each call is quadratic.
      state.bytes += storedBytes(pending, added.push({ pending, blobs }), state.log)
    }
    // Entries that wait for a message must leave room for it.
    const limit = creates ? limitFor(pendingOf(fresh), options.maxSessionBytes) : options.maxSessionBytes
    const most = Math.min(maxBatchBytes, limit)
    if (state.bytes > most) throw tooLargeError(id, "session", state.bytes, most)
  }
  const put = (): Promise<void> => {
    const planned = added.filter(({ blobs }) => blobs.length > 0)
    return putPlanned(storage, { entries: pendingOf(added) }, planned, options.now)
  }
  const send = (o: CallOptions): Promise<Written> => {
    const unknown = sent !== undefined
    sent ??= [line, ...added.map(({ pending }, index) => storedLine(pending, index + 1, state.log))]
    return writeLines(storage, id, sent, { ...signalOf(o), expect: 0, info: live.infoText(added.length), unknown })
  }
  const write = async (o: CallOptions): Promise<void> => {
    const written = await sendWithBlobs(put, () => send(o), options.now)
    if (written.kind === "unknown") throw written.error
    const lines = sent as readonly string[]
    sent = undefined
    const head = headOf(live, lines, written)
    state.acknowledgedLeafId = state.leafId
    state.acknowledge(added.length, head, 0)
    if (added.length > 0)
      live.acknowledged(
        added.map((_, index) => index + 1),
        head,
      )
  }
  const change = async (entries: readonly NewEntry[], o: CallOptions, creates: boolean): Promise<LiveSession> => {
    const { bytes, pendingCount } = state
    try {
      if (!creates || entries.length > 0) await add(entries, o, creates)
      if (creates) await write(o)
    } catch (error) {
      if (sent !== undefined) throw unknownOutcomeError(live, error)
      added.length = pendingCount
      state.bytes = bytes
      state.keepPending(pendingOf(added))
      throw error
    }
    return live
  }

  return {
    live,
    get isUncertain() {
      return sent !== undefined
    },
    add: (entries, o) => change(entries, o, false),
    create: (entries, o) => change(entries, o, true),
  }
}

/** The end of the created log. Throws if it was not created. */
function headOf(live: LiveSession, lines: readonly string[], written: Exclude<Written, { kind: "unknown" }>): Head {
  if (written.kind === "committed") return written.head
  if (written.kind === "refused") throw written.error
  const { end, mayBeIn } = written
  // No other creation has its header.
  if (!mayBeIn || end === undefined || end.lines[0] !== lines[0]) throw sessionExistsError(live)
  // It arrived although its answer was lost, and another writer has continued the session since.
  return headAt(lines.length, end.head.log, lines.at(-1))
}

function pendingOf(added: readonly Added[]): Added["pending"][] {
  return added.map(({ pending }) => pending)
}
