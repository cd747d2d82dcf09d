/**
 * Keeps all of a source record beside the entry that was made of it. A format has a function that encodes an entry as a record of its own;
 * the entry's `source` holds the difference between that and the record that was read. So the record is restored exactly, whatever fields
 * the format does not know, and a field that the entry already holds is not stored twice.
 */
import type { Entry } from "@sessions/core"
import { type Fields, isObject } from "./values.ts"

/** Where an entry comes from, as its field `source`: beside the message, because messages go to models as they are. */
export interface Source {
  /** The numbers of the lines that the entry was made of, from 1; of a document the positions of its records. Empty: it follows from others. */
  readonly at: readonly number[]
  /** For each of them, how its record differs from the encoded entry; missing if none differs. */
  readonly rest?: readonly Patch[]
  /** The form of the record, if the entry does not show it and `encode` needs it: such as a text that the record has as a list of blocks. */
  readonly hint?: Fields
  /** The id of the entry in the source, if another entry of the log has it. */
  readonly id?: string
}

/** Fields of entries that are ids of others, beside `parentId`. */
export const REFERENCES = ["firstKeptEntryId", "targetId", "fromId"] as const

/** Turns one JSON value into another: an empty object changes nothing. Stored, so a field of it never changes its meaning. */
export interface Patch {
  /** The whole value. */
  readonly value?: unknown
  /** Fields, or elements of an array of the same length, that differ as a whole. */
  readonly set?: Fields
  /** Fields or elements that differ in part. */
  readonly in?: Readonly<Record<string, Patch>>
  /** Fields that are not in the record. */
  readonly drop?: readonly string[]
}

/** The `source` of an entry. `encoded` are the records that the format makes of the entry, one for each record that was read. */
export function sourceOf(
  at: readonly number[],
  records: readonly Fields[],
  encoded: readonly Fields[],
  hint?: Fields,
): Source {
  let differs = false
  const rest: Patch[] = []
  for (let i = 0; i < records.length; i++) {
    const patch = difference(encoded[i], records[i], 0)
    if (patch !== undefined) differs = true
    rest.push(patch ?? NO_PATCH)
  }
  const source: { -readonly [K in keyof Source]: Source[K] } = { at }
  if (differs) source.rest = rest
  if (hint !== undefined) source.hint = hint
  return source
}

/** The records that an entry was made of, with their line numbers. `encoded` as for {@link sourceOf}. */
export function recordsOf(
  source: Source,
  encoded: readonly Fields[],
): { readonly at: number; readonly record: unknown }[] {
  return source.at.map((at, i) => ({ at, record: patched(encoded[i], source.rest?.[i] ?? NO_PATCH) }))
}

/** The name of the field: a title has a field `source` of its own. */
export function sourceField(type: string): string {
  return type === "title_change" ? "sourceLines" : "source"
}

/** The `source` of an entry that was imported; undefined for an entry that was appended since. */
export function readSource(entry: Entry): Source | undefined {
  const source = (entry as Fields)[sourceField(entry.type)]
  return isObject(source) && Array.isArray(source["at"]) ? (source as unknown as Source) : undefined
}

/** The source of an edit that a later import made of an entry that was not complete: it has the whole entry. */
export interface Completion {
  readonly at: readonly []
  readonly entry: Entry
  /** By their ids, the sources of other entries that name the completed one: a line that continues it names its last line. */
  readonly sources?: Readonly<Record<string, Source>>
}

/** The sources that such an edit has for other entries. */
export function sourcesBy(entry: Entry): readonly (readonly [id: string, source: Source])[] {
  const source = entry.type === "context_edit" ? (readSource(entry) as unknown as Partial<Completion>) : undefined
  return Object.entries(source?.sources ?? {})
}

/** The whole entry of such an edit; undefined for any other entry. */
export function completedBy(entry: Entry): Entry | undefined {
  const source = entry.type === "context_edit" ? (readSource(entry) as unknown as Partial<Completion>) : undefined
  return source?.entry
}

/** The source of a tombstone of what an earlier import made of a line that was not complete. */
export function replacedBy(): Source & { readonly isReplaced: true } {
  return { at: [], isReplaced: true }
}

export function isReplacement(entry: Entry): boolean {
  return entry.type === "tombstone" && (readSource(entry) as Fields | undefined)?.["isReplaced"] === true
}

const NO_PATCH: Patch = Object.freeze({})

/** Deeper values are compared as a whole: files may nest values deeper than the stack. */
const MAX_DEPTH = 100

/** Undefined if the values are the same JSON. */
export function difference(from: unknown, to: unknown, depth = 0): Patch | undefined {
  if (from === to) return undefined
  if (depth === MAX_DEPTH) return { value: to }
  if (Array.isArray(to)) {
    return Array.isArray(from) && from.length === to.length ? itemDifference(from, to, depth) : { value: to }
  }
  return isObject(to) && isObject(from) ? fieldDifference(from, to, depth) : { value: to }
}

function itemDifference(from: readonly unknown[], to: readonly unknown[], depth: number): Patch | undefined {
  let changes: Changes | undefined
  for (let i = 0; i < to.length; i++) {
    const patch = difference(from[i], to[i], depth + 1)
    if (patch !== undefined) addPatch((changes ??= {}), String(i), patch)
  }
  return changes && patchOf(changes, undefined)
}

function fieldDifference(from: Fields, to: Fields, depth: number): Patch | undefined {
  let changes: Changes | undefined
  let shared = 0
  // Plain objects inherit no fields, and a loop over them makes no list of their keys.
  for (const key in to) {
    const value = to[key]
    const other = from[key]
    // Most fields are equal texts. JSON has no undefined, so an equal value is a field of both, and an undefined one is none.
    if (other === value) shared++
    else if (other === undefined || !Object.hasOwn(from, key)) setChange((changes ??= {}), key, value)
    else {
      shared++
      const patch = difference(other, value, depth + 1)
      if (patch !== undefined) addPatch((changes ??= {}), key, patch)
    }
  }
  let count = 0
  for (const _ in from) count++
  const drop = shared === count ? undefined : Object.keys(from).filter((key) => !Object.hasOwn(to, key))
  return changes === undefined && drop === undefined ? undefined : patchOf(changes ?? {}, drop)
}

/** The `set` and `in` of a patch while it is made. */
interface Changes {
  set?: Record<string, unknown>
  in?: Record<string, Patch>
}

function setChange(changes: Changes, key: string, value: unknown): void {
  define((changes.set ??= {}), key, value)
}

function addPatch(changes: Changes, key: string, patch: Patch): void {
  if (Object.hasOwn(patch, "value")) setChange(changes, key, patch.value)
  else define((changes.in ??= {}), key, patch)
}

function patchOf(changes: Changes, drop: readonly string[] | undefined): Patch {
  const patch: { -readonly [K in keyof Patch]: Patch[K] } = {}
  if (changes.set !== undefined) patch.set = changes.set
  if (changes.in !== undefined) patch.in = changes.in
  if (drop !== undefined) patch.drop = drop
  return patch
}

export function patched(from: unknown, patch: Patch): unknown {
  if (Object.hasOwn(patch, "value")) return patch.value
  if (patch.set === undefined && patch.in === undefined && patch.drop === undefined) return from
  const to = (Array.isArray(from) ? [...(from as unknown[])] : { ...fields(from) }) as Record<string, unknown>
  for (const key of patch.drop ?? []) Reflect.deleteProperty(to, key)
  for (const [key, value] of Object.entries(patch.set ?? {})) define(to, key, value)
  for (const [key, inner] of Object.entries(patch.in ?? {})) define(to, key, patched(fields(from)[key], inner))
  return to
}

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {}
}

/** An assignment to `__proto__`, which JSON may have as a field, would set the prototype. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== "__proto__") object[key] = value
  else Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
}
