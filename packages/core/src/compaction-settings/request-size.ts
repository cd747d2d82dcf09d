/**
 * The bytes and images of a request, and the most that its model takes: by the table of models, and by what it has refused and accepted.
 * Pure: what was learned is derived from the path and from what the last compaction has stored.
 */
import { modelsOf } from "../context/models.ts"
import { calibrationOf, isAnswer } from "../context/ruler.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage, SessionContext } from "../context/types.ts"
import type { Calibration, Entry, TaughtLimits } from "../format/entry.ts"
import type { ModelMessage } from "../format/message.ts"
import { type MessageSize, sizeOf } from "../format/message-size.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { limitsOf, type WindowTable } from "./windows.ts"

/** The part of a refused request that is tried next, and the most of it that an accepted one may prove. */
const BELOW_REFUSED = 0.7
const JUST_BELOW = 0.98

export type TaughtSizes = Pick<TaughtLimits, "bytes" | "acceptedBytes" | "images">

/** By the name of the model. */
export type SizesByModel = ReadonlyMap<string, TaughtSizes>

export function totalOf(sizes: readonly MessageSize[]): MessageSize {
  let bytes = 0
  let images = 0
  for (const size of sizes) {
    bytes += size.bytes
    images += size.images
  }
  return { bytes, images }
}

export function requestSize(messages: readonly ContextMessage<ModelMessage>[]): MessageSize {
  return totalOf(messages.map(({ message }) => sizeOf(message)))
}

/** The limits that the refusals of a path show. Measures messages only if one of them was for bytes. */
export function taughtSizes(
  log: EntryLog,
  { entries, state, start = -1 }: Pick<Selection, "entries" | "state" | "start">,
  messages: readonly ContextMessage<ModelMessage>[],
): SizesByModel {
  const taught = new Map<string, TaughtSizes>()
  for (const [model, { bytes, acceptedBytes, images }] of Object.entries(calibrationOf(log, start).limits ?? {}))
    if (bytes !== undefined || images !== undefined)
      taught.set(model, {
        ...(bytes === undefined ? {} : { bytes }),
        ...(acceptedBytes === undefined ? {} : { acceptedBytes }),
        ...(images === undefined ? {} : { images }),
      })
  const models = modelsOf({ entries, state })
  for (const [at, { seq, entry }] of entries.entries()) {
    if (seq <= start) continue
    if (entry.type === "context_refusal") refuse(taught, entry)
    if (entry.type !== "message" || !isAnswer(entry["message"])) continue
    const model = models[at] as string
    const known = taught.get(model)
    if (known?.bytes === undefined) continue
    const place = messages.findLastIndex(({ entryId, message }) => entryId === entry.id && message.role === "assistant")
    if (place < 0) continue
    const accepted = Math.max(known.acceptedBytes ?? 0, requestSize(messages.slice(0, place)).bytes)
    const { bytes, acceptedBytes: _, ...others } = known
    taught.set(model, accepted >= bytes ? others : { ...known, acceptedBytes: accepted })
  }
  return taught
}

function refuse(taught: Map<string, TaughtSizes>, { kind, model, bytes, count, limit }: Entry): void {
  const name = typeof model === "string" ? model : ""
  const known = taught.get(name) ?? {}
  if (kind === "bytes" && typeof bytes === "number") {
    const { acceptedBytes: _, ...others } = known
    taught.set(name, { ...others, bytes: Math.min(bytes, known.bytes ?? bytes) })
  } else if (kind === "images") {
    const most = typeof limit === "number" ? limit : typeof count === "number" ? BELOW_REFUSED * count : undefined
    if (most !== undefined) taught.set(name, { ...known, images: Math.floor(most) })
  }
}

/** The most bytes and images of a request to the current model; Infinity: not known. */
export function sizeLimits(
  { state }: Pick<Selection, "state">,
  windows: WindowTable | undefined,
  taught: SizesByModel,
): MessageSize {
  const model = state.models["default"]?.model
  const { bytes: most = Number.POSITIVE_INFINITY, images = Number.POSITIVE_INFINITY } = limitsOf(model, windows)
  const { bytes: refused, acceptedBytes: accepted = 0, images: named } = taught.get(model ?? "") ?? {}
  const learned =
    refused === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(BELOW_REFUSED * refused, Math.min(accepted, JUST_BELOW * refused))
  return { bytes: Math.min(most, Math.floor(learned)), images: named ?? images }
}

/** The limits of models that a compaction stores. */
export function withSizes(
  limits: NonNullable<Calibration["limits"]>,
  taught: SizesByModel,
): NonNullable<Calibration["limits"]> {
  const all = new Map<string, TaughtLimits>(Object.entries(limits))
  for (const [model, sizes] of taught) {
    const { bytes: _, acceptedBytes: __, images: ___, ...tokens } = all.get(model) ?? {}
    all.set(model, { ...tokens, ...sizes })
  }
  return Object.fromEntries(all)
}

/** Adds a `does_not_fit` to a context of more bytes or images than its model takes. */
export function explainSize<M extends ModelMessage>(
  context: SessionContext<M>,
  log: EntryLog,
  selection: Selection,
  windows: WindowTable,
): SessionContext<M> {
  const { messages, diagnostics } = context
  const limits = sizeLimits(selection, windows, taughtSizes(log, selection, messages))
  const { bytes, images } = requestSize(messages)
  if (bytes <= limits.bytes && images <= limits.images) return context
  const what =
    bytes > limits.bytes
      ? `${bytes} bytes and the model takes about ${limits.bytes}`
      : `${images} images and the model takes ${limits.images}`
  const message = `The context has ${what} in a request. makeRoom(session) puts texts in the place of old images and files, and shortens more if it must.`
  return { ...context, fits: false, diagnostics: [...diagnostics, { code: "does_not_fit", message }] }
}
