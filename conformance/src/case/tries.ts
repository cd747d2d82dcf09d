/** Tries calls on a network whose faults they meet, and tells how each call ended. */
import type { SessionStorage } from "@sessions/core/storage"
import { showError } from "../helpers/show.ts"
import { TimeoutError, withTimeout } from "../helpers/timeout.ts"
import type { Meet } from "../subject.ts"
import type { Context } from "./context.ts"

/** How a call ended: with `done` and its value, with the code of its error, or not at all. */
export interface Outcome {
  readonly code: string
  readonly value?: unknown
  /** Of an error, for the failure of the case. */
  readonly text?: string
}

/** The code of a call that has not ended. */
export const OPEN = "open"
export const DONE = "done"

/** Which requests of a call meet a fault. */
export interface Reach {
  readonly name: string
  readonly meets: (request: { readonly writes: boolean; readonly n: number }) => boolean
}

export const EVERY: Reach = { name: "every request", meets: () => true }
export const FIRST: Reach = { name: "the first request", meets: ({ n }) => n === 0 }
/** The adapter can look for what it wrote. */
export const EVERY_WRITE: Reach = { name: "every request that writes", meets: ({ writes }) => writes }

/** A fault that reaches some requests. */
export interface Trouble {
  readonly fault: string
  readonly reach: Reach
}

export function troublesOf({ networkFaults }: Context, reaches: readonly Reach[]): readonly Trouble[] {
  return reaches.flatMap((reach) => networkFaults.map((fault) => ({ fault, reach })))
}

/** The end of a call; {@link OPEN} after `waitMs`. */
export async function outcomeOf(waitMs: number, call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { code: DONE, value: await withTimeout(waitMs, call) }
  } catch (error) {
    if (error instanceof TimeoutError) return { code: OPEN, text: "it has not ended" }
    return { code: String((error as { readonly code?: unknown }).code), text: showError(error) }
  }
}

/** Makes a call of a storage that meets the trouble, and lets everything arrive that is on its way by then. */
export async function meeting(
  { onNetwork, sizes }: Context,
  { fault, reach }: Trouble,
  call: (storage: SessionStorage) => Promise<unknown>,
): Promise<Outcome> {
  let n = 0
  const meet: Meet = ({ writes }) => (reach.meets({ writes, n: n++ }) ? fault : undefined)
  const { storage, arrive } = await onNetwork(meet)
  const outcome = await outcomeOf(sizes.waitMs, () => call(storage))
  await arrive()
  return outcome
}

/** Calls `act` for each item, some at a time. Resolves with the texts that it returned. */
export async function findings<T>(
  { sizes }: Context,
  items: readonly T[],
  act: (item: T, n: number) => Promise<string | undefined>,
): Promise<readonly string[]> {
  const found: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    for (let n = next++; n < items.length; n = next++) {
      const text = await act(items[n] as T, n)
      if (text !== undefined) found.push(text)
    }
  }
  await Promise.all(Array.from({ length: sizes.race }, work))
  return found
}
