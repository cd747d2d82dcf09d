/**
 * A part of a session that its file does not have, or has encrypted: an entry in its place says so, to people and as a diagnostic of the
 * context, and every written file reports it.
 */
import type { Entry } from "@sessions/core"
import type { Payload } from "./log-builder.ts"
import { fieldsOf, stringOf } from "./values.ts"

const SUFFIX = "/lost_history"

/** `text`: a sentence for people. */
export function lostHistory(format: string, text: string): Payload {
  return { type: "message", message: { role: `${format}${SUFFIX}`, output: text, data: { text } } }
}

/** The sentence of such an entry, as its writers see it. */
export function lostHistoryOf(entry: Entry): string | undefined {
  if (entry.type !== "custom" || !entry.customType.endsWith(SUFFIX)) return undefined
  return stringOf(fieldsOf(entry.data)["text"])
}
