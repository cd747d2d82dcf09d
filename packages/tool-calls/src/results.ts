/** Appends the results of calls. */
import { hasCode, type NewEntry, type Session, type ToolResultMessage } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { toolResult } from "@sessions/providers"
import { noSuchCallError } from "./errors.ts"
import { type CallPlace, resultId } from "./key.ts"
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

interface Settling {
  /** Whether the result still counts. Asked before it is appended, and again whenever another writer has appended or started something. */
  readonly counts: () => Promise<boolean>
}

/**
 * Appends a result wherever the conversation is by now. If the call has one already, that one counts. A result that cannot be stored is an error
 * result that says why: the call has run. Undefined: it no longer `counts`.
 */
export async function appendResult(
  session: Session,
  place: CallPlace,
  make: MakeEntry,
  { run, ...output }: Output & { readonly run: string },
): Promise<Appended>
export async function appendResult(
  session: Session,
  place: CallPlace,
  make: MakeEntry,
  output: Output & { readonly run: string } & Settling,
): Promise<Appended | undefined>
export async function appendResult(
  session: Session,
  place: CallPlace,
  make: MakeEntry,
  { run, counts, ...output }: Output & { readonly run: string } & Partial<Settling>,
): Promise<Appended | undefined> {
  try {
    return await append(session, place, { ...orError(make, output), run }, counts)
  } catch (error) {
    if (!hasCode(error, "too_large") && !hasCode(error, "invalid")) throw error
    const why = new Error(`The tool has run, and its result was not stored: ${(error as Error).message}`)
    return append(session, place, { ...make({ output: why, isError: true }), run }, counts)
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

/** `entry` has its run, so that no result is taken for the equal one of another run, which may be on another branch. */
async function append(
  session: Session,
  place: CallPlace,
  entry: ResultEntry,
  counts: Settling["counts"] | undefined,
): Promise<Appended | undefined> {
  let named: NewEntry = Object.assign({ id: resultId(place) }, entry)
  const onConflict = counts === undefined ? "rebase" : "fail"
  let isSure = true
  for (let tries = 1; ; tries++) {
    if (isSure && (await counts?.()) === false) return undefined
    try {
      // Its message is in memory, and so is everything behind it.
      const { ids } = await session.append(named, { onConflict, repeats: "end" })
      return { entryId: ids[0] as string, message: entry.message }
    } catch (error) {
      if (hasCode(error, "exists")) {
        const shown = await resultOf(session, place)
        if (shown !== undefined) return shown
        // Another branch has a result with this id.
        named = Object.assign({ id: newId() }, entry)
      }
      // Also refused with a start that was queued before it, and with which another writer was faster.
      else if ((!hasCode(error, "indeterminate") && !hasCode(error, "conflict")) || tries === TRIES) throw error
      // It may be in memory, as if it were in the log.
      isSure = !hasCode(error, "indeterminate")
    }
  }
}

/** The result that the path has of a call. */
export async function resultOf(session: Session, { target, call }: CallPlace): Promise<Appended | undefined> {
  const states = await session.callStates()
  const entryId = states?.entryId === target ? states.calls.find((state) => state.call === call)?.result : undefined
  const entry = entryId === undefined ? undefined : await session.entry(entryId)
  if (entryId === undefined || entry?.type !== "message") return undefined
  return { entryId, message: entry.message as ToolResultMessage }
}
