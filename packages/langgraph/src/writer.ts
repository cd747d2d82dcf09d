/**
 * Appends the records of one thread. Records of calls that come at once go into one append. A record carries what is known of the log
 * before it (see `Claim`), so the writer follows the log: by the events of its session, and by reading the end of the log when it opens it.
 */
import { hasCode, type Session, SessionError, type Sessions } from "@sessions/core"
import type { LogRecord } from "@sessions/core/format"
import { createQueue, type Head, type Seq } from "@sessions/core/storage"
import { LogLines } from "./log-lines.ts"
import {
  CHECKPOINT,
  type CheckpointRecord,
  type Claim,
  greater,
  recordIn,
  recordOf,
  type WRITES,
  type WritesRecord,
} from "./records.ts"
import { Scan } from "./scan.ts"
import { KIND } from "./thread-id.ts"

/** How often a call begins again because another process has deleted or replaced the log. */
const ATTEMPTS = 5
/** A session keeps the text of what it has appended, so it is closed after this much, in characters, and opened again. */
const APPENDED = 4_000_000

/** The parts of a record: everything but what the writer knows of the log. */
export type NewRecord =
  | { readonly type: typeof CHECKPOINT; readonly data: Omit<CheckpointRecord, keyof Claim | "count"> }
  | { readonly type: typeof WRITES; readonly data: Omit<WritesRecord, keyof Claim> }

export interface Place {
  readonly seq: Seq
  /** The identity of the log. */
  readonly log: string
}

export interface Written extends Place {
  /** Number of checkpoints of the log, if the record is one. */
  readonly count: CheckpointRecord["count"]
}

/** The log to which a record is appended. */
export interface Target {
  /** Its identity. */
  readonly log: string
  /** Whether it has this checkpoint there: it may have been put back to an older state since that was read or put. */
  readonly has: (seq: Seq, ns: string, id: string) => Promise<boolean>
}

interface Job {
  readonly isCheckpoint: boolean
  readonly make: (target: Target) => Promise<NewRecord>
  readonly resolve: (written: Written) => void
  readonly reject: (error: unknown) => void
}

interface Opened {
  readonly session: Session
  readonly log: string
  /** Claims of the lines below `seen`. */
  claim: Claim
  count: CheckpointRecord["count"]
  /** Lines from `claim.seen` on that are known: the id that they mention, if any. */
  readonly known: Map<Seq, string | undefined>
  /** Seqs of own entries whose append was acknowledged. */
  readonly seqs: Map<string, Seq>
  /** Seqs of own checkpoints. The session would not append behind others in their place. */
  readonly own: Set<Seq>
  appended: number
}

export class ThreadWriter {
  readonly #sessions: Sessions
  readonly #thread: string
  readonly id: string
  #jobs: Job[] = []
  #opened: Opened | undefined
  /** The running work; each waits for the one before it. */
  readonly #queue = createQueue()

  constructor(sessions: Sessions, thread: string, id: string) {
    this.#sessions = sessions
    this.#thread = thread
    this.id = id
  }

  /** Whether no call is waiting. */
  get isIdle(): boolean {
    return this.#queue.idle
  }

  /** Appends the record that `make` returns; it is asked again if another process replaces the log meanwhile. */
  append(isCheckpoint: boolean, make: Job["make"]): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#jobs.push({ isCheckpoint, make, resolve, reject })
      void this.#queue.run(() => this.#write())
    })
  }

  /** Closes the session, and runs `work` while nothing is appended. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      await this.#close()
      return work()
    })
  }

  /** Writes the jobs that wait, up to the second checkpoint: a checkpoint refers to an earlier one by its place in the log. */
  async #write(): Promise<void> {
    const second = this.#jobs.findIndex(
      (job, n) => job.isCheckpoint && this.#jobs.slice(0, n).some((j) => j.isCheckpoint),
    )
    const group = this.#jobs.splice(0, second < 0 ? this.#jobs.length : second)
    if (group.length === 0) return
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#append(group)
      } catch (error) {
        if (group.length > 1 && hasCode(error, "too_large")) {
          for (const job of group) await this.#append([job]).catch(job.reject)
          return
        }
        const isReplaced = hasCode(error, "conflict") || hasCode(error, "not_found") || hasCode(error, "closed")
        // What is gone must not be passed over, nor a lease that was lost; a thread that was deleted begins anew.
        const { lost, leaseLost } = error as SessionError
        const isLoss = hasCode(error, "conflict") && (lost !== undefined || leaseLost === true)
        if (isLoss) await this.#close()
        if (!isReplaced || isLoss || attempt === ATTEMPTS) return group.forEach((job) => job.reject(error))
        await this.#close()
      }
    }
  }

  async #append(group: readonly Job[]): Promise<void> {
    const opened = (this.#opened ??= await this.#open())
    advance(opened)
    const { claim } = opened
    const target: Target = { log: opened.log, has: (...checkpoint) => this.#has(opened, ...checkpoint) }
    let { count } = opened
    const made: { readonly job: Job; readonly count: CheckpointRecord["count"] }[] = []
    const entries: { type: "custom"; customType: string; data: object }[] = []
    for (const job of group) {
      try {
        const { type, data } = await job.make(target)
        if (type === CHECKPOINT) count = [count[0], count[1] + 1]
        entries.push({
          type: "custom",
          customType: type,
          data: { ...data, ...claim, ...(type === CHECKPOINT && { count }) },
        })
        made.push({ job, count })
      } catch (error) {
        // A value that cannot be serialized concerns its own call alone.
        job.reject(error)
      }
    }
    if (made.length === 0) return
    const { ids } = await opened.session.append(entries)
    advance(opened)
    for (const [n, { job, count }] of made.entries()) {
      const seq = opened.seqs.get(ids[n] as string)
      if (seq === undefined) throw new Error(`The entry ${ids[n]} of ${this.id} was appended, but not reported.`)
      if (job.isCheckpoint) opened.own.add(seq)
      job.resolve({ seq, log: opened.log, count })
    }
    opened.seqs.clear()
    if (opened.appended > APPENDED) await this.#close()
  }

  async #open(): Promise<Opened> {
    const { id } = this
    const session = await this.#sessions.openOrCreate(id, { kind: KIND, metadata: { thread_id: this.#thread } })
    try {
      const { head } = session
      if (session.header.kind !== KIND) {
        const message = `The session ${id} is not a thread of LangGraph. Give the saver a storage without this session.`
        throw new SessionError("invalid", message, { session: id })
      }
      const opened: Opened = {
        session,
        log: head.log,
        claim: { seen: head.next },
        count: [0, 0],
        known: new Map(),
        seqs: new Map(),
        own: new Set(),
        appended: 0,
      }
      session.on("appended", ({ entries }) => {
        for (const entry of entries) opened.seqs.set(entry.id, entry.seq)
        learn(opened, entries)
      })
      session.on("foreign", ({ entries }) => learn(opened, entries))
      await this.#readEnd(opened, head)
      return opened
    } catch (error) {
      await session.close()
      throw error
    }
  }

  async #has({ log, own }: Opened, seq: Seq, ns: string, id: string): Promise<boolean> {
    if (own.has(seq)) return true
    try {
      for await (const { lines } of this.#sessions.storage.read(this.id, { from: seq, to: seq + 1, log })) {
        const found = recordIn(lines[0] ?? "", seq)
        return found?.kind === "checkpoint" && found.data.ns === ns && found.data.id === id
      }
    } catch (error) {
      // Another log by now: the append finds out which.
      if (!hasCode(error, "conflict")) throw error
    }
    return false
  }

  /** Reads the claims of the lines up to `head`, and how many checkpoints they count. */
  async #readEnd(opened: Opened, { next, log }: Head): Promise<void> {
    const scan = new Scan(new LogLines(this.#sessions.storage, this.id, { next, log }))
    const max = await scan.greatest()
    opened.claim = { seen: next, ...(max !== undefined && { max }) }
    opened.count = scan.newestRead?.data.count ?? [0, 0]
  }

  async #close(): Promise<void> {
    const opened = this.#opened
    this.#opened = undefined
    await opened?.session.close()
  }
}

/** Notes entries that were appended to the log, by whomever; they may be reported in another order than that of the log. */
function learn(opened: Opened, entries: readonly { readonly seq: Seq }[]): void {
  for (const entry of entries) {
    const found = recordOf(entry as unknown as LogRecord, entry.seq)
    opened.known.set(entry.seq, found?.data.id)
    if (found?.kind === "checkpoint") opened.count = [opened.count[0], opened.count[1] + 1]
    opened.appended += JSON.stringify(entry).length
  }
}

/** Extends the claim over the lines that are known without a gap. */
function advance(opened: Opened): void {
  let { seen, max } = opened.claim
  for (; opened.known.has(seen); seen++) {
    max = greater(max, opened.known.get(seen))
    opened.known.delete(seen)
  }
  opened.claim = { seen, ...(max !== undefined && { max }) }
}
