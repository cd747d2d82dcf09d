/** Appends the results of calls. */
import { hasCode, type NewEntry, type Session, type ToolResultMessage } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import { toolResult } from "@sessions/providers"
import { type CallPlace, resultId } from "./key.ts"

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

/**
 * Appends a result wherever the conversation is by now. If the call has one already, that one counts. A result that cannot be stored is an error
 * result that says why: the call has run.
 */
export async function appendResult(
  session: Session,
  place: CallPlace,
  call: { readonly callId: string; readonly toolName: string },
  { run, ...output }: Output & { readonly run: string },
): Promise<Appended> {
  try {
    return await append(session, place, run, entryOf(call, output))
  } catch (error) {
    if (!hasCode(error, "too_large") && !hasCode(error, "invalid")) throw error
    const why = new Error(`The tool has run, and its result was not stored: ${(error as Error).message}`)
    return append(session, place, run, entryOf(call, { output: why, isError: true }))
  }
}

type ResultEntry = ReturnType<typeof toolResult>

function entryOf(
  call: { readonly callId: string; readonly toolName: string },
  { output, isError }: Output,
): ResultEntry {
  const block = { id: call.callId, name: call.toolName }
  try {
    return toolResult(block, output, { isError })
  } catch (error) {
    return toolResult(block, error, { isError: true })
  }
}

async function append(session: Session, place: CallPlace, run: string, made: ResultEntry): Promise<Appended> {
  // With the run, no result is taken for the equal one of another run, which may be on another branch.
  const entry = { ...made, run }
  let named: NewEntry = Object.assign({ id: resultId(place) }, entry)
  for (let tries = 1; ; tries++) {
    try {
      // Its message is in memory, and so is everything behind it.
      const { ids } = await session.append(named, { onConflict: "rebase", repeats: "end" })
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
