/** Appends the results of calls. */
import { type Entry, hasCode, type NewEntry, type Session, type ToolResultMessage } from "@sessions/core"
import type { CallState } from "@sessions/core/context"
import { createIds } from "@sessions/core/format"
import { toolResult } from "@sessions/providers"
import { isLoss, noSuchCallError } from "./errors.ts"
import { type CallPlace, resultId } from "./key.ts"
import { positionOf } from "./position.ts"
import { isStartedAgain, standingOf } from "./standing.ts"
import type { ResultEntry, ToResult } from "./types.ts"

/** How often an append whose outcome is unknown, or with which another writer was faster, is sent. */
const TRIES = 20

const newId = createIds()

export interface Output {
  readonly output: unknown
  readonly isError: boolean
}

export interface Appended {
  readonly entryId: string
  readonly message: ToolResultMessage
  /** Of whoever has given it; other programs give none. */
  readonly run: unknown
}

interface Call {
  readonly callId: string
  readonly toolName: string
}

/** Makes the entry of the result of one call. */
export type MakeEntry = (output: Output) => ResultEntry

/** What a bridge needs to know of the message is read before the call runs: a result is not lost because it cannot be read then. */
export async function entryMaker(
  session: Session,
  { target }: CallPlace,
  { callId, toolName }: Call,
  toResult: ToResult | undefined,
): Promise<MakeEntry> {
  const block = { id: callId, name: toolName }
  if (toResult === undefined) return ({ output, isError }) => toolResult(block, output, { isError })
  const answer = await session.entry(target)
  if (answer === undefined) throw noSuchCallError(session.id, callId)
  return ({ output, isError }) => toResult(block, output, { isError, answer })
}

interface Placing {
  /** That of the result. */
  readonly run: string
  /** The newest start of the call that the result is for: once there is a newer one, it does not count. Undefined for a call that may be repeated. */
  readonly start: Pick<CallState, "attempt" | "run"> | undefined
  /**
   * `"rebase"` for what a call that has run has given: behind whatever has come meanwhile. `"fail"` for what is said of a call that has not run
   * here: it must not pass beside another run's start, on its way to the same place.
   */
  readonly onConflict: "rebase" | "fail"
}

/**
 * Appends a result wherever the conversation is by now. If the call has one already, that one counts. A result that cannot be stored is an error
 * result that says why: the call has run. Undefined: another run has started the call since, and nothing was appended.
 */
export async function appendResult(
  session: Session,
  place: CallPlace,
  make: MakeEntry,
  { run, start, onConflict, ...output }: Output & Placing,
): Promise<Appended | undefined> {
  const placing = { run, start, onConflict }
  try {
    return await append(session, place, orError(make, output), placing)
  } catch (error) {
    if (!hasCode(error, "too_large") && !hasCode(error, "invalid")) throw error
    const why = new Error(`The tool has run, and its result was not stored: ${(error as Error).message}`)
    return append(session, place, make({ output: why, isError: true }), placing)
  }
}

/** An output of which no entry can be made is an error. */
function orError(make: MakeEntry, output: Output): ResultEntry {
  try {
    return make(output)
  } catch (error) {
    return make({ output: error, isError: true })
  }
}

/** The entry has its run, so that no result is taken for the equal one of another run, which may be on another branch. */
async function append(
  session: Session,
  place: CallPlace,
  entry: ResultEntry,
  { run, start, onConflict }: Placing,
): Promise<Appended | undefined> {
  let named: NewEntry & { readonly id: string } = { id: resultId(place), ...entry, run }
  let isSure = true
  for (let tries = 1; ; ) {
    if (start !== undefined) {
      const before = positionOf(session)
      const standing = await standingOf(session, place)
      // After `indeterminate` it may be in memory, as if it were in the log.
      const isOwn = !isSure && standing.result === named.id
      if (standing.result !== undefined && !isOwn) return appendedOf(session, standing.result)
      if (isStartedAgain(standing, start)) return undefined
      // A start may be among what has come meanwhile. Nothing is awaited between this and the append.
      if (onConflict === "fail" && positionOf(session) !== before) continue
    }
    try {
      // Its message is in memory, and so is everything behind it.
      await session.append(named, { onConflict, repeats: "end" })
      return { entryId: named.id, message: entry.message, run }
    } catch (error) {
      if (hasCode(error, "exists")) {
        const { result } = await standingOf(session, place)
        if (result !== undefined) return appendedOf(session, result)
        // Another branch has a result with this id.
        named = { ...named, id: newId() }
      }
      // Also refused with a start that was queued before it, and with which another writer was faster.
      else if (isLoss(error) || (!hasCode(error, "indeterminate") && !hasCode(error, "conflict"))) throw error
      else if (tries++ === TRIES) throw error
      isSure = !hasCode(error, "indeterminate")
    }
  }
}

/** The result that the path has of a call. */
export async function resultOf(session: Session, place: CallPlace): Promise<Appended | undefined> {
  const { result } = await standingOf(session, place)
  return result === undefined ? undefined : appendedOf(session, result)
}

async function appendedOf(session: Session, entryId: string): Promise<Appended> {
  const { message, run } = (await session.entry(entryId)) as Entry & { readonly message: ToolResultMessage }
  return { entryId, message, run }
}
