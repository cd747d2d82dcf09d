/**
 * Runs the prompts of one session, one after the other, while it holds the lease. Each is a turn: the message is its first append, then the
 * host's function runs. `docs/http.md`, "Prompts".
 */
import { hasCode, type ModelRef, type Session, type Sessions } from "@sessions/core"
import { stateOfTurn } from "@sessions/core/format"
import { toErrorBody } from "../errors.ts"
import { failOnConflict } from "./fail-on-conflict.ts"
import type { PromptQueue } from "./prompt-queue.ts"
import {
  isHeld,
  type Queue,
  renewed,
  type Step,
  STOPPED,
  type StoredPrompt,
  take,
  toWaiting,
  withFirstQueued,
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
  /** Milliseconds without a sign of life after which another runner takes over; there is one after each third of them. */
  readonly lease: number
  /** Whether it looks again by itself, when a lease has ended or a storage may answer again. */
  readonly continues: boolean
  /** What clients are not told: the error of a turn. */
  readonly onTurnError: (error: unknown, about: { readonly session: string; readonly messageId: string }) => void
}

/** Between two looks at the queue during a turn: another server may have stopped its prompt. */
const LOOK_MS = 2_000

/** Before a storage that does not answer is asked again. */
const RETRY_MS = 2_000

/** Signs of life in the time of a lease. */
const RENEWALS = 3

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
  /** The session is being deleted: nothing is taken until that has an end. */
  #isSuspended = false
  #endPause = (): void => undefined
  #turn: { readonly messageId: string; readonly stop: AbortController } | undefined
  /** A turn that has ended, until the queue says so: it must not count as interrupted because the storage was out of reach then. */
  #ended: EndedTurn | undefined
  /** A prompt that this runner has taken, perhaps in a write whose answer was lost, and for which `run` was not called since. */
  #unbegun: string | undefined
  /** The end of the lease as this runner has written it. This and `since` are times of the monotonic clock. */
  #until = 0
  /** What another holder has last written, and when that was first seen here. */
  #seen: { readonly state: string; readonly since: number } | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(sessions: Sessions, session: string, o: { id: string; queue: PromptQueue; options: RunnerOptions }) {
    this.#sessions = sessions
    this.#session = session
    this.#id = o.id
    this.#queue = o.queue
    this.#o = o.options
  }

  /** Whether it is within a turn. */
  get isRunning(): boolean {
    return this.#turn !== undefined
  }

  /** Whether it runs, or will look again by itself. */
  get isNeeded(): boolean {
    return this.#running !== undefined || this.#timer !== undefined
  }

  /** Runs what is queued until the queue is empty, or another runner has the lease and has shown a sign of life. Never rejects. */
  start(): Promise<void> {
    if (this.#isEnding) return Promise.resolve()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#again = true
    return (this.#running ??= this.#runAll())
  }

  /** Stops the turn of this prompt, if it runs here. */
  stop(messageId: string): void {
    if (this.#turn?.messageId === messageId) this.#turn.stop.abort(STOPPED)
  }

  /** Stops the turn, and runs no other until {@link resume}. */
  suspend(): void {
    this.#isSuspended = true
    this.#endPause()
    this.#turn?.stop.abort(STOPPED)
  }

  /** A turn that has not ended yet is still this runner's, so no other one begins beside it. */
  resume(): void {
    this.#isSuspended = false
    if (this.#o.continues) void this.start()
  }

  /** Takes no further prompt, and resolves when the running turn has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#endPause()
    await this.#running
  }

  get #isEnding(): boolean {
    return this.#closed || this.#isSuspended
  }

  async #runAll(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false
        if (!(await this.#runOnce())) return
      }
    } finally {
      // In the tick of the last look at `#again`: a later `start` begins anew.
      this.#running = undefined
    }
  }

  /** Returns false if there is nothing to be run any more. */
  async #runOnce(): Promise<boolean> {
    try {
      let step = await this.#take()
      if (step.kind === "busy") step = await this.#waitFor(step.lease)
      while (step.kind === "run" || step.kind === "interrupted") step = await this.#runStep(step)
      if (step.kind === "busy") {
        this.#again = false
        this.#startIn(step.lease)
      }
    } catch (error) {
      // The session was deleted, and its prompts with it.
      if (hasCode(error, "not_found") || this.#isEnding) return false
      this.#report(error, this.#turn?.messageId ?? "")
      if (passes(error)) this.#startIn(RETRY_MS)
    }
    return true
  }

  /** Waits until the holder of the lease has shown a sign of life, or has shown none for the whole of it. */
  async #waitFor(lease: number): Promise<Step> {
    const seen = this.#seen
    for (;;) {
      const left = (this.#seen?.since ?? 0) + lease - performance.now()
      await this.#pause(Math.max(0, Math.min(left, lease / RENEWALS)))
      const step = await this.#take()
      if (step.kind !== "busy" || this.#seen !== seen) return step
    }
  }

  /** Keeps a process alive only for a caller of `runQueued`. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer: unknown = setTimeout(resolve, ms)
      if (this.#o.continues) (timer as { unref?: () => void }).unref?.()
      this.#endPause = resolve
    })
  }

  /** The holder of the lease may die without a word; a timer keeps no process alive. */
  #startIn(ms: number): void {
    if (this.#isEnding || !this.#o.continues) return
    const timer: unknown = (this.#timer = setTimeout(() => void this.start(), ms))
    ;(timer as { unref?: () => void }).unref?.()
  }

  /** Removes the prompt whose turn has ended, and takes the next one in the same write. */
  async #take(): Promise<Step> {
    const turn = this.#ended
    const next = await this.#queue.update((queue): { queue: Queue; result: Step } => {
      const known = this.#corrected(queue, turn)
      if (this.#isEnding) {
        const isOwn = queue.held?.by === this.#id
        return { queue: isOwn ? withoutLease(known) : known, result: { kind: "idle" } }
      }
      const sent = performance.now()
      const { queue: taken, step } = take(known, { by: this.#id, lease: this.#o.lease }, this.#isLapsed(queue))
      if (taken.fence > queue.fence) this.#until = sent + this.#o.lease
      this.#unbegun = step.kind === "run" ? step.prompt.messageId : undefined
      return { queue: taken, result: step }
    })
    this.#ended = undefined
    return next
  }

  /** The queue with what this runner knows of the prompt that it holds as running, and could not write. */
  #corrected(queue: Queue, turn: EndedTurn | undefined): Queue {
    if (turn !== undefined && isHeld(queue, this.#id, turn.messageId)) return without(queue, turn)
    const isUnbegun = this.#unbegun !== undefined && isHeld(queue, this.#id, this.#unbegun)
    return isUnbegun ? withFirstQueued(queue) : queue
  }

  /** Whether another holder of the lease has not written for the whole of it. The write that takes it finds out if it has since. */
  #isLapsed(queue: Queue): boolean {
    if (queue.held === undefined) return false
    const state = stateOfTurn(queue)
    if (this.#seen?.state !== state) this.#seen = { state, since: performance.now() }
    return performance.now() - this.#seen.since >= queue.held.lease
  }

  async #runStep(step: Extract<Step, { readonly fence: number }>): Promise<Step> {
    const { fence, prompt } = step
    const { messageId } = prompt
    const isFound = step.kind === "interrupted"
    const outcome = await this.#runTurn(prompt, { fence, isFound })
    if (outcome.kind === "lost") {
      this.#startIn(RETRY_MS)
      return { kind: "idle" }
    }
    if (outcome.kind === "later") {
      // Nothing of the turn is in the log. It is tried again later, by this runner or another one.
      await this.#queue.update((queue) => {
        if (!isHeld(queue, this.#id, messageId)) return { queue, result: undefined }
        return { queue: withoutLease(isFound ? queue : withFirstQueued(queue), outcome.fence), result: undefined }
      })
      this.#startIn(RETRY_MS)
      return { kind: "idle" }
    }
    this.#ended = outcome.turn
    return this.#take()
  }

  /** `isFound`: the prompt was found as running, so an earlier turn may have called `run`. */
  async #runTurn(prompt: StoredPrompt, o: { fence: number; isFound: boolean }): Promise<Outcome> {
    const { messageId } = prompt
    const stop = new AbortController()
    const { signal } = stop
    this.#turn = { messageId, stop }
    const keeper = this.#keepLease(messageId, stop)
    let written = false
    let isReport = false
    try {
      const handle = await this.#sessions.open(this.#session, { signal })
      try {
        await handle.turn(
          async (session, { signal: lost }) => {
            lost?.addEventListener("abort", () => stop.abort(LOST))
            // Behind the fence no earlier turn writes the message any more, and none calls `run` without it.
            const rerun = o.isFound && (await session.entry(messageId)) !== undefined
            await session.append(entryOf(prompt))
            written = true
            isReport = rerun && this.#o.onInterrupted === "report"
            if (isReport) return
            keeper.check()
            const message = toWaiting(prompt)
            const model = prompt.model ?? (await this.#modelOf(session.header.cwd))
            const turn = { messageId, rerun }
            this.#unbegun = undefined
            await this.#o.run({ session: failOnConflict(session), turn, message, model, signal })
          },
          { signal, lease: { fence: o.fence } },
        )
      } finally {
        await handle.close()
      }
      return signal.aborted && signal.reason === LOST ? { kind: "lost" } : ended(messageId, endOf(signal, isReport))
    } catch (error) {
      if (signal.reason === LOST) return { kind: "lost" }
      if (signal.reason === STOPPED) return ended(messageId, STOPPED)
      if (!written && passes(error)) {
        this.#report(error, messageId)
        return { kind: "later", fence: (error as { readonly fence?: number }).fence }
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
    const { lease } = this.#o
    const check = (): void => {
      if (performance.now() >= this.#until) stop.abort(LOST)
      stop.signal.throwIfAborted()
    }
    const renew = (known: Queue): { queue: Queue; result: Queue } => {
      const queue = isHeld(known, this.#id, messageId) ? renewed(known) : known
      return { queue, result: queue }
    }
    const look = async (): Promise<void> => {
      const sent = performance.now()
      const isDue = sent >= this.#until - lease + lease / RENEWALS
      const queue = isDue ? await this.#queue.update(renew) : (await this.#queue.read()).queue
      if (!isHeld(queue, this.#id, messageId)) return stop.abort(LOST)
      if (isDue) this.#until = sent + lease
      if (queue.prompts[0]?.stop === true) stop.abort(STOPPED)
    }
    let isLooking = false
    const timer = setInterval(
      () => {
        if (performance.now() >= this.#until) return stop.abort(LOST)
        if (isLooking) return
        isLooking = true
        look()
          // A storage that does not answer is asked again, until the lease has ended.
          .catch((error: unknown) => hasCode(error, "not_found") && stop.abort(LOST))
          .finally(() => (isLooking = false))
      },
      Math.min(LOOK_MS, lease / RENEWALS),
    )
    return { check, end: () => clearInterval(timer) }
  }

  #report(error: unknown, messageId: string): void {
    this.#o.onTurnError(error, { session: this.#session, messageId })
  }
}

type Outcome =
  | { readonly kind: "ended"; readonly turn: EndedTurn }
  /** Nothing was written, because the storage does not take anything now, or the log has this fence, which is not below the turn's. */
  | { readonly kind: "later"; readonly fence: number | undefined }
  /** The lease is another runner's, or the session is gone. */
  | { readonly kind: "lost" }

/** The other reason with which the signal of a turn fires. */
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
