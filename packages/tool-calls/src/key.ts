/** The key of a call, and the ids of its entries, which every process computes alike. */
import { sha256Hex } from "@sessions/core/storage"

/** A call by the entry of its message and its place there. */
export interface CallPlace {
  readonly target: string
  readonly call: number
}

/** The attempt is no part of it: a receiver that has seen the first one recognizes the second. */
export async function keyOf(session: string, { target, call }: CallPlace): Promise<string> {
  return (await sha256Hex(JSON.stringify([session, target, call]))).slice(0, 32)
}

export function startId({ target, call }: CallPlace, attempt: number): string {
  return `${target}.${call}.${attempt}`
}

/** One for all attempts: of two results that arrive, one is written. */
export function resultId({ target, call }: CallPlace): string {
  return `${target}.${call}.result`
}
