/** Reads the states of the calls of an open session's last assistant message. */
import { callsIn, type CallState, callStatesAt, type CallStates, placesOf } from "../context/call-states.ts"
import { blocksOf, replacementOf } from "../context/content.ts"
import { cloneJson } from "../format/clone.ts"
import { isObject } from "../format/shape.ts"
import { decodeTurn, promptsKey, stateOfTurn, turnKey } from "../format/turn-document.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { CallOptions } from "../storage/contract.ts"
import { retryUnavailable } from "../storage/retry.ts"
import type { TurnLease } from "../write/types.ts"
import { now } from "./lease-clock.ts"
import type { ReadableSession } from "./live-types.ts"
import { restored, unknownEntryError } from "./read-path.ts"

interface SessionWithTurns extends ReadableSession {
  readonly turns: { readonly lease: TurnLease | undefined }
}

/** Undefined if the message has no calls, or there is none. Arguments have their blobs; a missing one stays a reference. */
export async function readCallStates(live: SessionWithTurns, o: CallOptions): Promise<CallStates | undefined> {
  const states = await statesOfLog(live, o)
  if (states === undefined) return undefined
  const newest = states.calls.map((call) => newestFenceOf(live.state.log, call))
  const fence = newest.find((one) => one !== undefined)
  const since = fence === undefined ? undefined : await aliveSince(live, fence, o)
  if (since === undefined) return states
  const calls = states.calls.map((call, index): CallState => {
    return newest[index] === undefined ? call : { ...call, state: "running", since }
  })
  return { ...states, calls }
}

/** The fence of the turn that has started a call whose outcome is unknown, if no turn with a lease has begun since. */
function newestFenceOf(log: EntryLog, { state, start }: CallState): number | undefined {
  const seq = state === "unknown" && start !== undefined ? log.find(start) : undefined
  if (seq === undefined) return undefined
  for (let at = seq + 1; at < log.end; at++) if (log.at(at)?.type === "fence") return undefined
  const fence = log.at(seq)?.["fence"]
  return typeof fence === "number" ? fence : undefined
}

/** The states of the documents of turns by their keys, and when each session has first seen the present one. */
const seen = new WeakMap<ReadableSession, Map<string, { readonly state: string; readonly since: number }>>()

/** For how many milliseconds the turn with a fence has shown no sign of life; undefined if its lease has ended. */
async function aliveSince(live: SessionWithTurns, fence: number, o: CallOptions): Promise<number | undefined> {
  if (live.turns.lease?.fence === fence) return 0
  const states = seen.get(live) ?? new Map()
  seen.set(live, states)
  // Both may have the number: of two turns that have taken it the log has one.
  for (const key of [turnKey(live.id), promptsKey(live.id)]) {
    const began = now()
    const doc = await retryUnavailable(() => live.storage.docs.get(key, o))
    const turn = doc === undefined ? undefined : decodeTurn(doc.text)
    if (turn?.held === undefined || turn.fence !== fence) continue
    const state = stateOfTurn(turn)
    const known = states.get(key)
    const first = known?.state === state ? known : { state, since: now() }
    states.set(key, first)
    const since = Math.max(0, began - first.since)
    if (since < turn.held.lease) return since
  }
  return undefined
}

async function statesOfLog(live: ReadableSession, o: CallOptions): Promise<CallStates | undefined> {
  const { state } = live
  const found = await live.store.untilKnown(
    () => state.log,
    () => {
      const { log, leafId } = state
      const leaf = leafId === null ? null : log.find(leafId)
      if (leaf !== undefined) return callStatesAt(log, leaf)
      if (!log.complete) return { older: true }
      throw unknownEntryError(live, leafId)
    },
    o,
  )
  const { states, source } = found
  if (states === undefined || source?.blobs === undefined) return cloneJson(states)
  const [whole = source] = (await restored(live, [source], o)).entries
  const { message } = whole as { readonly message?: { readonly content?: unknown } }
  const content = whole.type === "context_edit" ? replacementOf(whole) : blocksOf(message?.content)
  const blocks = callsIn(content ?? undefined)
  // Places of calls with one id, in their order.
  const places = placesOf(blocks)
  const calls = states.calls.map((call) => {
    const block = blocks[places.get(call.callId)?.pop() ?? -1]
    return isObject(block?.arguments) ? { ...call, arguments: block.arguments } : call
  })
  return cloneJson({ ...states, calls })
}
