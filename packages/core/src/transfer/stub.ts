/** An entry without its content: what the tree, the state and the references of a log are made of. A whole log fits in memory so. */
import type { Entry } from "../format/records.ts"
import { isObject } from "../format/shape.ts"
import type { Seq } from "../storage/contract.ts"

const KEPT: readonly string[] = [
  "targetId",
  "targetSeq",
  "firstKeptEntryId",
  "firstKeptSeq",
  "state",
  "key",
  "title",
  "source",
  "label",
  "provider",
  "model",
  "role",
  "thinkingLevel",
  "mode",
  "injectedRules",
]
const KEPT_OF_MESSAGE: readonly string[] = ["role", "provider", "model"]

export function stubOf(entry: Entry, seq: Seq): Entry {
  const { type, id, parentId, timestamp } = entry
  const kept: Record<string, unknown> = { type, id, parentId, seq, timestamp }
  copy(entry, KEPT, kept)
  if (type === "mode_change") copy(entry, ["data"], kept)
  // Values may be large; only this one says something of the session itself.
  if (type === "metadata" && entry["value"] !== undefined)
    kept["value"] = entry["key"] === "cwd" ? entry["value"] : null
  if (type === "message" && isObject(entry["message"])) kept["message"] = copy(entry["message"], KEPT_OF_MESSAGE, {})
  return kept as unknown as Entry
}

function copy(
  from: Readonly<Record<string, unknown>>,
  keys: readonly string[],
  to: Record<string, unknown>,
): Record<string, unknown> {
  for (const key of keys) if (from[key] !== undefined) to[key] = from[key]
  return to
}
