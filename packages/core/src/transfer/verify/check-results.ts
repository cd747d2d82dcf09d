/**
 * Checks the results of tool calls that were started: each start and each result of `@sessions/tool-calls` names its run. A result of another
 * run is valid, and a person may want to know of it: somebody else has found the outcome out, or the call may have run twice. Pure.
 */
import { storedCalls } from "../../context/call-states.ts"
import { namedTarget } from "../../context/named-call.ts"
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { type Fields, isObject } from "../../format/shape.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { parentOf } from "../../log/path.ts"
import type { Seq } from "../../storage/contract.ts"

interface Result {
  readonly seq: Seq
  readonly id: string
  readonly callId: string
  readonly run: unknown
}

/** The calls of a log. Runs are texts of a few bytes. */
export interface SeenCalls {
  /** The ids of the calls of each message that has any. */
  readonly messages: Map<Seq, ReadonlySet<string>>
  /** By the id of the message and that of the call: the attempts of each place, by its index. */
  readonly starts: Map<string, Map<unknown, Map<number, unknown>>>
  readonly startedIds: Set<unknown>
  readonly results: Result[]
}

export function noCalls(): SeenCalls {
  return { messages: new Map(), starts: new Map(), startedIds: new Set(), results: [] }
}

export function addCalls({ messages, starts, startedIds, results }: SeenCalls, entry: Entry): void {
  const { type, id, seq } = entry
  const fields = entry as Fields
  if (type === "tool_start") {
    const { targetId, callId, call, attempt, run } = fields
    const key = keyOf(targetId, callId)
    const places = starts.get(key) ?? new Map<unknown, Map<number, unknown>>()
    starts.set(key, places)
    const attempts = places.get(call) ?? new Map<number, unknown>()
    places.set(call, attempts.set(typeof attempt === "number" ? attempt : 0, run))
    startedIds.add(callId)
  }
  if (type !== "message" || !isObject(fields["message"])) return
  const calls = storedCalls(entry)
  if (calls.length > 0) messages.set(seq, new Set(calls.map((block) => block.id)))
  const { role, toolCallId } = fields["message"]
  if (role === "toolResult" && typeof toolCallId === "string")
    results.push({ seq, id, callId: toolCallId, run: fields["run"] })
}

/** `log` has stubs of all entries. */
export function checkResults(log: EntryLog, seen: SeenCalls, report: Report): void {
  for (const result of seen.results) {
    if (!seen.startedIds.has(result.callId)) continue
    // It may be late, and behind another message with a call of this id.
    const target = (typeof result.run === "string" ? namedTarget(result.id) : undefined) ?? messageOf(log, seen, result)
    const places = target === undefined ? undefined : seen.starts.get(keyOf(target, result.callId))
    const problem = places === undefined ? undefined : problemOf(result, [...places.values()])
    if (problem !== undefined) report(problem)
  }
}

/** The message that the result follows: the nearest one on its path that has the call. */
function messageOf(log: EntryLog, { messages }: SeenCalls, { seq, callId }: Result): string | undefined {
  let at = parentOf(log, seq)
  while (at >= 0 && messages.get(at)?.has(callId) !== true) at = parentOf(log, at)
  return at < 0 ? undefined : log.at(at)?.id
}

/** Several places: calls of one message with one id. */
function problemOf(
  { seq, id, callId, run }: Result,
  places: readonly ReadonlyMap<number, unknown>[],
): Diagnostic | undefined {
  const newest = places.map((attempts) => attempts.get(Math.max(...attempts.keys())))
  if (newest.includes(run)) return undefined
  const isEarlier = places.some((attempts) => [...attempts.values()].includes(run))
  const why = isEarlier
    ? "is of an earlier attempt, and another one was started since: the call may have run twice"
    : "was not given by the run that started the call: its outcome was found out by another one, or written by another program"
  const message = `The result of the tool call ${JSON.stringify(callId)} in entry ${id} (line ${seq}) ${why}.`
  return { code: "foreign_result", seq, entryId: id, message }
}

function keyOf(targetId: unknown, callId: unknown): string {
  return JSON.stringify([targetId, callId])
}
