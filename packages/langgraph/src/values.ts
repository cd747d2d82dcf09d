/** Values as a serializer gives them, in a form that fits into JSON. */
import { JsonPlusSerializer, type SerializerProtocol } from "@langchain/langgraph-checkpoint"
import { SessionError } from "@sessions/core"
import type { Stored } from "./records.ts"
import { cycleIn, stepTo, type Unwritable, unwritableIn } from "./unwritable.ts"

/** The place of a value: a channel, or the `metadata` or the rest of a checkpoint. */
export type Place = { readonly channel: string } | "metadata" | "checkpoint"

/** The text that `JsonPlusSerializer` writes in place of a value for which `JSON.stringify` throws. */
const NOT_WRITTEN = "[unable to serialize, circular reference is too complex to analyze]"
/** And in place of an object within itself. */
const CIRCULAR = '"[Circular]"'

/**
 * The value in the form that `serde` gives it. Rejects with `invalid`, naming the place and the part, if the serializer refuses the value or
 * has written a text about it in its place.
 */
export async function store(serde: SerializerProtocol, value: unknown, place: Place): Promise<Stored> {
  const [t, data] = await dumped(serde, value, place)
  const text = t === "json" ? textOf(data) : undefined
  // For a function or a symbol the serializer gives nothing, which could not be read again.
  if (text === "") throw unstorableError(place, `it is a ${typeof value}`, "Leave it out of the state.")
  const stored: Stored = text === undefined ? { t, b: toBase64(data) } : { t, s: text }
  const replaced = await replacedIn(serde, value, stored)
  if (replaced !== undefined) throw unwritableError(place, replaced)
  await checkReadable(serde, stored, place)
  return stored
}

/**
 * The value of a channel as LangGraph's serializer takes it within a checkpoint: there a `Buffer` is the object that its `toJSON` gives, and only
 * other byte arrays come back as bytes. A value alone would come back as bytes in any case.
 */
export function withinCheckpoint(serde: SerializerProtocol, value: unknown): unknown {
  if (!(serde instanceof JsonPlusSerializer && value instanceof Uint8Array)) return value
  const { toJSON } = value as { readonly toJSON?: unknown }
  return typeof toJSON === "function" ? (toJSON.call(value) as unknown) : value
}

async function dumped(serde: SerializerProtocol, value: unknown, place: Place): Promise<[string, Uint8Array]> {
  try {
    return await serde.dumpsTyped(value)
  } catch (error) {
    const isLangGraphs = serde instanceof JsonPlusSerializer
    // It writes "[Circular]" into the value while it works. If it throws, its next call puts the parts of the value back.
    if (isLangGraphs) await serde.dumpsTyped(null)
    // What another serializer refuses may be a value that JSON has, and the reverse.
    const found = isLangGraphs ? unwritableIn(value) : undefined
    if (found !== undefined) throw unwritableError(place, found, error)
    const why = `the serializer refuses it (${error instanceof Error ? error.message : String(error)})`
    throw unstorableError(place, why, "Change the value, or give the saver another `serde`.", error)
  }
}

/** The part of a value in whose place the serializer has written a text about it. */
async function replacedIn(
  serde: SerializerProtocol,
  value: unknown,
  stored: Stored,
): Promise<Unwritable | "too long" | undefined> {
  if ("s" in stored) {
    if (stored.s === JSON.stringify(NOT_WRITTEN)) return value === NOT_WRITTEN ? undefined : longOr(unwritableIn(value))
    return stored.s.includes(CIRCULAR) ? cycleIn(value) : undefined
  }
  // The text of a serializer that encrypts or compresses shows when it is read again.
  const found = value instanceof Uint8Array ? undefined : unwritableIn(value)
  if (found === undefined) return undefined
  const read = await load(serde, stored)
  const isReplaced = read === NOT_WRITTEN || (found.kind === "cycle" && cycleIn(read) === undefined)
  return isReplaced ? found : undefined
}

/** Objects of LangChain as they are in JSON. Reading one calls its constructor, which must be known to LangChain. */
const CONSTRUCTED = /"lc":1,"type":"(constructor|not_implemented)","id":\[[^\]]*\]/gu

/** Names in {@link CONSTRUCTED} for the classes that a serializer has read. */
const readable = new WeakMap<SerializerProtocol, Set<string>>()

/** A checkpoint that cannot be read ends its thread, so the first object of each class is read before it is stored. */
async function checkReadable(serde: SerializerProtocol, stored: Stored, place: Place): Promise<void> {
  if (!("s" in stored)) return
  const known = readable.get(serde) ?? new Set()
  readable.set(serde, known)
  const classes = new Set<string>()
  for (const [text, type] of stored.s.matchAll(CONSTRUCTED))
    if (type !== "constructor" || !known.has(text)) classes.add(text)
  if (classes.size === 0) return
  try {
    await load(serde, stored)
  } catch (error) {
    const why = `it could not be read again (${error instanceof Error ? error.message : String(error)})`
    throw unstorableError(place, why, "Keep plain data in its place, or give the saver a `serde` that knows it.", error)
  }
  for (const text of classes) known.add(text)
}

function longOr(found: Unwritable | undefined): Unwritable | "too long" {
  return found ?? "too long"
}

function unwritableError(place: Place, found: Unwritable | "too long", cause?: unknown): SessionError {
  if (found === "too long") {
    return unstorableError(
      place,
      "its JSON is too long for one text",
      "Keep what is large outside of the state.",
      cause,
    )
  }
  const root = typeof place === "string" ? place : stepTo(place.channel).replace(/^\./u, "")
  const path = shortened(root + found.path)
  switch (found.kind) {
    case "bigint":
      return unstorableError(place, `${path} is a BigInt`, "Keep it as a text, such as String(n).", cause)
    case "cycle": {
      const way = "Leave the reference out, or keep an id in its place."
      return unstorableError(place, `${path} is ${shortened(root + found.detail)} again, a cycle`, way, cause)
    }
    case "throws":
      return unstorableError(place, `${path} cannot be read (${found.detail})`, "Keep plain data in its place.", cause)
    case "endless":
      return unstorableError(place, `${path} is nested too deeply`, "Keep plain data in its place.", cause)
  }
}

function unstorableError(place: Place, why: string, way: string, cause?: unknown): SessionError {
  const name = typeof place === "string" ? `The ${place}` : `The value of the channel ${JSON.stringify(place.channel)}`
  const message = `${name} cannot be stored: ${why}. ${way} This call has stored nothing.`
  return new SessionError("invalid", message, { ...(cause !== undefined && { cause }) })
}

/** The beginning and the end of a path that is longer than anybody reads. */
function shortened(path: string): string {
  return path.length <= 240 ? path : `${path.slice(0, 120)} … ${path.slice(-120)}`
}

export async function load(serde: SerializerProtocol, stored: Stored): Promise<unknown> {
  return serde.loadsTyped(stored.t, "s" in stored ? stored.s : fromBase64(stored.b))
}

export function sizeOf(stored: Stored): number {
  return "s" in stored ? stored.s.length : stored.b.length
}

/** The characters that a checkpoint's values take, and about those of the objects around them. */
export function sizeOfAll(values: ReadonlyMap<string, Stored>): number {
  let size = 200
  for (const value of values.values()) size += sizeOf(value)
  return size
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Undefined for bytes that are not UTF-8, as those of a serializer that encrypts. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** `String.fromCharCode` takes its characters as arguments, of which engines allow about 100,000. */
const ARGUMENTS = 8_192

function toBase64(bytes: Uint8Array): string {
  let text = ""
  for (let at = 0; at < bytes.length; at += ARGUMENTS) {
    text += String.fromCharCode(...bytes.subarray(at, at + ARGUMENTS))
  }
  return btoa(text)
}

function fromBase64(base64: string): Uint8Array {
  const text = atob(base64)
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}
