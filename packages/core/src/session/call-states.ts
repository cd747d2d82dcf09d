/** Reads the states of the calls of an open session's last assistant message. */
import { callStatesAt, type CallStates } from "../context/call-states.ts"
import { blocksOf, replacementOf } from "../context/content.ts"
import { cloneJson } from "../format/clone.ts"
import type { ToolCallBlock } from "../format/message.ts"
import { isObject } from "../format/shape.ts"
import type { CallOptions } from "../storage/contract.ts"
import type { ReadableSession } from "./live.ts"
import { restored, unknownEntry } from "./read-path.ts"

/** Undefined if the message has no calls, or there is none. Arguments have their blobs; a missing one stays a reference. */
export async function readCallStates(live: ReadableSession, o: CallOptions): Promise<CallStates | undefined> {
  const { state } = live
  const found = await live.store.untilKnown(
    () => state.log,
    () => {
      const { log, leafId } = state
      const leaf = leafId === null ? null : log.find(leafId)
      if (leaf !== undefined) return callStatesAt(log, leaf)
      if (!log.complete) return { older: true }
      throw unknownEntry(live, leafId)
    },
    o,
  )
  const { states, source } = found
  if (states === undefined || source?.blobs === undefined) return cloneJson(states)
  const [whole = source] = (await restored(live, [source], o)).entries
  const { message } = whole as { readonly message?: { readonly content?: unknown } }
  const content = whole.type === "context_edit" ? replacementOf(whole) : blocksOf(message?.content)
  const blocks = (content ?? []).filter((block): block is ToolCallBlock => block.type === "toolCall")
  // Of calls with one id, in their order.
  const left = [...blocks]
  const calls = states.calls.map((call) => {
    const at = left.findIndex(({ id }) => id === call.callId)
    const [block] = at < 0 ? [] : left.splice(at, 1)
    return isObject(block?.arguments) ? { ...call, arguments: block.arguments } : call
  })
  return cloneJson({ ...states, calls })
}
