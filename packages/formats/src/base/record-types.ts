/**
 * What the records of an agent are, by their types. A record that is sent to a model is content; the table of each format says so. A record
 * that the table does not have may hold words that matter, so it is shown and searched as a message, but no model gets it.
 */
import type { Entry } from "@sessions/core"
import { sourceField } from "./codec.ts"
import { type Fields, fieldsOf, isObject, stringOf } from "./values.ts"

/**
 * - `content`: what the agent sends to its model: words of people, models, tools, files, hooks and other agents
 * - `state`: what the agent needs to go on, such as its settings, and instructions of its own, which it makes anew
 * - `annotation`: what describes the session, such as titles and usage
 */
export type RecordKind = "content" | "state" | "annotation"

/**
 * By type, or `type/subtype`: the kind, and the first version of the agent that is known to write such records. A type with subtypes has
 * no row of its own, unless its other subtypes are of one kind, too.
 */
export type RecordTypes = Readonly<Record<string, readonly [kind: RecordKind, since: string]>>

export function kindOf(types: RecordTypes, type: string, subtype?: string): RecordKind | "unknown" {
  const name = subtype === undefined ? type : `${type}/${subtype}`
  if (Object.hasOwn(types, name)) return types[name]?.[0] ?? "unknown"
  return Object.hasOwn(types, type) ? (types[type]?.[0] ?? "unknown") : "unknown"
}

/** What the data of a `custom` entry is. */
export type KindOf = (customType: string, data: unknown) => RecordKind | "unknown"

/** By the field `type` of a record, and what is in another field of it. */
export function kindsBy(types: RecordTypes, subtypeOf: (record: Fields) => unknown = () => undefined): KindOf {
  return (_, data) => {
    const record = fieldsOf(data)
    const type = stringOf(record["type"])
    return type === undefined ? "unknown" : kindOf(types, type, stringOf(subtypeOf(record)))
  }
}

/** The `custom` entry of a record whose kind was not known when it was read; undefined for any other entry. */
export function unknownRecordOf(entry: Entry): (Entry & { readonly type: "custom" }) | undefined {
  if (entry.type !== "message") return undefined
  const { message, ...place } = entry
  const { role: customType, content, output, data } = message as Fields
  if (content !== undefined || typeof output !== "string" || data === undefined) return undefined
  return { ...place, type: "custom", customType, data } as unknown as Entry & { readonly type: "custom" }
}

/** The texts of a record: strings with a white space in them, and those of fields that hold texts, without ids, paths and times. */
export function recordText(record: unknown): string {
  const texts: string[] = []
  // Without recursion: a record may be nested deeper than the stack.
  const left: (readonly [name: string, value: unknown])[] = [["", record]]
  while (left.length > 0) {
    const [name, value] = left.pop() as readonly [string, unknown]
    if (typeof value === "string") {
      if (isText(name, value)) texts.push(value)
    } else if (Array.isArray(value)) {
      for (let i = value.length - 1; i >= 0; i--) left.push([name, value[i] as unknown])
    } else if (isObject(value)) {
      for (const [key, one] of Object.entries(value).reverse()) left.push([key, one])
    }
  }
  return texts.join("\n")
}

function isText(name: string, value: string): boolean {
  const text = value.trim()
  if (text === "" || PLACES.test(name)) return false
  return TEXT_FIELDS.has(name) || /\s/.test(text)
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(["text", "content", "message", "prompt", "summary", "output", "body"])

/** Fields whose values may have white space, but are no words. */
const PLACES = /(?:path|cwd|dir|directory|folder|file|filename|url|uri|time|timestamp|date)$/i

/** How many characters of text an entry has that is no message for a model. */
export function textLengthOf(entry: Entry): number {
  if (entry.type === "custom") return recordText(entry.data).length
  const { id: _, parentId: __, type: ___, timestamp: ____, ...fields } = entry as Fields
  const field = sourceField(entry.type)
  return recordText(Object.fromEntries(Object.entries(fields).filter(([name]) => name !== field))).length
}
