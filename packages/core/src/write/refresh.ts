/**
 * Takes over what other writers appended, for callers that wait for it. The append queue runs this when no batch is in flight; one reading
 * of the log serves all callers.
 */
import { readEnd, type LogEnd } from "./writer.ts"
import { notStored, vanished } from "./errors.ts"
import { isHeldLine, type ResolveContext } from "./resolve-outcome.ts"
import type { Head } from "../storage/contract.ts"

/** A caller that waits until other writers' lines have been read. */
export interface Refresh {
  /** A head that the storage has reported; undefined: the end of the log is read in any case. */
  readonly seen: Head | undefined
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** What became of a log that ends otherwise than expected: it was deleted, its id was taken by another session, or its lines were taken over. */
export type TakenOver = "gone" | "taken" | "found"

interface RefreshSteps {
  readonly takeOver: (end: LogEnd | undefined) => Promise<TakenOver>
  /** The storage answers, so outcomes that are unknown can be found out. */
  readonly answered: () => void
}

/** Never rejects: appends do not depend on it. Nothing is read for callers who have all seen the head that the session has. */
export async function runRefreshes(
  context: ResolveContext,
  waiting: readonly Refresh[],
  { takeOver, answered }: RefreshSteps,
): Promise<void> {
  const { id, storage, state } = context
  const { head } = state
  try {
    if (head === undefined) throw notStored(context)
    if (!waiting.every(({ seen }) => seen?.next === head.next && seen.log === head.log)) {
      const end = await readEnd(storage, id, head)
      if (!isHeld(context, end) && (await takeOver(end)) === "gone") throw vanished(context)
      answered()
    }
    for (const { resolve } of waiting) resolve()
  } catch (error) {
    for (const { reject } of waiting) reject(error)
  }
}

/** Whether the log still ends in the last line that is held as acknowledged. */
function isHeld({ state }: ResolveContext, end: LogEnd | undefined): boolean {
  const { log, head, acknowledged } = state
  const [last, ...more] = end?.lines ?? []
  return (
    end?.head.log === head?.log && last !== undefined && more.length === 0 && isHeldLine(log, acknowledged - 1, last)
  )
}
