/**
 * Applies recorded steps (`context_step`) to the messages of a context. The log keeps the messages whole. Pure: the view is derived from
 * the entries of the path, so every process has the same.
 */
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { Message } from "../../format/message.ts"
import { estimateMessage } from "../../format/tokens.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import type { Seq } from "../../storage/contract.ts"
import type { StepChange } from "../changes.ts"
import { modelsOf } from "../models.ts"
import { EXEMPT_TOOLS, exemptResults } from "../prune/exempt-results.ts"
import type { Selection } from "../select.ts"
import type { ContextMessage, SelectedEntry, ShortenedMessage } from "../types.ts"
import { cutMessage, leftOutText, shortenedResult, withoutImages } from "./step-forms.ts"

/** A recorded step, with the places of its entries. */
export interface ViewStep {
  readonly id: string
  readonly seq: Seq
  readonly step: ShortenedMessage["how"]
  /** Messages up to this place are meant. */
  readonly upTo: Seq
  readonly except?: string | undefined
  /** With `"cut"`. */
  readonly units: number
  /** With `"left_out"`. */
  readonly ids: ReadonlySet<string>
  /** Where the window became larger than the step's; Infinity: behind all entries. Undefined: the step holds. */
  readonly undoneAt?: Seq | undefined
}

export interface Shortened<M extends Message = Message> {
  readonly messages: readonly ContextMessage<M>[]
  readonly changes: readonly StepChange[]
}

/** The steps of a context. In a window that is larger than a step's own, the step is undone. A step of an unknown name changes nothing. */
export function viewSteps(
  log: EntryLog,
  selection: Pick<Selection, "entries" | "state">,
  window: number | undefined,
): ViewStep[] {
  const { entries } = selection
  if (!entries.some(({ entry }) => entry.type === "context_step")) return []
  const places = placesOf(entries)
  const first = entries.reduce((least, { seq }) => Math.min(least, seq), Number.POSITIVE_INFINITY)
  let moved: Seq | undefined
  return entries.flatMap(({ seq, entry }): ViewStep[] => {
    const { id, step, upTo, except, units, ids, window: own } = entry
    if (entry.type !== "context_step" || typeof own !== "number" || !STEPS.has(step)) return []
    const isUndone = window !== undefined && window > own
    if (isUndone) moved ??= lastMove(entries, modelsOf(selection))
    const named: ViewStep = {
      id,
      seq,
      step: step as ViewStep["step"],
      upTo: typeof upTo === "string" ? (places.get(upTo)?.place ?? placeOfDeleted(log, upTo, seq, first)) : NOWHERE,
      except: typeof except === "string" ? except : undefined,
      units: typeof units === "number" ? units : Number.POSITIVE_INFINITY,
      ids: new Set(Array.isArray(ids) ? ids : []),
      undoneAt: isUndone ? (moved !== undefined && moved > seq ? moved : Number.POSITIVE_INFINITY) : undefined,
    }
    return [named]
  })
}

const STEPS: ReadonlySet<unknown> = new Set<ViewStep["step"]>(["results", "images", "cut", "left_out"])

/** Where the current model was chosen. One that an answer names is in force behind it. */
function lastMove(entries: readonly SelectedEntry[], models: readonly string[]): Seq {
  const last = models.at(-1)
  const { seq, entry } = entries[models.findLastIndex((model) => model !== last) + 1] as SelectedEntry
  return entry.type === "message" ? seq + 1 : seq
}

/**
 * The last entry of a step may be deleted later. One that is summarized now has only such entries before it: it is not looked for before the
 * `first` entry of the context, from which on every process holds the log.
 */
function placeOfDeleted(log: EntryLog, id: string, step: Seq, first: Seq): Seq {
  const seq = log.find(id, step) ?? NOWHERE
  return seq > first && log.deleted.has(seq) ? seq : NOWHERE
}

/** Where an entry is in the order of the context, and its seq: a step is for nothing behind it. */
interface Place {
  readonly place: number
  readonly seq: Seq
}

export type Places = ReadonlyMap<string, Place>

/** Messages that a compaction includes are before all others, and then its summary. */
const NOWHERE = -3
const INCLUDED = -2
const SUMMARY = -1

export function placesOf(entries: readonly SelectedEntry[]): Places {
  return new Map(
    entries.map(({ seq, entry: { id, type }, included }) => {
      if (included === true) return [id, { place: INCLUDED, seq: INCLUDED }]
      return [id, { place: type === "compaction" ? SUMMARY : seq, seq }]
    }),
  )
}

/** Applies the steps that hold, in their order. Of the others, what they had changed is known to the ruler. */
export function applySteps<M extends Message>(
  whole: readonly ContextMessage<M>[],
  steps: readonly ViewStep[],
  places: Places,
): Shortened<M> {
  let messages = whole
  /** The messages before any step was undone: each step has shortened what the steps before it had left. */
  let then = whole
  const changes: StepChange[] = []
  for (const step of steps) {
    const isHeld = step.undoneAt === undefined
    const applied = applyStep(isHeld ? messages : then, step, places)
    for (const change of applied.changes) changes.push(change)
    then = isHeld && then !== messages ? applyStep(then, step, places).messages : applied.messages
    if (isHeld) messages = applied.messages
  }
  return { messages, changes }
}

export function applyStep<M extends Message>(
  messages: readonly ContextMessage<M>[],
  step: ViewStep,
  places: Places,
): Shortened<M> {
  const changes: StepChange[] = []
  const changed = ({ entryId, message }: ContextMessage, after?: Message): void => {
    const { id: since, seq: at, undoneAt: until, step: how } = step
    changes.push({ entryId, before: message, after, since, at, until, how })
  }
  if (step.step === "left_out") {
    const out = leftOut(messages, step.ids)
    const first = messages.findIndex((item) => out.has(item))
    if (first < 0) return { messages, changes }
    const number = out.size
    const line = { role: "user", content: [{ type: "text", text: leftOutText(number) }] } as unknown as M
    const left = messages.flatMap((item, index): ContextMessage<M>[] => {
      if (!out.has(item)) return [item]
      changed(item, index === first ? line : undefined)
      return index === first ? [{ ...item, kind: "repair", message: line }] : []
    })
    return { messages: left, changes }
  }
  const shorten = shortenerOf(messages, step)
  const left = messages.map((item, index) => {
    const { place = NOWHERE, seq = NOWHERE } = places.get(item.entryId) ?? {}
    if (place > step.upTo || seq > step.seq) return item
    const message = shorten(item, index)
    if (message === item.message) return item
    changed(item, message)
    return { ...item, message }
  })
  return { messages: left, changes }
}

/** A result shares the fate of its call, which providers want in front of it: it may have come after the step. */
function leftOut(messages: readonly ContextMessage[], ids: ReadonlySet<string>): ReadonlySet<ContextMessage> {
  const out = new Set<ContextMessage>()
  const calls = new Map<unknown, boolean>()
  for (const item of messages) {
    const { entryId, kind, message } = item
    const isNamed = kind !== "compaction" && ids.has(entryId)
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") calls.set(block["id"], isNamed)
    const isOut = message.role === "toolResult" ? (calls.get(message.toolCallId) ?? isNamed) : isNamed
    if (isOut) out.add(item)
  }
  return out
}

function shortenerOf<M extends Message>(
  messages: readonly ContextMessage<M>[],
  { step, except, units }: ViewStep,
): (item: ContextMessage<M>, index: number) => M {
  if (step === "results") {
    const exempt = exemptResults(
      messages.map(({ message }) => message),
      EXEMPT_TOOLS,
    )
    return ({ message }, index) =>
      message.role !== "toolResult" || exempt[index] === true ? message : shortenedResult(message)
  }
  if (step === "images") return ({ entryId, message }) => (entryId === except ? message : withoutImages(message))
  return ({ message }) => cutMessage(message, units)
}

/** The last change of each message, in the order of the context. */
export function shortenedMessages(
  whole: readonly ContextMessage[],
  changes: readonly StepChange[],
): readonly ShortenedMessage[] {
  const last = new Map<string, ShortenedMessage>()
  for (const { entryId, how, since, until } of changes)
    if (until === undefined) last.set(entryId, { entryId, how, since })
  return [...new Set(whole.map(({ entryId }) => entryId))].flatMap((id) => last.get(id) ?? [])
}

/** Says what a model does not get of messages that it has not been shown whole, or of any that were left out. */
export function shortenedDiagnostics(changes: readonly StepChange[]): readonly Diagnostic[] {
  const code = "shortened"
  const cuts = new Map<string, { readonly whole: number; readonly left: number; readonly since: string }>()
  const out = new Map<string, string[]>()
  for (const { entryId, how, since, until, before, after } of changes) {
    if (until !== undefined) continue
    if (how === "left_out") {
      cuts.delete(entryId)
      out.set(since, [...(out.get(since) ?? []), entryId])
    }
    if (how !== "cut" || after === undefined) continue
    const whole = cuts.get(entryId)?.whole ?? estimateMessage(before)
    cuts.set(entryId, { whole, left: estimateMessage(after), since })
  }
  const of = Array.from(cuts, ([entryId, { whole, left, since }]): Diagnostic => {
    const message = `The message of entry ${entryId} is sent cut, with about ${left} of ${whole} tokens: the model has refused it whole (step ${since}). The log has all of it.`
    return { code, entryId, message }
  })
  const lost = Array.from(out, ([since, entries]): Diagnostic => {
    const message = `The model has refused a context with these messages, so they are left out (step ${since}): ${entries.join(", ")}. The log has them.`
    return { code, entries, message }
  })
  return [...of, ...lost]
}
