/**
 * Runs the prompts of one session, one after the other, while it holds the lease. Each is a turn: the message is its first append, then the
 * host's function runs. `docs/http.md`, "Prompts".
 */
import { hasCode, type ModelRef, type Session, type Sessions } from "@sessions/core"
import { toErrorBody } from "../errors.ts"
import { failOnConflict } from "./fail-on-conflict.ts"
import type { PromptQueue } from "./prompt-queue.ts"
import {
  isHeld,
  type Lease,
  positionOf,
  type Queue,
  type Step,
  type StoredPrompt,
  take,
  toWaiting,
  withFirstQueued,
  withLease,
  without,
  withoutLease,
} from "./prompts.ts"
import type { AnsweredError, EndedTurn, WaitingPrompt } from "./types.ts"

/** The host's agent, awaited. It appends its answer to `session`; what it throws is the error of the turn. */
export type RunPrompt = (prompt: {
  /** A handle for this turn: its appends fail with `conflict` if another writer has continued the conversation. */
  readonly session: Session
  readonly turn: {
    /** The id of the prompt, and of its message in the log. */
    readonly messageId: string
    /** This turn was interrupted by the end of its server and runs again (`onInterrupted: "rerun"`). */
    readonly rerun: boolean
  }
  /** The prompt; its message is in the log already. */
  readonly message: WaitingPrompt
  /** The model of the prompt, else that of the session's folder, else the default: see {@link Models}. */
  readonly model: ModelRef | undefined
  /** Fires when the prompt is stopped, its session is deleted, or the lease is lost. */
  readonly signal: AbortSignal
}) => unknown

/** Which model answers a prompt that names none. */
export interface Models {
  /** The model of a folder, the `cwd` of a session. What it throws is the error of the turn. */
  readonly of?: (cwd: string) => ModelRef | undefined | Promise<ModelRef | undefined>
  /** Of sessions without a folder, and of folders without a model. */
  readonly default?: ModelRef
}

export interface RunnerOptions {
  readonly run: RunPrompt
  readonly models: Models
  readonly onInterrupted: "report" | "rerun"
  /** Milliseconds that a lease is valid; it is renewed after a third of them. */
  readonly lease: number
  /** Whether it looks again by itself, when a lease has ended or a storage may answer again. */
  readonly continues: boolean
  /** What clients are not told: the error of a turn. */
  readonly onTurnError: (error: unknown, about: { readonly session: string; readonly messageId: string }) => void
  readonly now: () => number
}

/** Between two looks at the queue during a turn: another server may have stopped its prompt. */
const LOOK_MS = 2_000

/** Before a storage that does not answer is asked again. */
const RETRY_MS = 2_000

export class Runner {
  readonly #sessions: Sessions
  readonly #session: string
  readonly #id: string
  readonly #queue: PromptQueue
  readonly #o: RunnerOptions
  #running: Promise<void> | undefined
  /** Something was queued while the runner was about to end. */
  #again = false
  #closed = false
  #turn: { readonly messageId: string; readonly stop: AbortController } | undefined
  /** A turn that has ended, until the queue says so: it must not count as interrupted because the storage was out of reach then. */
  #ended: EndedTurn | undefined
  /**
   * The ends of the leases in writes that took a prompt and of which it is not known whether they are stored. A prompt that one of them took
   * has not begun to run.
   */
  readonly #takes = new Set<number>()
  /** Milliseconds since the epoch: the end of the lease as this runner has written it. */
  #until = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(sessions: Sessions, session: string, o: { id: string; queue: PromptQueue; options: RunnerOptions }) {
    this.#sessions = sessions
    this.#session = session
    this.#id = o.id
    this.#queue = o.queue
    this.#o = o.options
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Whether it runs, or will look again by itself. */
  get isNeeded(): boolean {
    return this.#running !== undefined || this.#timer !== undefined
  }

  /** Runs what is queued until the queue is empty or another runner has the lease. Never rejects. */
  start(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#again = true
    this.#running ??= this.#runAll().finally(() => (this.#running = undefined))
    return this.#running
  }

  /** Stops the turn of this prompt, if it runs here. */
  stop(messageId: string): void {
    if (this.#turn?.messageId === messageId) this.#turn.stop.abort(STOPPED)
  }

  /** Stops the turn, and runs no other. */
  abort(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#turn?.stop.abort(LOST)
  }

  /** Takes no further prompt, and resolves when the running turn has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    await this.#running
  }

  async #runAll(): Promise<void> {
    while (this.#again) {
      this.#again = false
      try {
        let step = await this.#take()
        while (step.kind === "run" || step.kind === "interrupted") step = await this.#runStep(step)
        if (step.kind === "busy") this.#startIn(step.until - this.#o.now() + 1)
      } catch (error) {
        // The session was deleted, and its prompts with it.
        if (hasCode(error, "not_found") || this.#closed) return
        this.#report(error, this.#turn?.messageId ?? "")
        if (passes(error)) this.#startIn(RETRY_MS)
      }
    }
  }

  /** The holder of the lease may die without a word; a timer keeps no process alive. */
  #startIn(ms: number): void {
    if (this.#closed || !this.#o.continues) return
    const timer: unknown = (this.#timer = setTimeout(() => void this.start(), ms))
    ;(timer as { unref?: () => void }).unref?.()
  }

  #lease(): Lease {
    return { runner: this.#id, until: this.#o.now() + this.#o.lease }
  }

  /** Removes the prompt whose turn has ended, and takes the next one in the same write. */
  async #take(): Promise<Step> {
    const turn = this.#ended
    const next = await this.#queue.update((queue) => {
      const [first] = queue.prompts
      if (first?.state === "running" && queue.lease?.runner === this.#id && this.#takes.has(queue.lease.until))
        return { queue, result: { kind: "run", prompt: first } as Step }
      const changed = turn !== undefined && isHeld(queue, this.#id, turn.messageId) ? without(queue, turn) : queue
      if (!this.#closed) {
        const lease = this.#lease()
        this.#until = lease.until
        const { queue: taken, step } = take(changed, lease, this.#o.now())
        if (step.kind === "run") this.#takes.add(lease.until)
        return { queue: taken, result: step }
      }
      const isOwn = changed.lease?.runner === this.#id
      return { queue: isOwn ? withoutLease(changed) : changed, result: { kind: "idle" } as Step }
    })
    this.#takes.clear()
    this.#ended = undefined
    return next
  }

  async #runStep(step: Step & { readonly prompt: StoredPrompt }): Promise<Step> {
    const { prompt } = step
    const { messageId } = prompt
    const rerun = step.kind === "interrupted"
    const report = rerun && this.#o.onInterrupted === "report"
    const outcome = await this.#runTurn(prompt, { rerun, report })
    if (outcome.kind === "lost") {
      this.#startIn(RETRY_MS)
      return { kind: "idle" }
    }
    if (outcome.kind === "later") {
      // Nothing of the turn is in the log. It is tried again later, by this runner or another one.
      await this.#queue.update((queue) => {
        if (!isHeld(queue, this.#id, messageId)) return { queue, result: undefined }
        return { queue: withoutLease(rerun ? queue : withFirstQueued(queue)), result: undefined }
      })
      this.#startIn(RETRY_MS)
      return { kind: "idle" }
    }
    this.#ended = outcome.turn
    return this.#take()
  }

  async #runTurn(prompt: StoredPrompt, o: { rerun: boolean; report: boolean }): Promise<Outcome> {
    const { messageId } = prompt
    const stop = new AbortController()
    const { signal } = stop
    this.#turn = { messageId, stop }
    const keeper = this.#keepLease(messageId, stop)
    let written = false
    try {
      const handle = await this.#sessions.open(this.#session, { signal })
      try {
        await handle.turn(
          async (session) => {
            await session.append(entryOf(prompt))
            written = true
            if (o.report) return
            keeper.check()
            const message = toWaiting(prompt)
            const model = prompt.model ?? (await this.#modelOf(session.header.cwd))
            const turn = { messageId, rerun: o.rerun }
            await this.#o.run({ session: failOnConflict(session), turn, message, model, signal })
          },
          { signal },
        )
      } finally {
        await handle.close()
      }
      return signal.aborted && signal.reason === LOST ? { kind: "lost" } : ended(messageId, endOf(signal, o.report))
    } catch (error) {
      if (signal.reason === LOST) return { kind: "lost" }
      if (signal.reason === STOPPED) return ended(messageId, STOPPED)
      if (!written && passes(error)) {
        this.#report(error, messageId)
        return { kind: "later" }
      }
      this.#report(error, messageId)
      return ended(messageId, publicError(error, "The turn failed; see the server's log."))
    } finally {
      keeper.end()
      this.#turn = undefined
    }
  }

  async #modelOf(cwd: string | undefined): Promise<ModelRef | undefined> {
    const { models } = this.#o
    return (cwd === undefined ? undefined : await models.of?.(cwd)) ?? models.default
  }

  /** Renews the lease during a turn, and stops the turn if the lease is lost or the prompt was stopped. */
  #keepLease(messageId: string, stop: AbortController): { check(): void; end(): void } {
    const check = (): void => {
      if (this.#o.now() >= this.#until) stop.abort(LOST)
      stop.signal.throwIfAborted()
    }
    const look = async (): Promise<void> => {
      const isDue = this.#o.now() >= this.#until - (2 / 3) * this.#o.lease
      const lease = this.#lease()
      const { queue } = isDue
        ? { queue: await this.#queue.update((queue) => renewed(queue, lease, messageId)) }
        : await this.#queue.read()
      if (!isHeld(queue, this.#id, messageId)) return stop.abort(LOST)
      if (isDue) this.#until = lease.until
      if (queue.prompts[positionOf(queue, messageId)]?.stop === true) stop.abort(STOPPED)
    }
    let isLooking = false
    const timer = setInterval(
      () => {
        if (this.#o.now() >= this.#until) return stop.abort(LOST)
        if (isLooking) return
        isLooking = true
        look()
          // A storage that does not answer is asked again, until the lease has ended.
          .catch((error: unknown) => hasCode(error, "not_found") && stop.abort(LOST))
          .finally(() => (isLooking = false))
      },
      Math.min(LOOK_MS, this.#o.lease / 3),
    )
    return { check, end: () => clearInterval(timer) }
  }

  #report(error: unknown, messageId: string): void {
    this.#o.onTurnError(error, { session: this.#session, messageId })
  }
}

type Outcome =
  | { readonly kind: "ended"; readonly turn: EndedTurn }
  /** Nothing was written, because the storage does not take anything now. */
  | { readonly kind: "later" }
  /** The lease is another runner's, or the session is gone. */
  | { readonly kind: "lost" }

/** The reasons with which the signal of a turn fires. */
export const STOPPED: AnsweredError = { code: "stopped", message: "The turn was stopped." }
const LOST: AnsweredError = { code: "interrupted", message: "Another server has taken over, or the session is gone." }

const INTERRUPTED: AnsweredError = {
  code: "interrupted",
  message: "The server ended within this turn. It is not run again, since its tools may have had effects.",
}

function ended(messageId: string, error: AnsweredError | undefined): Outcome {
  return { kind: "ended", turn: { messageId, ...(error !== undefined && { error }) } }
}

function endOf(signal: AbortSignal, interrupted: boolean): AnsweredError | undefined {
  if (interrupted) return INTERRUPTED
  return signal.reason === STOPPED ? STOPPED : undefined
}

function renewed(queue: Queue, lease: Lease, messageId: string): { readonly queue: Queue; readonly result: Queue } {
  const next = isHeld(queue, lease.runner, messageId) ? withLease(queue, lease) : queue
  return { queue: next, result: next }
}

/** The entry of a prompt's message. The model is beside the message, so that no provider gets it. */
export function entryOf({ messageId, text, model, attachments }: WaitingPrompt): {
  readonly type: "message"
  readonly id: string
  readonly model?: ModelRef
  readonly message: {
    readonly role: "user"
    readonly content: string
    readonly attachments?: NonNullable<WaitingPrompt["attachments"]>
  }
} {
  const message = { role: "user" as const, content: text, ...(attachments !== undefined && { attachments }) }
  return { type: "message", id: messageId, ...(model !== undefined && { model }), message }
}

/** Whether the same call may succeed later. */
function passes(error: unknown): boolean {
  return (["unavailable", "misconfigured", "indeterminate", "quota", "conflict"] as const).some((code) =>
    hasCode(error, code),
  )
}

/** What clients are told of an error: the code and the message of an error of core, and of any other `otherwise`. */
export function publicError(error: unknown, otherwise: string): AnsweredError {
  const { error: told } = toErrorBody(error)
  return told.code === "internal" ? { code: "failed", message: otherwise } : told
}
