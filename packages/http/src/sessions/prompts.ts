/**
 * The prompts of a session that wait or run, as one document holds them, and each change of it as a pure function. The document also has the
 * lease: its holder alone takes prompts and runs turns.
 */
import { StorageError } from "@sessions/core/storage"
import type { AnsweredError, EndedTurn, NewPrompt, WaitingPrompt } from "./types.ts"

/** Ended turns that the document names, so that servers and clients that did not see the end learn of it. */
const ENDED_KEPT = 20

export interface StoredPrompt extends WaitingPrompt {
  readonly state: "queued" | "running"
  /** Its turn is to be stopped. */
  readonly stop?: true
}

export interface Lease {
  /** The runner that holds it: one for each repository of each server process. */
  readonly runner: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

export interface Queue {
  /** In order; the first one may be running. */
  readonly prompts: readonly StoredPrompt[]
  readonly ended: readonly EndedTurn[]
  readonly lease?: Lease
}

export const NO_PROMPTS: Queue = { prompts: [], ended: [] }

export function encodeQueue(queue: Queue): string {
  return JSON.stringify(queue)
}

/** Throws `corrupt` for a text that is no queue. */
export function decodeQueue(text: string): Queue {
  try {
    const { prompts, ended, lease } = JSON.parse(text) as Queue
    const sound = Array.isArray(prompts) && Array.isArray(ended) && typeof (lease?.until ?? 0) === "number"
    if (sound) return { prompts, ended, ...(lease !== undefined && { lease }) }
  } catch {
    // The error below says it.
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

/** A queued prompt leaves, and counts as ended; a running one is marked, for its runner to see. */
export function withStop(queue: Queue, id: string, error: AnsweredError): Queue {
  const prompt = queue.prompts[positionOf(queue, id)]
  if (prompt === undefined || prompt.stop === true) return queue
  if (prompt.state === "queued") return without(queue, { messageId: id, error })
  const prompts = queue.prompts.map((one) => (one === prompt ? { ...one, stop: true as const } : one))
  return { ...queue, prompts }
}

/** What a runner has to do. */
export type Step =
  /** Another runner holds the lease. */
  | { readonly kind: "busy"; readonly until: number }
  | { readonly kind: "idle" }
  | { readonly kind: "run"; readonly prompt: StoredPrompt }
  /** The runner of this prompt has died within its turn. */
  | { readonly kind: "interrupted"; readonly prompt: StoredPrompt }

/** Takes the lease, if it is free, and the first prompt. Without a prompt it gives the lease back. */
export function take(queue: Queue, lease: Lease, now: number): { readonly queue: Queue; readonly step: Step } {
  const { lease: held, ...rest } = queue
  const isOther = held !== undefined && held.runner !== lease.runner
  if (isOther && held.until > now) return { queue, step: { kind: "busy", until: held.until } }
  const [first, ...others] = queue.prompts
  if (first === undefined) return { queue: held === undefined ? queue : rest, step: { kind: "idle" } }
  if (first.state === "running") return { queue: { ...rest, lease }, step: { kind: "interrupted", prompt: first } }
  const prompt: StoredPrompt = { ...first, state: "running" }
  return { queue: { ...rest, prompts: [prompt, ...others], lease }, step: { kind: "run", prompt } }
}

/** Whether this runner still holds the lease with this prompt. */
export function isHeld(queue: Queue, runner: string, prompt: string): boolean {
  return queue.lease?.runner === runner && queue.prompts[0]?.messageId === prompt
}

export function withLease(queue: Queue, lease: Lease): Queue {
  return { ...queue, lease }
}

export function withoutLease({ prompts, ended }: Queue): Queue {
  return { prompts, ended }
}

/** The turn of a prompt has ended. */
export function without(queue: Queue, turn: EndedTurn): Queue {
  return {
    ...queue,
    prompts: queue.prompts.filter(({ messageId }) => messageId !== turn.messageId),
    ended: [...queue.ended, turn].slice(-ENDED_KEPT),
  }
}

/** The first prompt waits again: nothing of its turn was written. */
export function withFirstQueued({ prompts: [first, ...others], ...queue }: Queue): Queue {
  if (first === undefined) return { ...queue, prompts: [] }
  return { ...queue, prompts: [{ ...first, state: "queued" }, ...others] }
}
