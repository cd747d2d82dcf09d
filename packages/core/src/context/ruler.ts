/**
 * Measures a context as it is sent, in tokens of its model. Providers also count what no entry shows, the program's prompt and tools, and
 * each has its own tokenizer. So the estimate is calibrated by their reports: a context is the last report and what is new. Pure: all is
 * derived from the path behind the last compaction and from what that compaction has stored, so every process has the same sizes.
 */
import type { Calibration, ContextState, TaughtLimits } from "../format/entry.ts"
import { calibrationShape } from "../format/entry-types.ts"
import { type Fields, isObject } from "../format/shape.ts"
import { estimateMessage, type TokenCounter } from "../format/tokens.ts"
import { inputTokens } from "../format/usage.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"
import { type ChangesOf, isBroken, type MeasuredView, unitsSince } from "./changes.ts"
import { modelsOf } from "./models.ts"
import type { Selection } from "./select.ts"
import type { ContextMessage, SelectedEntry } from "./types.ts"

/** Tokens of a unit of the estimate, by language and kind of content. What is beyond counts as a part of the overhead. */
const LEAST = 0.25
const MOST = 6
/** The number of newest stretches of messages that tell how the next messages will be counted. */
const STRETCHES = 30
/** A report of less than this part of the estimate counts something else. */
const SENSELESS = 0.05
/** A request that begins with an earlier one is longer: a report of less than this part of the earlier one leaves cached tokens out. */
const SHRUNK = 0.95
/** The parts of a refused request that are tried next: of an estimated one, and of one that the provider has counted. */
const BELOW_ESTIMATED = 0.92
const BELOW_COUNTED = 0.98
const UNMEASURED = -1

export interface RulerOptions {
  /** The program's count of one message, which is not scaled. Default: an estimate. */
  readonly count?: TokenCounter | undefined
  /** Tokens of what no entry shows, until a provider has reported. Default 0. */
  readonly overheadTokens?: number | undefined
  /** Messages whose estimates are known; those of the context that are the same objects at the same places are not estimated. */
  readonly known?: KnownUnits | undefined
  /** Default: nothing was deleted, edited or shortened since a report. */
  readonly changesOf?: ChangesOf | undefined
}

export interface KnownUnits {
  readonly messages: readonly ContextMessage[]
  /** By index of the message; none: not known. */
  readonly tokens?: readonly number[]
}

export interface Ruler extends Required<Calibration> {
  /** Tokens of each message. */
  readonly sizes: readonly number[]
  /** Tokens of what no entry shows, and of the system prompt in the log. */
  readonly before: number
  readonly tokens: number
  /** The estimate of the messages and of the system prompt. */
  readonly units: number
  /** Tokens of a unit that was never measured. */
  readonly k: number
  /** The first report behind the compaction or reset that the context begins with; 0: none. */
  readonly firstReport: number
  /** Tokens of a message as it was, or as it would be. */
  readonly sizeOf: (item: ContextMessage) => number
  /** The most tokens of a request to the current model, whose window has this number. */
  readonly limit: (window: number) => number
}

/** Messages that a provider has measured. */
export interface Stretch {
  readonly tokens: number
  readonly units: number
}

type Taught = { -readonly [K in keyof TaughtLimits]: TaughtLimits[K] }

interface Report {
  readonly seq: Seq
  /** Index of the answer. */
  readonly index: number
  readonly model: string
  readonly tokens: number
  /** Units of the messages of its request. */
  readonly units: number
}

/** The tokens of input that a provider has reported with an answer; 0: none. */
export function reportedInput(message: unknown): number {
  return isAnswer(message) ? inputOf(message) : 0
}

function inputOf({ usage }: Fields): number {
  return isObject(usage) ? inputTokens(usage) : 0
}

export function isAnswer(message: unknown): message is Readonly<Record<string, unknown>> {
  if (!isObject(message) || message["role"] !== "assistant") return false
  const { stopReason } = message
  return stopReason !== "aborted" && stopReason !== "error"
}

/** Whether a report counts a request of this estimate, which begins with that of the `earlier` report, if there is one. */
export function isPlausible(tokens: number, units: number, earlier = 0): boolean {
  return tokens > 0 && tokens >= SENSELESS * units && tokens >= SHRUNK * earlier
}

/** Tokens of a unit of the messages between two reports. */
export function kBetween(tokens: number, units: number): number {
  return Math.min(MOST, Math.max(LEAST, tokens / units))
}

const NONE: Stretch = { tokens: 0, units: 0 }

/** Tokens and units of the newest stretches, whose quotient is that of messages that were never measured; `stretches` has both in turn. */
export function newest(stretches: readonly number[]): Stretch {
  let tokens = 0
  let units = 0
  for (let at = Math.max(0, stretches.length - 2 * STRETCHES); at < stretches.length; at += 2) {
    tokens += stretches[at] as number
    units += stretches[at + 1] as number
  }
  return { tokens, units }
}

export function promptUnits(
  { systemPromptOverride: text = "" }: Pick<ContextState, "systemPromptOverride">,
  count: TokenCounter = estimateMessage,
): number {
  return text === "" ? 0 : count({ role: "system", content: [{ type: "text", text }] })
}

/** The calibration that the compaction stores with which a context begins. */
export function calibrationOf(log: EntryLog, start: Seq | undefined): Calibration {
  const stored: unknown = log.at(start ?? -1)?.["ruler"]
  return isObject(stored) && calibrationShape(stored) === undefined ? stored : {}
}

/** Measures the context of a selection. `state` has its restored system prompt. */
export function measure(
  log: EntryLog,
  { entries, state, start = -1 }: Pick<Selection, "entries" | "state" | "start">,
  view: MeasuredView,
  { count, overheadTokens = 0, known: estimated, changesOf }: RulerOptions = {},
): Ruler {
  const { messages } = view
  const isScaled = count === undefined
  const unitsOf = count ?? estimateMessage
  const units = unitsFor(messages, unitsOf, isScaled ? estimated : undefined)
  const prompt = promptUnits(state, count)
  const changes = changesOf?.(log, entries, start, view, unitsOf) ?? []
  const known = calibrationOf(log, start)
  // Without a prototype: a model may have the name of one of its fields.
  const limits: { [model: string]: Taught } = Object.create(null)
  for (const [name, taught] of Object.entries(known.limits ?? {})) limits[name] = { ...taught }
  const current = state.models["default"]?.model ?? ""
  /** {@link UNMEASURED} where no two reports tell a message's tokens. */
  let own: number[] | undefined
  /** Tokens and units of each, in turn: an object for each would take longer than all the rest. */
  const stretches: number[] = known.measured === undefined ? [] : [known.measured.tokens, known.measured.units]
  let last: Report | undefined
  let anchor: Report | undefined
  let firstReport = 0
  let models: readonly string[] | undefined
  let isTaught = known.limits !== undefined
  let place = 0
  let index = 0
  let sum = prompt
  for (let at = 0; at < entries.length; at++) {
    const { seq, entry } = entries[at] as SelectedEntry
    const isNew = seq > start
    if (isNew && entry.type === "context_refusal") {
      models ??= modelsOf({ entries, state })
      const by = typeof entry["model"] === "string" ? entry["model"] : (models[at] as string)
      limits[by] = refusing(limits[by], entry)
      isTaught = true
    }
    const message = entry.type === "message" ? entry["message"] : undefined
    if (!isObject(message) || message["role"] !== "assistant") continue
    // Answers stay in their order; one may be left out.
    while (place < units.length && !isOfAssistant(messages[place] as ContextMessage)) place++
    if (messages[place]?.entryId !== entry.id) continue
    const answer = place++
    if (!isAnswer(message)) continue
    const tokens = inputOf(message)
    // Without a report it says only that a request as large was not refused.
    if (tokens === 0 && !isTaught) continue
    while (index < answer) sum += units[index++] as number
    models ??= modelsOf({ entries, state })
    const model = models[at] as string
    const all = sum + unitsSince(changes, seq)
    if (isNew) accept((limits[model] ??= {}), tokens, all)
    const goesOn = last?.model === model && last.seq > start === isNew && !isBroken(changes, last.seq, seq)
    const earlier = goesOn ? last : undefined
    if (!isPlausible(tokens, all, earlier?.tokens)) continue
    const more = earlier === undefined ? 0 : all - earlier.units
    if (earlier !== undefined && more > 0) {
      const perUnit = kBetween(tokens - earlier.tokens, more)
      if (isScaled) {
        own ??= new Array<number>(units.length).fill(UNMEASURED)
        for (let at = earlier.index; at < index; at++) own[at] = (units[at] as number) * perUnit
      }
      // The compaction has stored those before it.
      if (isNew) stretches.push(perUnit * more, more)
    }
    last = { seq, index, model, tokens, units: all }
    if (isNew) firstReport ||= tokens
    if (isNew && (model === current || anchor?.model !== current)) anchor = last
  }
  const measured = isScaled ? newest(stretches) : NONE
  // A stored calibration may be of any size, if another program wrote it.
  const k = Math.min(MOST, measured.tokens / measured.units || 1)
  const unscaled = sizesOf(units, own, k)
  let overhead = known.overhead ?? overheadTokens
  let scale = 1
  if (anchor !== undefined) {
    let then = (prompt + unitsSince(changes, anchor.seq)) * k
    for (let at = 0; at < anchor.index; at++) then += unscaled[at] as number
    overhead = Math.max(0, anchor.tokens - then)
    if (isScaled && then > anchor.tokens) scale = anchor.tokens / then
  }
  const sizes = scale === 1 ? unscaled : unscaled.map((size) => size * scale)
  const before = overhead + prompt * k * scale
  let tokens = before
  let all = prompt
  for (let at = 0; at < sizes.length; at++) {
    tokens += sizes[at] as number
    all += units[at] as number
  }
  let places: Map<string, number> | undefined
  return {
    overhead: Math.round(overhead),
    measured: { tokens: Math.round(measured.tokens * scale), units: measured.units },
    limits,
    sizes,
    before,
    tokens: Math.round(tokens),
    units: all,
    k: k * scale,
    firstReport,
    sizeOf({ entryId, message }) {
      places ??= new Map(messages.map((item, at) => [item.entryId, at]))
      const at = places.get(entryId) ?? -1
      return unitsOf(message) * ((sizes[at] as number) / (units[at] as number) || k * scale)
    },
    limit(window) {
      const { count: counted = Infinity, units: refused = Infinity, accepted = 0 } = limits[current] ?? {}
      const taught = counted < window ? BELOW_COUNTED * counted : window
      return Math.floor(
        Math.max(accepted, Math.min(taught, BELOW_ESTIMATED * (overhead + refused * k * scale), window)),
      )
    },
  }
}

function unitsFor(
  messages: readonly ContextMessage[],
  count: TokenCounter,
  known: KnownUnits | undefined,
): readonly number[] {
  if (known?.tokens !== undefined && known.messages === messages) return known.tokens
  return messages.map((item, at) => {
    const own = known?.messages[at] === item ? known.tokens?.[at] : undefined
    return own ?? count(item.message)
  })
}

function isOfAssistant({ kind, message }: ContextMessage): boolean {
  return kind === "message" && message.role === "assistant"
}

/** `own` are the sizes that are measured. */
function sizesOf(units: readonly number[], own: number[] | undefined, k: number): readonly number[] {
  if (own === undefined) return k === 1 ? units : units.map((one) => one * k)
  for (let at = 0; at < own.length; at++) if (own[at] === UNMEASURED) own[at] = (units[at] as number) * k
  return own
}

/** The least that a model has refused for its tokens; a count that is far too little was misread. What it had accepted says nothing any more. */
function refusing(before: Taught = {}, { kind, units, count }: Fields): Taught {
  if (kind !== "tokens") return before
  const { accepted: _, ...taught } = before
  const least = (name: "units" | "count", value: unknown): TaughtLimits =>
    typeof value === "number" && value > 0 ? { [name]: Math.min(value, taught[name] ?? value) } : {}
  const isCounted = typeof count === "number" && isPlausible(count, typeof units === "number" ? units : 0)
  return { ...taught, ...(isCounted ? least("count", count) : least("units", units)) }
}

/** A model that accepts a request has not refused a smaller one for its length. */
function accept(taught: Taught, tokens: number, units: number): void {
  if (tokens > (taught.accepted ?? 0)) taught.accepted = tokens
  if (taught.units !== undefined && taught.units <= units) delete taught.units
  if (taught.count !== undefined && taught.count <= tokens) delete taught.count
}
