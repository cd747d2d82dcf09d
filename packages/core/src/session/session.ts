/** `Session` as a caller gets it: checks that it is open, and implements the methods as appends to and reads of the live session. */
import type { CallStates } from "../context/call-states.ts"
import type { SessionContext } from "../context/types.ts"
import { SessionError } from "../format/errors.ts"
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/entry.ts"
import type { Header } from "../format/header.ts"
import { shown } from "../storage/options.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { checkSignal, signalOf, rejectOnAbort } from "../storage/signals.ts"
import type { CallOptions, Head, Seq } from "../storage/contract.ts"
import { codeOf, type CompactionLayers } from "./compaction.ts"
import type { SessionEvents } from "./events.ts"
import type { SessionInfo } from "../info/projection.ts"
import { checkFunction, checkListener, checkRange, checkSessionCall, type SessionCall } from "./arguments.ts"
import { copyEntries } from "./hooks.ts"
import { readContext } from "./context.ts"
import { INSIDE, type SessionInside } from "./inside.ts"
import { findEntry, readMessages, readPath, unknownEntryError } from "./read-path.ts"
import { readEntry, readEntryRuns, readInfo } from "./read-entries.ts"
import { contextFeature, seldomFeature } from "./features/load.ts"
import type { LiveSession } from "./live-session.ts"
import { toWaitAbortedError } from "../write/errors.ts"
import { KnownLosses } from "../write/losses.ts"
import { nestedTurnError, runTurn } from "./turn.ts"
import type {
  BranchSummary,
  ContextOptions,
  MessagesOptions,
  MessagesPage,
  PathOptions,
  PathPage,
  SessionPart,
  Session,
  TurnContext,
  TurnOptions,
} from "./types.ts"
import type { AppendOptions, AppendResult, EntryOptions, TurnLease } from "../write/types.ts"

/** The owner of a handle: a repository or a turn. */
export interface HandleOwner {
  readonly isClosed: () => boolean
  /** Called once, when the handle is closed. */
  readonly release: () => Promise<void>
  /** The weakest first. */
  readonly compaction: CompactionLayers
  /** For the handle that the function of a turn gets: the handle that runs the turn. It cannot start another turn. */
  readonly turnOf?: SessionHandle
  /** For that handle: whether its turn has ended. What is appended through it then is of no turn. */
  readonly hasEnded?: () => boolean
}

export class SessionHandle implements Session {
  readonly #live: LiveSession
  readonly #owner: HandleOwner
  /** The handle of a turn is used by the same caller. */
  readonly #losses: KnownLosses
  /** End the listeners of this handle. */
  readonly #listening: Set<() => void> = new Set()
  #closing: Promise<void> | undefined

  constructor(live: LiveSession, owner: HandleOwner) {
    this.#live = live
    this.#owner = owner
    this.#losses = owner.turnOf === undefined ? new KnownLosses(live.losses) : owner.turnOf.#losses
  }

  static {
    // The declarations of the class have no computed names.
    Object.defineProperty(this.prototype, INSIDE, {
      get(this: SessionHandle): SessionInside {
        return {
          live: this.#live,
          compaction: this.#owner.compaction,
          isOfTurn: this.#owner.turnOf !== undefined,
          checkOpen: (o) => void this.#open(o),
          told: (error) => this.#losses.told(error),
        }
      },
    })
  }

  get id(): string {
    return this.#live.id
  }

  get header(): Header {
    return cloneJson(this.#live.state.header)
  }

  get leafId(): string | null {
    return this.#live.state.leafId
  }

  get head(): Head {
    return cloneJson(this.#live.state.head)
  }

  get diagnostics(): readonly Diagnostic[] {
    return cloneJson(this.#live.diagnostics)
  }

  append(entries: NewEntry | readonly NewEntry[], o?: AppendOptions): Promise<AppendResult> {
    if (this.#isClosed()) return Promise.reject(closedError(this.id))
    if (o !== undefined) {
      try {
        checkSessionCall("append", o, this.id)
      } catch (error) {
        return Promise.reject(error)
      }
    }
    const list = Array.isArray(entries) ? (entries as readonly NewEntry[]) : [entries as NewEntry]
    if (o?.at !== undefined || o?.leaf !== undefined) return this.#branchAndAppend(list, o)
    return this.#live.append(list, o, this.#lease(), this.#losses)
  }

  async turn<T>(fn: (session: Session, turn: TurnContext) => Promise<T> | T, o: TurnOptions = {}): Promise<T> {
    const live = this.#open(o, "turn")
    checkFunction("The function of a turn", fn)
    if (this.#owner.turnOf !== undefined) throw nestedTurnError(this.id)
    let ended = false
    const own = {
      isClosed: () => this.#isClosed(),
      release: async () => undefined,
      turnOf: this,
      hasEnded: () => ended,
    }
    const inner = new SessionHandle(live, { ...this.#owner, ...own })
    const steps = {
      fn: (turn: TurnContext) => {
        // Closed while the turn waited.
        if (this.#isClosed()) throw closedError(this.id)
        return fn(inner, turn)
      },
      between: async () => {
        await this.#compactBetween(o)
        // After the turn, too: its own lines are among those that are gone.
        this.#tellLoss()
      },
      drain: () => live.drain().catch(() => undefined),
    }
    try {
      if ((o.lease ?? o.busy) !== undefined) return await (await seldomFeature()).runTurnWithLease(live, steps, o)
      return await live.turns.run(() => runTurn(live, steps, o), o.signal)
    } catch (error) {
      this.#losses.told(error)
      throw error
    } finally {
      ended = true
    }
  }

  async context(o?: ContextOptions): Promise<SessionContext> {
    return readContext(this.#open(o, "context"), o, this.#owner.compaction)
  }

  async messages(o?: MessagesOptions): Promise<MessagesPage> {
    return readMessages(this.#open(o, "messages"), o)
  }

  async path(o?: PathOptions): Promise<PathPage> {
    return cloneJson(await readPath(this.#open(o, "path"), o))
  }

  entries(range: { readonly from?: Seq; readonly to?: Seq } = {}, o: CallOptions = {}): AsyncIterable<Entry> {
    return entriesOf(readEntryRuns(this.#open(o, "entries"), checkRange(range), o))
  }

  async entry(id: string, o?: CallOptions): Promise<Entry | undefined> {
    return cloneJson(await readEntry(this.#open(o, "entry"), checkedId(id), o))
  }

  async branch(id: string, options: Parameters<Session["branch"]>[1] = {}): Promise<AppendResult> {
    this.#open(options, "branch")
    const { settles = [], summary, ...o } = options
    return this.#known(settles, o, (ids) => this.#branchTo(checkedId(id), () => [this.#leaving(summary)], o, ids))
  }

  async settle(ids: readonly string[], o?: EntryOptions): Promise<AppendResult> {
    this.#open(o, "settle")
    return this.#known(ids, o, (settles) => this.append({ type: "leaf", settles }, o))
  }

  async resetLeaf(options: Parameters<Session["resetLeaf"]>[0] = {}): Promise<AppendResult> {
    this.#open(options, "resetLeaf")
    const { summary, ...o } = options
    return this.#branchTo(null, () => [this.#leaving(summary)], o)
  }

  async label(id: string, label: string | null, o?: EntryOptions): Promise<AppendResult> {
    this.#open(o, "label")
    if (label === undefined)
      throw new SessionError("invalid", "A label is a text, or null for none.", { session: this.id })
    const entry = { type: "label", targetId: id } as const
    return this.#at(id, o, () => this.append(label === null ? entry : { ...entry, label }, o))
  }

  async tombstone(id: string, o?: EntryOptions): Promise<AppendResult> {
    this.#open(o, "tombstone")
    return this.#at(id, o, () => this.append({ type: "tombstone", targetId: id }, o))
  }

  async edit(id: string, replacement: Parameters<Session["edit"]>[1], o?: EntryOptions): Promise<AppendResult> {
    this.#open(o, "edit")
    return this.#at(id, o, (seq) => {
      if (this.#live.state.log.at(seq)?.type !== "compaction")
        return this.append({ type: "context_edit", targetId: id, replacement }, o)
      const message = `Entry ${id} is a compaction. Delete it (tombstone) to restore its history, or compact again.`
      throw new SessionError("invalid", message, { session: this.id })
    })
  }

  async title(title: string | null, o: Parameters<Session["title"]>[1] = {}): Promise<AppendResult> {
    this.#open(o, "title")
    const { source = "user", ...rest } = o
    return this.append({ type: "title_change", title: title === "" ? null : title, source }, rest)
  }

  async metadata(key: string, value: unknown, o?: EntryOptions): Promise<AppendResult> {
    this.#open(o, "metadata")
    return this.append({ type: "metadata", key, value }, o)
  }

  async callStates(o: CallOptions = {}): Promise<CallStates | undefined> {
    this.#open(o, "callStates")
    const { readCallStates } = await contextFeature()
    return readCallStates(this.#open(), o)
  }

  async info(o?: CallOptions): Promise<SessionInfo> {
    return cloneJson(await readInfo(this.#open(o, "info"), o))
  }

  async parts(o?: CallOptions): Promise<{ readonly bytes: number; readonly parts: readonly SessionPart[] }> {
    const live = this.#open(o, "parts")
    const { readParts } = await seldomFeature()
    return readParts(live, o)
  }

  on<K extends keyof SessionEvents>(event: K, listener: (event: SessionEvents[K]) => void): () => void {
    const { events } = this.#open()
    checkListener(event, listener)
    // Through the handle that runs the turn, whose closing ends it too.
    const stop = (this.#owner.turnOf ?? events).on(event, listener)
    const end = (): void => {
      stop()
      this.#listening.delete(end)
    }
    this.#listening.add(end)
    return end
  }

  async refresh(o: CallOptions = {}): Promise<Head> {
    const live = this.#open(o, "refresh")
    const message = `Reading what other writers appended to ${this.id} was aborted.`
    return this.#telling(() => rejectOnAbort(live.refresh(), o.signal, toWaitAbortedError(this.id, message)))
  }

  async follow(o: CallOptions = {}): Promise<void> {
    const live = this.#open()
    checkSessionCall("follow", o, this.id)
    const { Following } = await seldomFeature()
    return this.#telling(() => (live.following ??= new Following(live)).join(o.signal, () => this.#isClosed()))
  }

  async flush(o: CallOptions = {}): Promise<void> {
    const live = this.#open(o, "flush")
    const { storage } = live
    const message = `Waiting for the writes to ${this.id} was aborted; the writes continue.`
    await rejectOnAbort(live.drain(), o.signal, toWaitAbortedError(this.id, message))
    if (storage.capabilities.sync) await retryUnavailable(async () => storage.sync?.(this.id, o))
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#closing = this.#owner.release().finally(() => {
        for (const end of this.#listening) end()
      })
      for (const listener of this.#live.closeListeners) listener()
    }
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** The automatic compaction before and after a turn. Never rejects: a caller who sees the turn fail after it was written would repeat it. */
  async #compactBetween(o: CallOptions): Promise<void> {
    const code = codeOf(this.#owner.compaction)
    if (code === undefined || this.#isClosed()) return
    // Failures are reported already. Other rejections: an abort, which the turn reports itself, or a closed session.
    await code.ifDue(this, signalOf(o)).catch(() => undefined)
  }

  /** Throws a loss that the caller does not know. */
  #tellLoss(): void {
    const loss = this.#losses.tell()
    if (loss !== undefined) throw loss
  }

  /** A call that finds losses, and tells those that others have found. */
  async #telling<T>(call: () => Promise<T>): Promise<T> {
    this.#tellLoss()
    try {
      const result = await call()
      // Another call may have met it meanwhile.
      this.#tellLoss()
      return result
    } catch (error) {
      this.#losses.told(error)
      throw error
    }
  }

  /** The lease of the turn of which an append through this handle is. */
  #lease(): TurnLease | null {
    const { hasEnded, turnOf } = this.#owner
    return hasEnded?.() === true ? null : this.#live.turns.leaseOf(turnOf !== undefined)
  }

  #isClosed(): boolean {
    return this.#closing !== undefined || this.#owner.isClosed()
  }

  /** The session, if the handle is open. `call`: the public method whose options these are, to check them. */
  #open(o: CallOptions = {}, call?: SessionCall): LiveSession {
    if (this.#isClosed()) throw closedError(this.id)
    if (call !== undefined) checkSessionCall(call, o, this.id)
    checkSignal(o.signal)
    return this.#live
  }

  /** It may be one of those that are gone. */
  #unknownEntry(id: string): SessionError {
    return this.#losses.tell() ?? unknownEntryError(this.#live, id)
  }

  /**
   * Calls `then` with the seq of the entry. If the entry is in memory, `then` runs synchronously, so that its append keeps its order
   * before appends made after the call. `not_found` if the log has no such entry.
   */
  async #at<T>(id: string, o: CallOptions | undefined, then: (seq: Seq) => Promise<T>): Promise<T> {
    const live = this.#open(o)
    const seq = live.state.log.find(checkedId(id)) ?? (await findEntry(live, id, o))
    if (seq === undefined) throw this.#unknownEntry(id)
    return then(seq)
  }

  /**
   * Calls `then` with the ids of tips to settle, synchronously if it is known that the log has all of these entries. `not_found` if it
   * has not.
   */
  async #known<T>(
    ids: readonly string[],
    o: CallOptions | undefined,
    then: (ids: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const live = this.#open(o)
    if (!Array.isArray(ids) || ids.some((id) => typeof id !== "string")) {
      const message = "The branches to settle must be given as an array of the ids of their last entries."
      throw new SessionError("invalid", message, { session: this.id })
    }
    const copy: readonly string[] = [...ids]
    for (const id of copy) {
      const known = live.state.knows(id) || (await findEntry(live, id, o)) !== undefined
      if (!known) throw this.#unknownEntry(id)
    }
    return then(copy)
  }

  async #branchAndAppend(entries: readonly NewEntry[], options: AppendOptions): Promise<AppendResult> {
    const { at: _, leaf = {}, ...o } = options
    const { state } = this.#open(o)
    const target = targetOf(this.id, options)
    const list = [{ ...leaf, ...LEAF }, ...entries] as const
    const isHeld = target === null || state.log.find(target) !== undefined
    // While the target is looked for, the caller may change its objects.
    const inputs = isHeld ? list : copyEntries(list)
    const { ids, ...result } = await this.#branchTo(target, () => inputs, o)
    return { ids: ids.slice(1), ...result }
  }

  /** The entry that moves the leaf to another branch. */
  #leaving(left: BranchSummary | undefined): object {
    if (left === undefined) return LEAF
    const { text: summary, usage, details, fromExtension } = left
    return {
      type: "branch_summary",
      fromId: this.#live.state.leafId ?? "root",
      summary,
      usage,
      details,
      fromExtension,
    }
  }

  /** Appends entries, of which the first one makes `id` the leaf (null: no entry). `not_found` if the log has no such entry. */
  async #branchTo(
    id: string | null,
    entries: () => readonly object[],
    o: EntryOptions | undefined,
    settles: readonly string[] = [],
  ): Promise<AppendResult> {
    const append = async (): Promise<AppendResult> => {
      if (this.#isClosed()) throw closedError(this.id)
      const inputs = entries() as readonly NewEntry[]
      return this.#live.append(inputs, { ...o, target: { id, settles } }, this.#lease(), this.#losses)
    }
    return id === null ? append() : this.#at(id, o, append)
  }
}

const LEAF: { readonly type: "leaf" } = { type: "leaf" }

async function* entriesOf(runs: AsyncIterable<readonly Entry[]>): AsyncGenerator<Entry, void, undefined> {
  // Not with yield*, which takes more promises for each entry.
  for await (const run of runs) for (const entry of run) yield entry
}

function checkedId(id: unknown): string {
  if (typeof id === "string") return id
  throw new SessionError("invalid", `The id of an entry must be a string, not ${shown(id)}.`)
}

function closedError(session: string): SessionError {
  return new SessionError("closed", `This handle on session ${session} was closed. Open the session again.`, {
    session,
  })
}

/** Fields that the session sets in a `leaf` entry, beside those that no new entry may have. */
const SET_FIELDS = ["type", "id", "timestamp", "targetSeq", "settles"]

/** Throws `invalid` for options of an append with `at` that contradict each other. */
function targetOf(session: string, { at, leaf = {}, onConflict }: AppendOptions): string | null {
  const refuse = (message: string): SessionError => new SessionError("invalid", message, { session })
  if (at === undefined) throw refuse("`leaf` has the fields of the entry that branches, so it needs `at`.")
  const set = SET_FIELDS.find((field) => leaf[field] !== undefined)
  if (set !== undefined) throw refuse(`\`leaf.${set}\` is given by the session and must not be set.`)
  if (onConflict === "rebase") {
    throw refuse('`at` names the entry to follow, so it cannot be used with onConflict "rebase".')
  }
  return at
}
