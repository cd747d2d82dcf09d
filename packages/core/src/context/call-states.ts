/**
 * The states of the tool calls of a message: whether they have a result, may have run, or did certainly not start. Follows from the
 * log alone: results, the starts (`tool_start`) of calls on any branch, and the record (`tool_policy`) of the turn's tools. Pure.
 * `docs/tool-calls.md` has the rules and their reasons.
 */
import type { Entry } from "../format/entry.ts"
import { ENTRY_TYPES, isAnnotationType } from "../format/entry-types.ts"
import { SessionError } from "../format/errors.ts"
import type { ToolCallBlock } from "../format/message.ts"
import { type Fields, isObject } from "../format/shape.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { defaultLeaf, isOlder, type NeedsOlder, OLDER, parentOf } from "../log/path.ts"
import type { Seq } from "../storage/contract.ts"
import { blocksOf, replacementOf } from "./content.ts"
import { isOfOtherMessage, namedCall, namedTarget } from "./named-call.ts"

/**
 * `"done"`: it has a result. `"waiting"`: its tool must not be repeated, and it did not start. `"repeatable"`: its tool may be repeated; whether
 * it began is not known and does not matter. `"unknown"`: it started and has no result. `"running"`: as `"unknown"`, and the turn that started it has a
 * lease which has not ended; the log alone does not say that, so only `Session.callStates` does. `"unrecorded"`: nothing says whether it ran.
 */
export type CallStatus = "done" | "waiting" | "repeatable" | "unknown" | "running" | "unrecorded"

export interface CallState {
  readonly state: CallStatus
  /** Place of the call among those of its message, from 0. */
  readonly call: number
  readonly callId: string
  readonly toolName: string
  /** The calls as the context shows them. */
  readonly arguments: Readonly<Record<string, unknown>>
  /** The entry of its result. */
  readonly result?: string
  /** The entry of its newest start, with its attempt, key and run. */
  readonly start?: string
  readonly attempt?: number
  readonly key?: string
  readonly run?: string
  /**
   * With `running`: milliseconds since this session has first seen the last sign of life of that turn. After a whole lease without another one the
   * state is `unknown`. 0 for the turn that runs here.
   */
  readonly since?: number
  /** The records on another branch: its newest start, if that is there, and a result. */
  readonly elsewhere?: { readonly start?: string; readonly result?: string }
}

export interface CallStates {
  /** The entry of the message with the calls. */
  readonly entryId: string
  /** In the order of the message. */
  readonly calls: readonly CallState[]
  /**
   * The first entry by which the conversation has gone on behind the message, on any branch that was not left since: a message, or a
   * compaction without the calls. Absent: their results are all that the conversation waits for.
   */
  readonly continuedBy?: string
}

/**
 * The states of the calls of the last assistant message at a leaf (undefined: that of the last entry); undefined if that message has no
 * calls, or there is none. `entries` is a whole log, as for `buildSessionContext`. `not_found` for an unknown leaf.
 */
export function callStates(entries: readonly EntrySlot[] | EntryLog, leafId?: string | null): CallStates | undefined {
  const log = entries instanceof EntryLog ? entries : EntryLog.of(entries)
  const leaf = leafId === undefined ? defaultLeaf(log) : leafId === null ? null : log.find(leafId)
  if (leaf === undefined)
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(leafId)} in this log.`)
  const found = callStatesAt(log, leaf)
  if (isOlder(found))
    throw new SessionError("invalid", "The entries are not a whole log; pass all of them, or use Session.callStates().")
  return found.states
}

export interface FoundStates {
  readonly states: CallStates | undefined
  /** The entry with the content of the message: itself, or its edit. */
  readonly source?: Entry
}

export function callStatesAt(log: EntryLog, leaf: Seq | null): FoundStates | NeedsOlder {
  /** Behind the message, the newest first. */
  const behind: Seq[] = []
  const edits = new Map<Seq, Entry>()
  let at = leaf ?? -1
  for (; at >= 0 && !isShownAnswer(log, at, edits); at = parentOf(log, at)) {
    behind.push(at)
    addEdit(log, at, edits)
  }
  if (at === OLDER) return { older: true }
  if (at < 0) return { states: undefined }
  const entry = log.at(at) as Entry
  const source = edits.get(at) ?? entry
  const calls = shownCalls(entry, edits.get(at))
  if (calls.length === 0) return { states: undefined }
  const path = new Set(behind)
  const results = resultsOf(log, behind.toReversed(), { target: entry.id, calls })
  const records = new CallRecords(log, log.end, (seq) => path.has(seq) && !log.deleted.has(seq))
  const states: CallState[] = []
  for (const [index, { call, block }] of calls.entries()) {
    const known = records.of(at, call, block)
    if (isOlder(known)) return known
    const { state, start, result: ran } = known
    const result = results[index]
    const elsewhere = {
      ...(start === undefined || path.has(start.seq) ? {} : { start: start.id }),
      ...(ran === undefined || path.has(ran.seq) ? {} : { result: ran.id }),
    }
    states.push({
      state: result === undefined ? state : "done",
      call,
      callId: block.id,
      toolName: block.name,
      arguments: isObject(block.arguments) ? block.arguments : {},
      ...(result === undefined ? {} : { result }),
      ...(start === undefined ? {} : { start: start.id, ...startOf(start) }),
      ...(Object.keys(elsewhere).length === 0 ? {} : { elsewhere }),
    })
  }
  const continuedBy = continuation(log, at, path, calls)
  return { states: { entryId: entry.id, calls: states, ...(continuedBy === undefined ? {} : { continuedBy }) }, source }
}

interface Known {
  readonly state: Exclude<CallStatus, "done" | "running">
  readonly start?: Entry | undefined
  /** A result of it that the path does not show. */
  readonly result?: Entry | undefined
}

/** The results with one id that the path does not show, the newest first. */
interface Ran {
  /** `at`: where the search for the message with the call has come to on the path of the result. */
  readonly results: { readonly entry: Entry; at: Seq }[]
  /** The message that was asked for last, and the result of its calls with this id. */
  target?: Seq
  found?: Entry | undefined
}

/** The starts and results of calls in a log up to `end`. `isShown`: whether an entry is one of the context that is asked for. */
export class CallRecords {
  readonly #log: EntryLog
  readonly #isShown: (seq: Seq) => boolean
  #from: Seq
  /** By {@link startKey}, the newest attempt. */
  readonly #starts = new Map<string, Entry>()
  /** By the id of the call. */
  readonly #results = new Map<string, Ran>()
  /** By entry that was scanned: the nearest one before it on its path that has calls, or was not scanned then. */
  readonly #answers = new Map<Seq, Seq>()
  /** By the message that they cover. */
  readonly #policies = new Map<Seq, Entry | undefined>()

  constructor(log: EntryLog, end: Seq, isShown: (seq: Seq) => boolean) {
    this.#log = log
    this.#from = end
    this.#isShown = isShown
  }

  /** The state of a call that has no result: `target` is the seq of its message, `call` its place there as stored. */
  of(target: Seq, call: number, { id, name }: ToolCallBlock): Known | NeedsOlder {
    this.#scan(target + 1)
    const start = this.#starts.get(startKey((this.#log.at(target) as Entry).id, call))
    const result = this.#resultOf(target, id)
    if (start !== undefined) return { state: "unknown", start, result }
    const policy = policyBefore(this.#log, target, this.#policies)
    if (isOlder(policy)) return policy
    this.#policies.set(target, policy)
    // A result that another branch has, or that was deleted, says that it ran.
    if (policy !== undefined && names(policy["never"], name))
      return { state: result === undefined ? "waiting" : "unknown", result }
    return { state: policy !== undefined && names(policy["safe"], name) ? "repeatable" : "unrecorded", result }
  }

  /** It belongs to the message that it names, else to the nearest one before it that has a call with its id. Each path is walked once. */
  #resultOf(target: Seq, id: string): Entry | undefined {
    const ran = this.#results.get(id)
    if (ran && ran.target !== target) {
      ran.target = target
      const entryId = (this.#log.at(target) as Entry).id
      ran.found = ran.results.find((one) => {
        if (isOfOtherMessage(one.entry, entryId)) return false
        if (namedTarget(one.entry.id) === entryId) return true
        while (one.at > target && !storedCalls(this.#log.at(one.at) as Entry).some((call) => call.id === id))
          one.at = this.#answers.get(one.at) as Seq
        return one.at === target
      })?.entry
    }
    return ran?.found
  }

  /** Starts follow their message, as results do: what is not loaded is before it. */
  #scan(from: Seq): void {
    for (let seq = this.#from - 1; seq >= from; seq--) {
      const entry = this.#log.at(seq)
      if (entry?.type === "tool_start") {
        const key = startKey(entry["targetId"], entry["call"])
        if (attemptOf(entry) > attemptOf(this.#starts.get(key))) this.#starts.set(key, entry)
      }
      const id = entry === undefined || this.#isShown(seq) ? undefined : resultId(entry)
      if (id === undefined) continue
      const ran = this.#results.get(id) ?? { results: [] }
      ran.results.push({ entry: entry as Entry, at: seq })
      this.#results.set(id, ran)
    }
    for (let seq = from; seq < this.#from; seq++) {
      const at = parentOf(this.#log, seq)
      const isFound = at < from || storedCalls(this.#log.at(at) as Entry)[0]
      this.#answers.set(seq, isFound ? at : (this.#answers.get(at) as Seq))
    }
    this.#from = Math.min(this.#from, from)
  }
}

function startKey(targetId: unknown, call: unknown): string {
  return JSON.stringify([targetId, call])
}

function attemptOf(start: Entry | undefined): number {
  const attempt = start?.["attempt"]
  return start === undefined ? -1 : typeof attempt === "number" ? attempt : 0
}

function startOf(start: Entry): Pick<CallState, "attempt" | "key" | "run"> {
  const { key, run } = start as Fields
  return {
    attempt: attemptOf(start),
    ...(typeof key === "string" ? { key } : {}),
    ...(typeof run === "string" ? { run } : {}),
  }
}

/**
 * The record that covers a message: the last one before it in its turn. A turn begins with a question, or with what takes the place of one.
 * A compaction ends the search, so that it reads no further back than the context before it: whoever compacts repeats the record.
 * Records are not deleted: a tombstone acts on what contexts and histories show. `known`: of messages that were asked for before.
 */
function policyBefore(
  log: EntryLog,
  target: Seq,
  known: ReadonlyMap<Seq, Entry | undefined>,
): Entry | undefined | NeedsOlder {
  const parent = known.has(target) ? target : parentOf(log, target)
  return parent === OLDER ? { older: true } : policyAt(log, parent, known)
}

/** The record that would cover a message behind an entry. */
export function policyAt(
  log: EntryLog,
  leaf: Seq,
  known: ReadonlyMap<Seq, Entry | undefined> = new Map(),
): Entry | undefined | NeedsOlder {
  let seq = leaf
  for (; seq >= 0; seq = parentOf(log, seq)) {
    const entry = log.at(seq) as Entry
    if (entry.type === "tool_policy") return entry
    if (known.has(seq)) return known.get(seq)
    if (!isWithinTurn(entry)) return undefined
  }
  return seq === OLDER ? { older: true } : undefined
}

/** Neither an annotation nor the beginning of a turn, nor an answer or a result. */
function isChange(type: string): boolean {
  return ENTRY_TYPES.get(type)?.kind === "change"
}

function isWithinTurn(entry: Entry): boolean {
  if (isAnnotationType(entry.type) || isChange(entry.type)) return true
  const role = roleOf(entry)
  return role === "assistant" || role === "toolResult"
}

function names(list: unknown, name: string): boolean {
  return Array.isArray(list) && list.includes(name)
}

function roleOf({ type, message }: Entry): unknown {
  return type === "message" && isObject(message) ? message["role"] : undefined
}

/** The id of the call that an entry is the result of. */
function resultId(entry: Entry): string | undefined {
  const id = roleOf(entry) === "toolResult" ? (entry["message"] as Fields)["toolCallId"] : undefined
  return typeof id === "string" ? id : undefined
}

/** The tool calls of a stored message, in their order. */
export function storedCalls(entry: Entry): readonly ToolCallBlock[] {
  return roleOf(entry) === "assistant" ? callsIn(blocksOf((entry["message"] as Fields)["content"])) : []
}

export function callsIn(blocks: ReturnType<typeof blocksOf>): readonly ToolCallBlock[] {
  return blocks?.filter((block): block is ToolCallBlock => block.type === "toolCall") ?? []
}

interface ShownCall {
  /** Place among the calls of the stored message. */
  readonly call: number
  readonly block: ToolCallBlock
}

/** The calls that a context shows of a message. An edit may have left some out: each keeps its place. One that an edit has added has none. */
export function shownCalls(entry: Entry, edit: Entry | undefined): readonly ShownCall[] {
  const stored = storedCalls(entry)
  const free = placesOf(stored)
  return (edit === undefined ? stored : callsIn(replacementOf(edit) ?? undefined)).flatMap((block) => {
    const call = free.get(block.id)?.pop()
    return call === undefined ? [] : [{ call, block }]
  })
}

/** The places of the calls with each id; the first one last, to be taken by `pop`. */
export function placesOf(calls: readonly ToolCallBlock[]): Map<string, number[]> {
  const places = new Map<string, number[]>()
  for (let at = calls.length - 1; at >= 0; at--) {
    const { id } = calls[at] as ToolCallBlock
    if (typeof id === "string")
      places
        .set(id, places.get(id) ?? [])
        .get(id)
        ?.push(at)
  }
  return places
}

/** Whether the entry is an assistant message that contexts show. */
function isShownAnswer(log: EntryLog, seq: Seq, edits: ReadonlyMap<Seq, Entry>): boolean {
  const edit = edits.get(seq)
  const isLeftOut = log.deleted.has(seq) || (edit !== undefined && replacementOf(edit) === null)
  return !isLeftOut && roleOf(log.at(seq) as Entry) === "assistant"
}

/** The walk goes backwards: the first valid edit of a target is the latest. */
function addEdit(log: EntryLog, seq: Seq, edits: Map<Seq, Entry>): void {
  const edit = log.at(seq) as Entry
  if (edit.type !== "context_edit" || log.deleted.has(seq) || replacementOf(edit) === undefined) return
  const target = typeof edit["targetId"] === "string" ? log.find(edit["targetId"], seq) : undefined
  if (target !== undefined && !edits.has(target)) edits.set(target, edit)
}

/** The result of each call. Calls with one id have them in their order, as in contexts, but for results that name their call. */
function resultsOf(
  log: EntryLog,
  behind: readonly Seq[],
  { target, calls }: { readonly target: string; readonly calls: readonly ShownCall[] },
): readonly (string | undefined)[] {
  const results = new Array<string | undefined>(calls.length).fill(undefined)
  const free = placesOf(calls.map(({ block }) => block))
  const places = new Map(calls.map(({ call }, place) => [call, place]))
  for (const seq of behind) {
    const entry = log.at(seq) as Entry
    const id = log.deleted.has(seq) || isOfOtherMessage(entry, target) ? undefined : resultId(entry)
    const others = id === undefined ? undefined : free.get(id)
    const named = places.get(namedCall(entry.id, target))
    let place = named !== undefined && calls[named]?.block.id === id ? named : others?.pop()
    while (place !== undefined && results[place] !== undefined) place = others?.pop()
    if (place !== undefined) results[place] = entry.id
  }
  return results
}

/**
 * The first entry behind a message, on any branch, by which the conversation has gone on. What was there before a `leaf` of the path was
 * known to whoever came back to it.
 */
function continuation(
  log: EntryLog,
  target: Seq,
  path: ReadonlySet<Seq>,
  calls: readonly ShownCall[],
): string | undefined {
  const ids = new Set(calls.map(({ block }) => block.id))
  let left = target
  for (const seq of path) if (log.at(seq)?.type === "leaf") left = Math.max(left, seq)
  const behind = new Set([target])
  for (let seq = target + 1; seq < log.end; seq++) {
    if (behind.has(parentOf(log, seq))) behind.add(seq)
    const entry = log.at(seq)
    if (entry === undefined || isAnnotationType(entry.type) || log.deleted.has(seq)) continue
    if (entry.type === "compaction" ? keeps(log, entry, target) : isChange(entry.type)) continue
    const result = resultId(entry)
    if (result !== undefined && ids.has(result)) continue
    if (path.has(seq) || (seq > left && behind.has(seq))) return entry.id
  }
  return undefined
}

function keeps(log: EntryLog, compaction: Entry, target: Seq): boolean {
  const first = compaction["firstKeptEntryId"]
  const kept = typeof first === "string" ? log.find(first, compaction.seq) : undefined
  return first !== compaction.id && (kept === undefined || kept <= target)
}
