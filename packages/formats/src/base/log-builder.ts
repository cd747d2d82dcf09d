/**
 * Builds the entries of an imported log: places each in the tree and gives it its seq, the state of its path, and an id if the source has
 * none. Keeps ids and states of all entries in memory, but not the entries.
 */
import type { Entry, Header } from "@sessions/core"
import { foldState, initialState } from "@sessions/core/context"
import { type ContextState, FORMAT, isAnnotationType, ulidAt, VERSION } from "@sessions/core/format"
import { type Source, sourceField } from "./codec.ts"
import type { Note } from "./format.ts"
import { UNREADABLE, type UnreadableLine } from "./json-lines.ts"
import { type KindOf, recordText } from "./record-types.ts"
import type { Fields } from "./values.ts"

/** The header of an imported session, whose id `import` of core sets. */
export function headerOf(
  o: {
    readonly format: string
    readonly version: number
    readonly id?: string | undefined
    readonly timestamp: string
  },
  more: Fields = {},
): Header {
  const origin = { format: o.format, version: o.version, ...(o.id === undefined ? {} : { id: o.id }) }
  return {
    type: "session",
    format: FORMAT,
    version: VERSION,
    id: "imported",
    timestamp: o.timestamp,
    ...more,
    ...(typeof more["cwd"] === "string" ? { cwd: folderOf(more["cwd"]) } : {}),
    origin,
  }
}

/** A folder of Windows in one of the ways in which programs write it: drives in capitals, and backslashes. */
function folderOf(cwd: string): string {
  return /^[a-zA-Z]:[\\/]/.test(cwd) ? `${cwd.slice(0, 1).toUpperCase()}${cwd.slice(1).replaceAll("/", "\\")}` : cwd
}

export interface Place {
  /** The id that the source gives the entry. Default: a ULID that follows from the time and the position. */
  readonly id?: string | undefined
  /** The id of an entry before this one, or null for a root. Default: the current leaf. */
  readonly parentId?: string | null | undefined
  /** Default: that of the entry before it. */
  readonly timestamp?: string | undefined
  /** The number of the line, for diagnostics. */
  readonly at?: number | undefined
  /** What to keep of the source; a function for one that follows from the complete entry. */
  readonly source?: Source | ((entry: Entry) => Source) | undefined
}

/** An entry's payload: its type and the fields of the type. */
export interface Payload {
  readonly type: string
  readonly [key: string]: unknown
}

/** The place of an entry. */
export interface Node<Kept = unknown> {
  readonly id: string
  readonly parent: Node<Kept> | undefined
  readonly seq: number
  readonly type: string
  readonly state: ContextState
  /** A later entry names it as its parent. */
  isContinued: boolean
  /** What the reader of a format keeps of the entry: a field here costs less than a map with the ids of all entries. */
  kept: Kept | undefined
}

export class LogBuilder<Kept = unknown> {
  readonly #note: Note
  readonly #kindOf: KindOf | undefined
  readonly #nodes = new Map<string, Node<Kept>>()
  readonly #start: ContextState
  #last: Node<Kept> | undefined
  /** The last one that was looked for. */
  #found: Node<Kept> | undefined
  #seq = 0
  #timestamp: string

  /** `kindOf`: what the `custom` entries of the format are. One of an unknown kind that has a text is shown as a message. */
  constructor(header: Header, note: Note, kindOf?: KindOf) {
    this.#note = note
    this.#kindOf = kindOf
    this.#start = initialState(header)
    this.#timestamp = header.timestamp
  }

  /** The id of the entry before the next one; null at the beginning. */
  get leafId(): string | null {
    return this.#last?.id ?? null
  }

  has(id: string): boolean {
    return this.#nodes.has(id)
  }

  node(id: string): Node<Kept> | undefined {
    // Most references mean the entry before, or the one that was looked for just before.
    if (this.#last?.id === id) return this.#last
    if (this.#found?.id !== id) this.#found = this.#nodes.get(id)
    return this.#found
  }

  /** Whether a later entry names this one as its parent; not one that merely follows it because it names none. */
  isContinued(id: string): boolean {
    return this.#nodes.get(id)?.isContinued === true
  }

  seqOf(id: string): number | undefined {
    return this.#nodes.get(id)?.seq
  }

  /** Ids and types from an entry back to its root, the entry first. */
  *pathTo(id: string | null): Generator<{ readonly id: string; readonly type: string }, void, undefined> {
    for (let node = id === null ? undefined : this.#nodes.get(id); node !== undefined; node = node.parent) yield node
  }

  /**
   * The next entry of the log. A parent that the log does not have is reported, and the entry continues the one before it: a lost record
   * must not hide the history. An id that is taken is reported, and gets a suffix. Compactions and resets get their `state`, references the
   * seq of their target.
   */
  add(payload: Payload, place: Place = {}): Entry {
    const seq = ++this.#seq
    const timestamp = place.timestamp ?? this.#timestamp
    this.#timestamp = timestamp
    const id = this.#idOf(place, timestamp, seq)
    const parent = this.#parentOf(place, id)
    const { type } = payload
    const entry: Record<string, unknown> = { type, id, parentId: parent?.id ?? null, seq, timestamp }
    for (const key in payload) if (key !== "type") entry[key] = payload[key]
    const before = parent?.state ?? this.#start
    if (type === "compaction" || type === "reset_boundary") entry["state"] = before
    if (type === "compaction") {
      // One that keeps nothing names itself, also if its id is taken.
      if (payload["firstKeptEntryId"] === place.id) entry["firstKeptEntryId"] = id
      this.#setSeq(entry, "firstKeptEntryId", "firstKeptSeq")
    }
    if (payload["targetId"] !== undefined) this.#setSeq(entry, "targetId", "targetSeq")
    else if (type === "leaf" && parent !== undefined) entry["targetSeq"] = parent.seq
    const { source } = place
    if (source !== undefined)
      entry[sourceField(type)] = typeof source === "function" ? source(entry as unknown as Entry) : source
    const state = changesState(payload, before) ? foldState([entry as unknown as Entry], before) : before
    this.#last = { id, parent, seq, type, state, isContinued: false, kept: undefined }
    this.#nodes.set(id, this.#last)
    if (type === "custom") this.#showUnknown(entry)
    return entry as unknown as Entry
  }

  /**
   * Makes a message of a record whose kind is not known: people see, search and count its text, and without `content` no model gets it. Its
   * source is that of the `custom` entry, and `writable.ts` makes one of it again.
   */
  #showUnknown(entry: Record<string, unknown>): void {
    const { customType, data } = entry
    if (typeof customType !== "string" || customType === UNREADABLE || this.#kindOf?.(customType, data) !== "unknown")
      return
    const output = recordText(data)
    if (output === "") return
    entry["type"] = "message"
    entry["message"] = { role: customType, output, data }
    delete entry["customType"]
    delete entry["data"]
  }

  /** The entry of a line that cannot be read. */
  addUnreadable({ at, text }: UnreadableLine): Entry {
    return this.add({ type: "custom", customType: UNREADABLE, data: { text, at } }, { source: { at: [at] } })
  }

  /** The `leaf` entry that ends a log whose last entry does not continue the leaf of the source; undefined if it does. */
  end(leafId: string | null): Entry | undefined {
    let node = this.#last
    while (node !== undefined && node.id !== leafId && isAnnotationType(node.type)) node = node.parent
    return (node?.id ?? null) === leafId
      ? undefined
      : this.add({ type: "leaf" }, { parentId: leafId, source: { at: [] } })
  }

  #idOf({ id: wanted, at }: Place, timestamp: string, seq: number): string {
    if (wanted === undefined || wanted === "") return ulidAt(Date.parse(timestamp), seq)
    if (!this.#nodes.has(wanted)) return wanted
    this.#note({ code: "duplicate_id", entryId: wanted, message: `${lineOf(at)}another record has the id ${wanted}.` })
    let id = `${wanted}#${seq}`
    while (this.#nodes.has(id)) id += "#"
    return id
  }

  #parentOf({ parentId, at }: Place, id: string): Node<Kept> | undefined {
    if (parentId === undefined) return this.#last
    if (parentId === null) return undefined
    const parent = this.node(parentId)
    if (parent !== undefined) {
      parent.isContinued = true
      return parent
    }
    const where = this.#last === undefined ? "It becomes the beginning" : "It continues the entry before it"
    const message = `${lineOf(at)}the parent of entry ${id}, ${parentId}, is not before it in the file. ${where}.`
    this.#note({ code: "missing_parent", entryId: id, message })
    return this.#last
  }

  #setSeq(entry: Record<string, unknown>, reference: string, field: string): void {
    const target = this.#nodes.get(entry[reference] as string)
    if (target !== undefined) entry[field] = target.seq
    else if (entry[reference] === entry["id"]) entry[field] = entry["seq"]
  }
}

function lineOf(at: number | undefined): string {
  return at === undefined ? "In the file, " : `In line ${at}, `
}

/** Whether the state has to be folded: most entries keep it, and a fold copies it. */
function changesState({ type, message }: Payload, { models, modelIsExplicit }: ContextState): boolean {
  if (type !== "message") return STATE_TYPES.has(type)
  if (modelIsExplicit) return false
  const { role, provider, model } = message as Fields
  if (role !== "assistant" || typeof provider !== "string" || typeof model !== "string") return false
  return model !== models["default"]?.model || provider !== models["default"]?.provider
}

const STATE_TYPES: ReadonlySet<string> = new Set([
  "model_change",
  "thinking_level_change",
  "mode_change",
  "ttsr_injection",
])
