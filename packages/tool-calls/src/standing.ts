/** How a call stands by now: what may still be said of it depends on its newest start, and on whether it has a result. */
import type { Entry, Session } from "@sessions/core"
import type { CallState, CallStates } from "@sessions/core/context"
import { lostAnswerError } from "./errors.ts"
import { type CallPlace, resultId } from "./key.ts"
import { positionOf } from "./position.ts"

/** The newest start of a call, whose attempt is 0 if there is none, and the entry of the result that the path has. */
export interface Standing {
  readonly attempt: number
  readonly run: string | undefined
  readonly result: string | undefined
}

/** As this session has read the log. Rejects with `conflict` if the log no longer has the message. */
export async function standingOf(session: Session, { target, call }: CallPlace): Promise<Standing> {
  const states = await statesOf(session)
  const state = states?.entryId === target ? states.calls.find((one) => one.call === call) : undefined
  if (state !== undefined) return { ...startOf(state), result: state.result }
  const message = await session.entry(target)
  if (message === undefined) throw lostAnswerError(session.id, target)
  let standing: Standing = { attempt: 0, run: undefined, result: undefined }
  for await (const entry of pathBehind(session, message)) {
    if (entry.id === resultId({ target, call })) standing = { ...standing, result: entry.id }
    if (entry.type !== "tool_start" || entry["targetId"] !== target || entry["call"] !== call) continue
    const start = startOf(entry)
    if (start.attempt > standing.attempt) standing = { ...standing, ...start }
  }
  return standing
}

/** Whether another run has started the call since `own` was its newest start. */
export function isStartedAgain({ attempt, run }: Standing, own: Pick<CallState, "attempt" | "run">): boolean {
  const known = own.attempt ?? 0
  return attempt > known || (attempt > 0 && attempt === known && run !== own.run)
}

const reading = new WeakMap<Session, { readonly position: string; readonly states: Promise<CallStates | undefined> }>()

/** Results that come at once share one reading: each looks at all calls of the message. */
function statesOf(session: Session): Promise<CallStates | undefined> {
  const position = positionOf(session)
  const known = reading.get(session)
  if (known?.position === position) return known.states
  const states = session.callStates().finally(() => {
    if (reading.get(session) === read) reading.delete(session)
  })
  const read = { position, states }
  reading.set(session, read)
  return states
}

function startOf({ attempt, run }: { readonly attempt?: unknown; readonly run?: unknown }): Omit<Standing, "result"> {
  return { attempt: typeof attempt === "number" ? attempt : 0, run: typeof run === "string" ? run : undefined }
}

/** The newest first. One at a time: what is before the message may not be in memory. */
async function* pathBehind(session: Session, { seq }: Entry): AsyncGenerator<Entry> {
  let before: string | undefined
  do {
    const page = await session.path({
      limit: 1,
      types: ["message", "tool_start"],
      ...(before === undefined ? {} : { before }),
    })
    const [entry] = page.entries
    if (entry === undefined || entry.seq <= seq) return
    yield entry
    before = page.before
  } while (before !== undefined)
}
