/**
 * The events of one session for all its connections: follows the log and the queue, and keeps the last events, from which each connection
 * continues by itself. Exists while there is a connection.
 */
import { type Entry, hasCode, type Session, type Sessions } from "@sessions/core"
import { toJsonText } from "@sessions/core/format"
import { type Head, lineMark, type Seq } from "@sessions/core/storage"
import type { PromptQueue, QueueSnapshot } from "./prompt-queue.ts"
import { type Queue, toWaiting } from "./prompts.ts"
import { isPutBack, refreshed } from "./put-back.ts"
import type { EndedTurn, SessionEventData, SessionEventName, SessionState, WaitingPrompt } from "./types.ts"

/** Events that a connection may be behind, and UTF-16 units of them, before it is closed; it connects again and reads the log. */
const KEPT = 1_000
const KEPT_UNITS = 8_388_608

/** Entries and UTF-16 units of one `appended` event. */
const PAGE_ENTRIES = 100
const PAGE_UNITS = 262_144

/** UTF-16 units of new entries after which the session is opened again: an open one keeps what it has read. */
const REOPEN_UNITS = 8_388_608

/** While another server runs a turn, between two looks at the queue. */
const LOOK_MS = 2_000

export interface FeedEvent {
  readonly event: SessionEventName
  /** JSON. */
  readonly data: string
  /** Of an `appended`: the place in the log behind its entries. */
  readonly next?: Seq
  /** Of an `appended` or a `reset`: that of the entry before its place, see {@link markOf}. */
  readonly mark?: string
  /** Of a `turn_end`: the message of the turn. */
  readonly turn?: string
}

/** A log that was put back to an older state, and has grown since, has another entry before a place. `0`: that line is no entry. */
function markOf(id: string | undefined): string {
  return id === undefined ? "0" : lineMark(id).toString(36)
}

export function turnEnd(turn: EndedTurn): FeedEvent {
  return { event: "turn_end", data: JSON.stringify(turn), turn: turn.messageId }
}

export interface Attached {
  readonly state: SessionState
  /** The number of the first event that comes after this state. */
  readonly at: number
}

export interface FeedOptions {
  readonly queue: PromptQueue
  /** Whether a runner of this process will write the queue next; if not, another server may. */
  readonly runsHere: () => boolean
  readonly onError: (error: unknown) => void
}

export class SessionFeed {
  readonly #sessions: Sessions
  readonly #id: string
  readonly #o: FeedOptions
  readonly #stop = new AbortController()
  #session: Session | undefined
  #opening: Promise<Session> | undefined
  /** The end of the log as the events have told it. */
  #head: Head | undefined
  /** The mark that was read last: clients that connect again and again ask for the same place. */
  #marked: { readonly next: Seq; readonly mark: string } | undefined
  /** The log has lost lines, perhaps some of which the events have told. */
  #isPutBack = false
  /** UTF-16 units of the entries told since the session was opened. */
  #grown = 0
  /** The queue as it was last read or written. */
  #queue: QueueSnapshot | undefined
  /** The queue as the events have told it. */
  #told: QueueSnapshot | undefined
  readonly #events: FeedEvent[] = []
  /** UTF-16 units of them. */
  #units = 0
  /** The number of the first of them. */
  #first = 0
  readonly #waiting = new Set<() => void>()
  /** What happens to the session, one after the other. */
  #tail: Promise<unknown> = Promise.resolve()
  #timer: ReturnType<typeof setTimeout> | undefined
  #isAdvancing = false
  #isLooking = false
  #lookAgain = false
  ended = false

  constructor(sessions: Sessions, id: string, o: FeedOptions) {
    this.#sessions = sessions
    this.#id = id
    this.#o = o
  }

  /** The state now, and the number of the first event after it. */
  async attach(): Promise<Attached> {
    await (this.#opening ??= this.#open())
    // The queue first, so that the head is behind the entries of the turns that have ended.
    this.observe(await this.#o.queue.read(), false)
    return this.#inOrder(async () => {
      const session = this.#session as Session
      await this.#refresh(session)
      await this.#advance(session)
      const { queue, version } = this.#told as QueueSnapshot
      const { log, next } = this.#head as Head
      const waiting = queue.prompts.map(toWaiting)
      const isRunning = queue.prompts[0]?.state === "running"
      const state: SessionState = {
        head: { log, next },
        leaf: session.leafId,
        ...(isRunning && { running: waiting[0] as WaitingPrompt }),
        queued: isRunning ? waiting.slice(1) : waiting,
        ended: queue.ended,
        queue: version,
      }
      return { state, at: this.#first + this.#events.length }
    })
  }

  /** The events from this number on; undefined if the first of them is not kept any more. */
  since(at: number): readonly FeedEvent[] | undefined {
    return at < this.#first ? undefined : this.#events.slice(at - this.#first)
  }

  /** Resolves at the next event, at the end, or when the signal fires. */
  next(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done)
        signal.removeEventListener("abort", done)
        resolve()
      }
      this.#waiting.add(done)
      signal.addEventListener("abort", done)
      if (signal.aborted || this.ended) done()
    })
  }

  /** Pages of the log as events, from a seq up to the end that the feed has told. */
  async *replay(from: Seq, { log, next }: Head): AsyncGenerator<FeedEvent, void, undefined> {
    for (let at = from; at < next; ) {
      const session = (await this.#opening) as Session
      try {
        for await (const page of pages(session, at, { log, next })) {
          yield page
          at = page.next ?? at
        }
      } catch (error) {
        // It was opened again while the client took its time, or the repository was closed.
        if (!hasCode(error, "closed") || this.ended || (await this.#opening) === session) throw error
      }
    }
  }

  /** The mark of the entry before this place. */
  async markAt(next: Seq): Promise<string> {
    if (this.#marked?.next === next) return this.#marked.mark
    const session = await (this.#opening ??= this.#open())
    const told = this.#head
    let mark = markOf(undefined)
    try {
      for await (const { id } of session.entries({ from: Math.max(0, next - 1), to: next })) mark = markOf(id)
    } catch (error) {
      if (!hasCode(error, "closed")) throw error
      // Unless it was opened again, its last events still come.
      return (await this.#opening) === session ? mark : this.markAt(next)
    }
    // Not if the log was put back meanwhile.
    if (told === this.#head) this.#marked = { next, mark }
    return mark
  }

  /** The queue was read or written here. `own`: by this process; else the log may have grown with it. */
  observe(snapshot: QueueSnapshot, own: boolean): void {
    const before = this.#queue
    this.#queue = snapshot
    this.#lookLater(snapshot.queue)
    if (before === undefined || this.#session === undefined) this.#told = snapshot
    if (before === undefined || this.#session === undefined || before.version === snapshot.version) return
    const changes = difference(before.queue, snapshot.queue)
    this.#inOrder(async () => {
      const session = this.#session as Session
      // The end of a turn comes after the last entry of the turn.
      if (!own && changes.length > 0) await this.#refresh(session)
      if (changes.length > 0) await this.#advance(session)
      this.#told = snapshot
      for (const change of changes) this.#push(change)
      if (changes.some(({ turn }) => turn !== undefined)) await this.#reopen(session)
    }).catch((error: unknown) => this.#fail(error))
  }

  /** The session was deleted. */
  deleted(): void {
    if (this.ended) return
    this.#push({ event: "deleted", data: JSON.stringify({ id: this.#id }) })
    void this.close()
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    if (this.ended) return
    this.ended = true
    this.#stop.abort()
    clearTimeout(this.#timer)
    this.#wake()
    await this.#opening?.catch(() => undefined)
    await this.#tail.catch(() => undefined)
    await this.#session?.close().catch(() => undefined)
  }

  async #open(): Promise<Session> {
    const session = await this.#sessions.open(this.#id)
    this.#session = session
    this.#head ??= session.head
    this.#grown = 0
    session.on("appended", () => this.#startAdvance())
    session.on("foreign", () => {
      this.#startAdvance(true)
      // Another server has written: it may have taken or ended a prompt.
      if (!this.#o.runsHere()) void this.#look()
    })
    session.on("compact_start", (event) => this.#tell("compact_start", event))
    session.on("compact_complete", (event) => this.#tell("compact_complete", event))
    session.on("compact_failed", ({ kind, failures, breakerOpen }) =>
      this.#tell("compact_failed", { kind, failures, breakerOpen }),
    )
    session.on("diverged", (event) => this.#tell("diverged", event))
    this.#follow(session)
    return session
  }

  #follow(session: Session): void {
    session.follow({ signal: this.#stop.signal }).catch((error: unknown) => {
      if (this.ended || !isPutBack(error)) return this.#fail(error)
      // It has the entries that are gone, which no client gets.
      this.#o.onError(error)
      this.#isPutBack = true
      this.#startAdvance()
      this.#follow(session)
    })
  }

  /** A log that was put back to an older state is news for the clients, and no failure. */
  async #refresh(session: Session): Promise<void> {
    if (await refreshed(session)) this.#isPutBack = true
  }

  #tell<Name extends SessionEventName>(event: Name, data: SessionEventData[Name]): void {
    void this.#inOrder(async () => this.#push({ event, data: JSON.stringify(data) }))
  }

  #startAdvance(foreign = false): void {
    // One that waits for its turn will see this change too.
    if (this.#isAdvancing) return
    this.#isAdvancing = true
    this.#inOrder(async () => {
      this.#isAdvancing = false
      const session = this.#session as Session
      await this.#advance(session)
      if (foreign) await this.#reopen(session)
    }).catch((error: unknown) => this.#fail(error))
  }

  /**
   * Frees what an open session has read of a log that has grown, unless a turn of this process keeps it in memory anyway.
   */
  async #reopen(session: Session): Promise<void> {
    if (this.#grown < REOPEN_UNITS || this.#o.runsHere() || this.ended) return
    this.#opening = session.close().then(() => this.#open())
    await this.#advance(await this.#opening)
    // What another server has written meanwhile was no event.
    void this.#look()
  }

  /** Tells of the lines up to the acknowledged end of the log. */
  async #advance(session: Session): Promise<void> {
    const head = session.head
    const told = this.#head as Head
    if (head.log !== told.log || this.#isPutBack) {
      this.#head = head
      this.#marked = undefined
      this.#isPutBack = false
      this.#push({ event: "reset", data: JSON.stringify({ head }), mark: await this.markAt(head.next) })
    } else if (head.next > told.next) {
      for await (const page of pages(session, told.next, head)) {
        this.#push(page)
        this.#grown += page.data.length
      }
      this.#head = head
    }
  }

  #push(event: FeedEvent): void {
    this.#events.push(event)
    this.#units += event.data.length
    while (this.#events.length > KEPT || (this.#units > KEPT_UNITS && this.#events.length > 1)) {
      this.#units -= this.#events.shift()?.data.length ?? 0
      this.#first++
    }
    this.#wake()
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Documents have no watch. An empty queue of another server changes only together with its log. */
  #lookLater({ prompts }: Pick<Queue, "prompts">): void {
    clearTimeout(this.#timer)
    if (prompts.length === 0 || this.ended) return
    const timer: unknown = (this.#timer = setTimeout(() => {
      if (this.#o.runsHere()) this.#lookLater({ prompts })
      else void this.#look()
    }, LOOK_MS))
    ;(timer as { unref?: () => void }).unref?.()
  }

  async #look(): Promise<void> {
    this.#lookAgain = true
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#lookAgain && !this.ended) {
        this.#lookAgain = false
        await this.#o.queue.read()
      }
    } catch (error) {
      if (!hasCode(error, "unavailable")) this.#fail(error)
    } finally {
      this.#isLooking = false
    }
    // Nothing was observed if nothing has changed.
    if (this.#queue !== undefined) this.#lookLater(this.#queue.queue)
  }

  #inOrder<T>(act: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(act)
    this.#tail = done.catch(() => undefined)
    return done
  }

  /** Ends the connections: each connects again, and finds out what the matter is. */
  #fail(error: unknown): void {
    if (this.ended) return
    if (hasCode(error, "not_found")) return this.deleted()
    this.#o.onError(error)
    void this.close()
  }
}

/** The events that a change of the queue means. */
function difference(before: Queue, after: Queue): FeedEvent[] {
  const known = new Map(before.prompts.map((prompt) => [prompt.messageId, prompt.state]))
  const wasEnded = new Set(before.ended.map(({ messageId }) => messageId))
  const ended = after.ended.filter(({ messageId }) => !wasEnded.has(messageId))
  const changes = ended.map(turnEnd)
  const add = (event: "queued" | "turn_start", data: object): void =>
    void changes.push({ event, data: JSON.stringify(data) })
  for (const [position, prompt] of after.prompts.entries()) {
    const { messageId, state } = prompt
    if (!known.has(messageId)) add("queued", { ...toWaiting(prompt), position })
    if (state === "running" && known.get(messageId) !== "running") add("turn_start", { messageId })
  }
  return changes
}

async function* pages(session: Session, from: Seq, head: Head): AsyncGenerator<FeedEvent, void, undefined> {
  let entries: string[] = []
  let units = 0
  let next = from
  let last: Entry | undefined
  const page = (): FeedEvent => ({
    event: "appended",
    data: `{"entries":[${entries.join(",")}],"head":${JSON.stringify({ log: head.log, next })}}`,
    next,
    mark: markOf(last?.seq === next - 1 ? last.id : undefined),
  })
  for await (const entry of session.entries({ from, to: head.next })) {
    const text = toJsonText(entry satisfies Entry)
    if (entries.length === PAGE_ENTRIES || (entries.length > 0 && units + text.length > PAGE_UNITS)) {
      yield page()
      entries = []
      units = 0
    }
    entries.push(text)
    units += text.length
    next = entry.seq + 1
    last = entry
  }
  // Lines that are no entries, and the header, are passed over.
  next = head.next
  yield page()
}
