/**
 * The prompts of a session that wait or run, as one document holds them, and each change of it as a pure function. The document also has the
 * lease, with the fields of a turn's document: its holder alone takes prompts and runs turns.
 */
import { decodeTurn, type HeldTurn, type TurnDocument } from "@sessions/core/format"
import { StorageError } from "@sessions/core/storage"
import type { AnsweredError, EndedTurn, NewPrompt, WaitingPrompt } from "./types.ts"

/** Ended turns that the document names, so that servers and clients that did not see the end learn of it. */
const ENDED_KEPT = 20

export interface StoredPrompt extends WaitingPrompt {
  readonly state: "queued" | "running"
  /** Its turn is to be stopped. */
  readonly stop?: true
}

/** What a runner writes as the holder of the lease. */
export type Holder = Pick<HeldTurn["held"], "by" | "lease">

export interface Queue extends TurnDocument {
  /** In order; the first one may be running. */
  readonly prompts: readonly StoredPrompt[]
  readonly ended: readonly EndedTurn[]
}

/** The end of a prompt that was stopped, and the reason with which the signal of its turn fires. */
export const STOPPED: AnsweredError = { code: "stopped", message: "The turn was stopped." }

export const NO_PROMPTS: Queue = { fence: 0, prompts: [], ended: [] }

export function encodeQueue(queue: Queue): string {
  return JSON.stringify({ v: 1, ...queue })
}

/** Throws `corrupt` for a text that is no queue. */
export function decodeQueue(text: string): Queue {
  const turn = decodeTurn(text)
  const { prompts, ended } = (turn ?? {}) as Partial<Queue>
  if (turn !== undefined && Array.isArray(prompts) && Array.isArray(ended)) {
    const { fence, held } = turn
    return { fence, ...(held !== undefined && { held }), prompts, ended }
  }
  throw new StorageError("corrupt", "The document with the prompts of the session is damaged. Delete it to go on.")
}

/** Two prompts with the same id are the same if these texts are equal. */
export function contentOf({ text, model, attachments = [] }: Omit<NewPrompt, "id">): string {
  return JSON.stringify([
    text,
    model === undefined ? null : [model.provider, model.model],
    attachments.map(({ path, mimeType, filename, size }) => [path, mimeType, filename ?? null, size ?? null]),
  ])
}

/** The prompt as clients see it. */
export function toWaiting({ messageId, text, model, attachments, at }: StoredPrompt): WaitingPrompt {
  return { messageId, text, ...(model && { model }), ...(attachments && { attachments }), at }
}

export function positionOf({ prompts }: Queue, id: string): number {
  return prompts.findIndex(({ messageId }) => messageId === id)
}

export function withPrompt(queue: Queue, { id, ...content }: NewPrompt, now: number): Queue {
  const prompt: StoredPrompt = { messageId: id, ...content, at: new Date(now).toISOString(), state: "queued" }
  return { ...queue, prompts: [...queue.prompts, prompt] }
}

/** A queued prompt leaves, and counts as ended; a running one is marked, for its runner to see, and for the next one if that dies. */
export function withStop(queue: Queue, id: string): Queue {
  const prompt = queue.prompts[positionOf(queue, id)]
  if (prompt === undefined) return queue
  if (prompt.state === "queued") return stopped(queue, prompt)
  if (prompt.stop === true) return queue
  const prompts = queue.prompts.map((one) => (one === prompt ? { ...one, stop: true as const } : one))
  return { ...queue, prompts }
}

/** What a runner has to do. */
export type Step =
  /** Another runner holds the lease, of this many milliseconds. */
  | { readonly kind: "busy"; readonly lease: number }
  | { readonly kind: "idle" }
  | { readonly kind: "run"; readonly fence: number; readonly prompt: StoredPrompt }
  /** The runner of this prompt has died within its turn. */
  | { readonly kind: "interrupted"; readonly fence: number; readonly prompt: StoredPrompt }

/**
 * Takes the lease, if it is free or `isLapsed`, and the first prompt. One that was to be stopped leaves, whoever ran it. Each turn has a number of its own, its fence. Without a prompt it gives
 * the lease back.
 */
export function take(queue: Queue, holder: Holder, isLapsed: boolean): { readonly queue: Queue; readonly step: Step } {
  const { held } = queue
  if (held !== undefined && held.by !== holder.by && !isLapsed)
    return { queue, step: { kind: "busy", lease: held.lease } }
  const [first, ...others] = queue.prompts
  if (first?.stop === true) return take(stopped(queue, first), holder, isLapsed)
  if (first === undefined) return { queue: held === undefined ? queue : withoutLease(queue), step: { kind: "idle" } }
  const fence = queue.fence + 1
  const taken = { ...queue, fence, held: { ...holder, count: 0 } }
  if (first.state === "running") return { queue: taken, step: { kind: "interrupted", fence, prompt: first } }
  const prompt: StoredPrompt = { ...first, state: "running" }
  return { queue: { ...taken, prompts: [prompt, ...others] }, step: { kind: "run", fence, prompt } }
}

/** Whether this runner still holds the lease with this prompt. */
export function isHeld(queue: Queue, runner: string, prompt: string): queue is Queue & HeldTurn {
  return queue.held?.by === runner && queue.prompts[0]?.messageId === prompt
}

/** A sign of life of the holder. */
export function renewed(queue: Queue & HeldTurn): Queue {
  const { by, lease, count } = queue.held
  return { ...queue, held: { by, lease, count: count + 1 } }
}

/** `fence`: the next turn gets a higher number than this. */
export function withoutLease({ prompts, ended, ...queue }: Queue, fence = 0): Queue {
  return { fence: Math.max(queue.fence, fence), prompts, ended }
}

/** The turn of a prompt has ended. */
export function without(queue: Queue, turn: EndedTurn): Queue {
  return {
    ...queue,
    prompts: queue.prompts.filter(({ messageId }) => messageId !== turn.messageId),
    ended: [...queue.ended, turn].slice(-ENDED_KEPT),
  }
}

function stopped(queue: Queue, { messageId }: StoredPrompt): Queue {
  return without(queue, { messageId, error: STOPPED })
}

/** The first prompt, whose agent was not called, waits again, or has ended if it was to be stopped. */
export function withFirstQueued(queue: Queue): Queue {
  const [first, ...others] = queue.prompts
  if (first === undefined) return queue
  if (first.stop === true) return stopped(queue, first)
  return { ...queue, prompts: [{ ...first, state: "queued" }, ...others] }
}
