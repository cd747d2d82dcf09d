/**
 * Files without halves of surrogate pairs. JSON can hold them, but UTF-8 cannot: readers that are no JavaScript refuse the line or the file, and
 * every API of a model refuses a request that has one. So what a file does not have from a file of its own format gets U+FFFD in their
 * place, for every format.
 */
import type { Entry } from "@sessions/core"
import { readSource, sourceField } from "./codec.ts"
import type { Loss, SessionToWrite, WriteOptions, WriteSession } from "./format.ts"
import { isObject } from "./values.ts"
import { writable } from "./writable.ts"
import { indexLog } from "./written-path.ts"

/** A writer of a format, for well-formed files. What has been replaced is reported as a loss. */
export function wellFormedWriter(format: string, write: WriteSession): WriteSession {
  return async function* (stored: SessionToWrite, o: WriteOptions = {}) {
    const session = await writable(stored)
    const isOwn = session.header.origin?.format === format
    const ids = new Map<string, string>()
    const replaced = new Map<number, Entry>()
    const given: SessionToWrite = {
      header: isOwn ? session.header : wellFormed(session.header),
      async *entries() {
        for await (const entry of session.entries()) {
          const written = isOwn ? ownEntry(entry) : foreignEntry(entry, ids)
          if (written !== entry) {
            originals.set(written, entry)
            replaced.set(entry.seq, written)
          }
          yield written
        }
      },
    }
    let count = 0
    const note = (loss: Loss): void => {
      if (loss.what === SURROGATES) count += loss.count
      else o.note?.(loss)
    }
    yield* write(given, {
      ...o,
      ...(o.id !== undefined && { id: wellFormed(o.id) }),
      ...(o.cwd !== undefined && { cwd: wellFormed(o.cwd) }),
      note,
    })
    const written = [...replaced].filter(([, entry]) => !restored.has(entry)).map(([seq]) => seq)
    if (written.length > 0) {
      const index = await indexLog(given)
      const isAll = (o.branches ?? (isOwn ? "all" : "path")) === "all"
      count += written.filter((seq) => (isAll ? !index.isDeleted(seq) : index.isWritten(seq))).length
    }
    if (count > 0) o.note?.({ what: SURROGATES, count, message: surrogatesMessage(count) })
  }
}

/** What a writer reports that has replaced halves itself. It is added to what is replaced here. */
export const SURROGATES = "surrogates"

function surrogatesMessage(count: number): string {
  return `${count} entries have U+FFFD in place of halves of surrogate pairs.`
}

const originals = new WeakMap<Entry, Entry>()
/** Entries that are in a file as they were read. */
const restored = new WeakSet<Entry>()

/** The entry as it was read, for a record that is restored exactly. */
export function originalOf(entry: Entry): Entry {
  const original = originals.get(entry)
  if (original === undefined) return entry
  restored.add(entry)
  return original
}

/**
 * An entry of a session whose file is written again. Ids stay as they are in the file, and so do the records that are no message: they are
 * written as they were read, or not at all.
 */
function ownEntry(entry: Entry): Entry {
  const isRecord = entry.type === "custom" && readSource(entry) !== undefined
  return isRecord ? entry : withFields(entry, (key, value) => (ID.test(key) ? value : fieldOf(key, value, undefined)))
}

/** `ids`: what became of those that have halves. A call, its result and every other reference to an id have the same one. */
function foreignEntry(entry: Entry, ids: Map<string, string>): Entry {
  return withFields(entry, (key, value) => fieldOf(key, value, ids))
}

/** The names of fields that are ids or references, of entries, messages and blocks. */
const ID = /^(?:id|\w+Id)$/u

/** A field of an entry. The ids of calls are those of its messages and of their blocks; what an argument calls an id is content. */
function fieldOf(key: string, value: unknown, ids: Map<string, string> | undefined, depth = 0): unknown {
  if (key === sourceField("") || key === sourceField("title_change")) return value
  if (ID.test(key) && typeof value === "string") return ids === undefined ? value : idOf(value, ids)
  const inner = (name: string, one: unknown): unknown => fieldOf(name, one, ids, depth + 1)
  const isNode = depth < MESSAGE_DEPTH && (key === "message" || key === "content" || key === "system")
  if (isNode && Array.isArray(value))
    return sameOr(
      value,
      value.map((one) => (isObject(one) ? withFields(one, inner) : wellFormed(one))),
    )
  if (isNode && isObject(value)) return withFields(value, inner)
  return wellFormed(value)
}

/** `message`, its `content`, and a block in that. */
const MESSAGE_DEPTH = 3

function withFields<T extends object>(value: T, change: (key: string, value: unknown) => unknown): T {
  const changed = Object.entries(value).map(([key, one]) => [key, one, change(key, one)] as const)
  return rebuilt(value, changed)
}

/** The object with its keys well-formed, and with other values; the same one if nothing changes. */
function rebuilt<T extends object>(
  value: T,
  fields: readonly (readonly [key: string, before: unknown, after: unknown])[],
): T {
  if (fields.every(([key, before, after]) => before === after && isWellFormed(key))) return value
  const taken = new Map(fields.filter(([key]) => isWellFormed(key)).map(([key]) => [key, 0]))
  return Object.fromEntries(fields.map(([key, , after]) => [keyOf(key, taken), after])) as T
}

/** Two ids that differ in their halves alone stay two. */
function idOf(id: string, ids: Map<string, string>): string {
  if (isWellFormed(id)) return id
  const known = ids.get(id)
  if (known !== undefined) return known
  const halves = Array.from(id.match(HALF) ?? [], (half) => half.charCodeAt(0).toString(16))
  const made = `${wellFormed(id)}-${halves.join("-")}`
  ids.set(id, made)
  return made
}

/** With U+FFFD in place of each half, in keys too. The same value if it has none. */
export function wellFormed<T>(value: T): T {
  try {
    return replacedIn(value)
  } catch (error) {
    // A value that is nested deeper than the stack: a file that should have it is refused when its JSON is made.
    if (error instanceof RangeError) return value
    throw error
  }
}

function replacedIn<T>(value: T): T {
  if (typeof value === "string") return (isWellFormed(value) ? value : value.replaceAll(HALF, REPLACEMENT)) as T
  if (Array.isArray(value)) return sameOr<unknown[]>(value, value.map(replacedIn)) as T
  if (!isObject(value)) return value
  return rebuilt(
    value,
    Object.entries(value).map(([key, one]) => [key, one, replacedIn(one)] as const),
  )
}

/** Two keys that differ in their halves alone stay two. `taken`: for each key how many more have come to it, so that none is tried again. */
function keyOf(key: string, taken: Map<string, number>): string {
  if (isWellFormed(key)) return key
  const plain = key.replaceAll(HALF, REPLACEMENT)
  let made = plain
  let more = taken.get(plain) ?? 0
  while (taken.has(made)) made = `${plain}-${++more}`
  taken.set(plain, more).set(made, 0)
  return made
}

function sameOr<T extends readonly unknown[]>(value: T, made: T): T {
  return made.every((one, i) => one === value[i]) ? value : made
}

/** The expression takes 90 ms for an image of 5 MB; an engine knows that a text in base64 has no surrogates. */
function isWellFormed(text: string): boolean {
  const known = (text as { isWellFormed?: () => boolean }).isWellFormed?.()
  return known ?? text.search(HALF) < 0
}

/** With the flag `u` a whole pair is one character, which is none of these. */
const HALF = /[\ud800-\udfff]/gu
const REPLACEMENT = "\ufffd"
