/**
 * `AgentSession`: the SDK's history in one log. New items are appended behind all others; every other change is a rewrite, one append of a
 * `leaf` entry and the new items (`AppendOptions.at`), which fails and is tried again if another process was faster. So a log never
 * has two histories, and nothing is removed from it.
 */
import { type Entry, hasCode, type NewEntry, type Session, SessionError, type Sessions } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { checkOptions, type OptionNames } from "@sessions/core/storage"
import { canonical, hashOf } from "./canonical.ts"
import { isCompaction, notCompacted, ReadMarks, type Unread, unseen } from "./compaction.ts"
import {
  findPlace,
  type History,
  isFirstQuestionCut,
  isQuestion,
  type Operation,
  readHistory,
  readItems,
  type Rewrite,
} from "./history.ts"
import { isObject, type ItemEntry, toEntry, toItem } from "./items.ts"
import { KIND, logIdOf, openAgentLog } from "./log-id.ts"
import { type ModelItems, modelItems, type Receiver, repairOf, type SavedItem } from "./model-items.ts"
import { standIn } from "./orphans.ts"
import { withoutAnswered } from "./results.ts"
import { inBatch, named, rewrite } from "./rewrite.ts"
import { type SharedState, sharedState } from "./shared.ts"
import { checkTransaction, mutate, type Transaction } from "./transactions.ts"
import type {
  AgentRepair,
  AgentSession,
  AgentSessionOptions,
  HistoryMutation,
  HistoryTransactionArgs,
} from "./types.ts"

/**
 * A session for `run(agent, input, { session })` of the OpenAI Agents SDK. Its log is created with the first items, and opened if there is
 * one. Any number of objects, processes and hosts may use one session at once, as far as the storage allows it.
 */
export function createAgentSession<Item extends object = never>(options: AgentSessionOptions): AgentSession<Item> {
  checkOptions("createAgentSession", options, OPTIONS)
  const { sessions, sessionId = newId(), metadata = {}, onRepair = () => undefined, api, store = true } = options
  if (typeof sessions?.openOrCreate !== "function")
    throw invalidError("createAgentSession needs `sessions`, a repository that createSessions() has made.")
  if (!isObject(metadata)) throw invalidError("The `metadata` of a session must be an object.")
  if (api !== undefined && api !== "responses" && api !== "chat_completions")
    throw invalidError('The option `api` of createAgentSession must be "responses" or "chat_completions".')
  const receiver = { api, isStored: store }
  return new LogSession(sessions, sessionId, metadata, onRepair, receiver) as unknown as AgentSession<Item>
}

const OPTIONS: OptionNames<AgentSessionOptions> = {
  sessions: true,
  sessionId: true,
  metadata: true,
  onRepair: true,
  api: true,
  store: true,
}

const newId = createIds()

type AddedEntry = NewEntry & { readonly id: string }

class LogSession implements AgentSession<object> {
  readonly #sessions: Sessions
  readonly #sessionId: string
  readonly #metadata: Readonly<Record<string, unknown>>
  readonly #shared: SharedState
  readonly #onRepair: (repair: AgentRepair) => void
  #open: Promise<Session> | undefined
  #closed: Promise<void> | undefined
  /** The newest item's entry when this object last read or wrote the history; null: it was empty. */
  #seen: string | null | undefined
  readonly #marks = new ReadMarks()
  /** Items of the history that the compacting session has not read, if the session was just cleared. */
  #cleared: readonly Unread[] | undefined
  readonly #receiver: Omit<Receiver, "now">
  /** The items of the history that was read last, and what a model gets in their place as soon as a run asks. */
  #read: readonly SavedItem[] = []
  #forModel: ModelItems | undefined
  /** An append whose outcome is not known: its items, and its entries with their ids. */
  #doubtful: { readonly items: string; readonly entries: readonly AddedEntry[] } | undefined

  constructor(
    sessions: Sessions,
    sessionId: string,
    metadata: Readonly<Record<string, unknown>>,
    onRepair: (repair: AgentRepair) => void,
    receiver: Omit<Receiver, "now">,
  ) {
    this.#receiver = receiver
    this.#sessions = sessions
    this.#sessionId = sessionId
    this.#metadata = metadata
    this.#onRepair = onRepair
    this.#shared = sharedState(sessions, sessionId)
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId
  }

  getItems(limit: number = Number.POSITIVE_INFINITY): Promise<object[]> {
    return this.#exclusive(async () => {
      if (limit !== Number.POSITIVE_INFINITY && !Number.isSafeInteger(limit))
        throw invalidError("The limit of getItems must be a whole number.")
      if (limit <= 0) return []
      const read = (await this.#change(false, (session) => readItems(session, limit))) ?? []
      this.#seen = read.findLast(({ isDeleted }) => !isDeleted)?.entry.id ?? null
      this.#marks.read(this.#seen)
      this.#read = read.map(({ entry, isDeleted }) => ({ item: toItem(entry), savedAt: entry.timestamp, isDeleted }))
      this.#forModel = undefined
      return this.#read.filter(({ isDeleted }) => isDeleted !== true).map(({ item }) => item)
    })
  }

  prepareHistoryItemForModelInput(item: object): object {
    this.#forModel ??= modelItems(this.#read, { ...this.#receiver, now: Date.now() })
    const { left: leftOut, replaced } = this.#forModel
    const left = leftOut.get(item)
    if (left === undefined) return replaced.get(item) ?? item
    this.#onRepair(repairOf(this.#sessionId, item, left))
    return standIn(item, left.key)
  }

  async addItems(items: readonly object[]): Promise<void> {
    const entries = toEntries("addItems", items)
    if (entries.length === 0) return
    return this.#exclusive(async (before) => {
      const cleared = items.some(isCompaction) ? before : undefined
      const doubtful = this.#doubtful
      const isRepeated = doubtful !== undefined && doubtful.items === canonical(entries)
      let added: readonly AddedEntry[] | undefined = isRepeated ? doubtful.entries : undefined
      try {
        this.#seen = await this.#change(true, async (session) => {
          if (isRepeated && (await this.#hasAdded(session, doubtful.entries)))
            return doubtful.entries.at(-1)?.id ?? null
          // After those of the session's creation: reading a log whose ids ascend needs no index of them.
          added ??= (await withoutAnswered(session, entries)).map((entry) => ({ ...entry, id: newId() }))
          if (added.length === 0) return (await readHistory(session, 1)).entries.at(-1)?.id ?? null
          return cleared === undefined ? this.#append(session, added) : this.#compact(session, added, cleared, items)
        })
        this.#doubtful = undefined
        this.#marks.added(added?.map(({ id }) => id) ?? [])
        // Who adds a compaction knows the history up to it.
        if (cleared !== undefined) this.#marks.read(added?.at(-1)?.id ?? null)
      } catch (error) {
        this.#cleared = cleared
        // A repeated call that fails otherwise has not found out what became of the first.
        const isDoubtful = isRepeated || hasCode(error, "indeterminate")
        this.#doubtful = isDoubtful && added !== undefined ? { items: canonical(entries), entries: added } : undefined
        throw error
      }
    })
  }

  popItem(): Promise<object | undefined> {
    return this.#exclusive(() =>
      this.#change(false, async (session) => {
        const { entries, operations } = await currentHistory(session, 2)
        const newest = entries.at(-1)
        if (newest === undefined) return undefined
        const before = entries.at(-2)
        const cut = operations.filter(({ newer }) => before === undefined || newer <= 1)
        const all = isQuestion(newest) ? await readHistory(session, Number.POSITIVE_INFINITY) : undefined
        const takesFirst = all !== undefined && isFirstQuestionCut(all, all.entries.length - 1)
        await rewrite(session, before?.id, [], { type: "pop", operations: cut.map(named) }, takesFirst)
        this.#seen = before?.id ?? null
        return toItem(newest)
      }),
    )
  }

  clearSession(): Promise<void> {
    return this.#exclusive(async () => {
      this.#cleared = await this.#change(false, async (session) => {
        const { entries } = await currentHistory(session, this.#marks.areKnown ? Number.POSITIVE_INFINITY : 0)
        await rewrite(session, undefined, [], { type: "clear" }, true)
        return this.#marks.unread(entries) ?? []
      })
      this.#seen = null
    })
  }

  async replaceHistoryWithCompaction(items: readonly object[]): Promise<void> {
    const added = toEntries("replaceHistoryWithCompaction", items)
    return this.#exclusive(async () => {
      await this.#change(true, async (session) => {
        const history = await currentHistory(session, Number.POSITIVE_INFINITY)
        const unread = this.#marks.unread(history.entries)
        // What the run has added itself, its model has had.
        const kept = unread?.filter(({ isOwn }) => !isOwn).map(({ entry }) => entry) ?? unseen(history, this.#seen)
        const entries = [...added, ...kept.map((entry) => toEntry(toItem(entry)))]
        const ids = await rewrite(session, undefined, entries, {
          type: "compaction",
          operations: history.operations.map(named),
        })
        this.#seen = ids.at(-1) ?? null
        this.#marks.read(ids[added.length - 1] ?? null)
      })
    })
  }

  async applyHistoryTransaction(args: HistoryTransactionArgs<object>): Promise<void> {
    const { operationId, transaction } = checkTransaction(args)
    const hash = await hashOf(transaction)
    return this.#exclusive(async () => {
      // A suffix of a session that is not stored can only be the empty one, which creates it.
      const creates = transaction.type === "append_items" || transaction.expectedSuffix.length === 0
      const outcome = await this.#change(creates, (session) =>
        this.#apply(session, { id: operationId, hash }, transaction),
      )
      if (outcome !== "applied")
        throw new SessionError(outcome === "taken" ? "exists" : "conflict", REFUSED[outcome ?? "differs"])
    })
  }

  async applyHistoryMutations(args: { readonly mutations: readonly HistoryMutation[] }): Promise<void> {
    if (!Array.isArray(args?.mutations)) throw invalidError("applyHistoryMutations needs `mutations`, an array.")
    const mutations = structuredClone(args.mutations)
    if (mutations.length === 0) return
    return this.#exclusive(async () => {
      await this.#change(false, async (session) => {
        const { entries, operations } = await currentHistory(session, Number.POSITIVE_INFINITY)
        const changed = mutate(entries.map(toItem), mutations)
        if (changed === undefined) return
        const cut = entries.length - changed.from
        const ids = await rewrite(session, entries[changed.from - 1]?.id, changed.items.map(toEntry), {
          type: "mutations",
          operations: operations.filter(({ newer }) => newer <= cut).map(named),
        })
        this.#seen = ids.at(-1) ?? entries[changed.from - 1]?.id ?? null
      })
    })
  }

  close(): Promise<void> {
    this.#closed ??= this.#shared.run(async () => {
      const session = await this.#open?.catch(() => undefined)
      await session?.close()
    })
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /**
   * Calls on one session run one after the other, so that none is based on a history that another one changes meanwhile. `run` gets what the
   * call before it has cleared.
   */
  async #exclusive<T>(run: (cleared: readonly Unread[] | undefined) => Promise<T>): Promise<T> {
    if (this.#closed !== undefined)
      throw new SessionError("closed", `The session ${JSON.stringify(this.#sessionId)} was closed. Create it again.`)
    return this.#shared.run(() => {
      const cleared = this.#cleared
      this.#cleared = undefined
      return run(cleared)
    })
  }

  /**
   * Runs `change` on the current log, again after a conflict with another process. Undefined if there is no log and none is to be
   * created.
   */
  async #change<T>(creates: boolean, change: (session: Session) => Promise<T>): Promise<T | undefined> {
    for (let conflicts = 1; ; ) {
      let session: Session | undefined
      try {
        session = await this.#opened(creates)
        return session === undefined ? undefined : await change(session)
      } catch (error) {
        if (isOvertaken(error) && conflicts++ < MOST_CONFLICTS) continue
        // The log was deleted: there is no history any more.
        if (session === undefined || !hasCode(error, "not_found")) throw error
        this.#open = undefined
        await session.close().catch(() => undefined)
      }
    }
  }

  /** The log; undefined if there is none. */
  async #opened(creates: boolean): Promise<Session | undefined> {
    if (this.#open !== undefined) return this.#open
    const opening = creates
      ? openAgentLog(this.#sessions, this.#sessionId, { metadata: this.#metadata })
      : this.#sessions.open(await logIdOf(this.#sessionId))
    this.#open = opening.then((session) => ofThisKind(session))
    try {
      return await this.#open
    } catch (error) {
      this.#open = undefined
      if (!creates && hasCode(error, "not_found")) return undefined
      throw error
    }
  }

  async #append(session: Session, entries: readonly NewEntry[]): Promise<string | null> {
    if (!this.#shared.isAtEnd(session)) {
      await session.refresh()
      const place = await findPlace(session)
      if (place !== undefined) return (await rewrite(session, place.at, entries, { type: "append" })).at(-1) ?? null
    }
    const { ids } = await session.append(inBatch(entries, 0), { onConflict: "rebase", repeats: "end" })
    this.#shared.ended(session)
    return ids.at(-1) ?? null
  }

  /** Appends a compaction to the session that was cleared for it, and behind it what it has not got. */
  async #compact(
    session: Session,
    entries: readonly NewEntry[],
    cleared: readonly Unread[],
    items: readonly object[],
  ): Promise<string | null> {
    const history = await currentHistory(session, Number.POSITIVE_INFINITY)
    const kept = [...notCompacted(cleared, items), ...history.entries]
    if (kept.length === 0) return this.#append(session, entries)
    const copies = kept.map((entry) => toEntry(toItem(entry)))
    const op: Rewrite = { type: "compaction", operations: history.operations.map(named) }
    return (await rewrite(session, undefined, [...entries, ...copies], op)).at(-1) ?? null
  }

  /** Whether an earlier call, whose outcome was not known, has added the entries with these ids. */
  async #hasAdded(session: Session, entries: readonly NewEntry[]): Promise<boolean> {
    await session.refresh()
    await session.flush()
    return (await session.entry(entries.at(-1)?.id ?? "")) !== undefined
  }

  async #apply(session: Session, { id, hash }: Operation, transaction: Transaction): Promise<Outcome> {
    const history = await currentHistory(session, Number.POSITIVE_INFINITY)
    const { entries, operations } = history
    const earlier = operations.find((operation) => operation.id === id)
    if (earlier !== undefined) return earlier.hash === hash ? "applied" : "taken"
    const [suffix, added] =
      transaction.type === "append_items"
        ? [[], transaction.items]
        : [transaction.expectedSuffix, transaction.replacement]
    const kept = entries.length - suffix.length
    if (kept < 0 || !suffix.every((item, index) => isSame(item, entries[kept + index] as Entry))) return "differs"
    const cut = operations.filter(({ newer }) => newer <= suffix.length).map(named)
    const before = entries[kept - 1]?.id
    const op: Rewrite = { type: "transaction", operations: [...cut, { id, hash }] }
    const ids = await rewrite(session, before, added.map(toEntry), op, isFirstQuestionCut(history, kept))
    this.#seen = ids.at(-1) ?? before ?? null
    return "applied"
  }
}

function toEntries(call: string, items: readonly object[]): ItemEntry[] {
  if (!Array.isArray(items)) throw invalidError(`${call} needs an array of items.`)
  return (items as readonly object[]).map(toEntry)
}

/** More than the writers that could meet in one history; each conflict means that another writer has succeeded. */
const MOST_CONFLICTS = 100

/** What is gone must not be passed over, and a turn that has lost its lease is refused again. */
function isOvertaken(error: unknown): boolean {
  const { lost, leaseLost } = error as SessionError
  return hasCode(error, "conflict") && lost === undefined && leaseLost !== true
}

function invalidError(message: string): SessionError {
  return new SessionError("invalid", message)
}

/** The history with what other processes have added. */
async function currentHistory(session: Session, count: number): Promise<History> {
  await session.refresh()
  return readHistory(session, count)
}

/** Rejects for a log that another program has made under this id. */
async function ofThisKind(session: Session): Promise<Session> {
  if (session.header.kind === KIND) return session
  await session.close()
  const message = `The log ${session.id} is not one of the OpenAI Agents SDK: its kind is not ${KIND}. Choose another \`sessionId\`.`
  throw new SessionError("invalid", message, { session: session.id })
}

type Outcome = "applied" | "taken" | "differs"

/** The SDK's own texts. */
const REFUSED = {
  taken: "Session history operation was already applied with a different transaction.",
  differs: "Session history suffix no longer matches the transaction precondition.",
} as const

function isSame(item: object, entry: Entry): boolean {
  return canonical(item) === canonical(toItem(entry))
}
