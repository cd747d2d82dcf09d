/** Values as a serializer gives them, in a form that fits into JSON. */
import type { SerializerProtocol } from "@langchain/langgraph-checkpoint"
import { SessionError } from "@sessions/core"
import type { Stored } from "./records.ts"

export async function store(serde: SerializerProtocol, value: unknown): Promise<Stored> {
  const [t, data] = await serde.dumpsTyped(value)
  const text = t === "json" ? textOf(data) : undefined
  // What the serializer gives for a function; it could not be read again.
  if (text === "") throw new SessionError("invalid", "A value cannot be stored: the serializer has made no JSON of it.")
  return text === undefined ? { t, b: toBase64(data) } : { t, s: text }
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
