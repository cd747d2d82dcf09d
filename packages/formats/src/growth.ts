/**
 * What a file has that its session does not have yet. A session is the set of the records of its files, by their ids: so a file that has
 * grown, a second file of the same session and an older copy of one all give what is missing, and nothing twice. An entry of which more has
 * come, as a message that was imported while the agent wrote it, is completed by an edit that holds the whole entry; a line that was cut
 * is replaced by what it has become.
 */
import type { Entry, Header, Session } from "@sessions/core"
import { isAnnotationType } from "@sessions/core/format"
import {
  type Completion,
  completedBy,
  readSource,
  REFERENCES,
  replacedBy,
  type Source,
  sourceField,
} from "./base/codec.ts"
import type { Note } from "./base/format.ts"
import { UNREADABLE } from "./base/json-lines.ts"
import { unknownRecordOf } from "./base/record-types.ts"
import { fieldsOf, jsonOf } from "./base/values.ts"
import { indexLog, type LogIndex } from "./base/written-path.ts"

/** Reads the file from its beginning. */
type Read = (note?: Note) => AsyncIterable<Header | Entry>

export class Growth {
  readonly #read: Read
  readonly #stored = new Map<string, Stored>()
  /** The last imported entries: more may have come to them, or they may have become others. */
  readonly #tail = new Map<string, Entry>()
  /** The contents that each of them has had: files of several ages may come in any order. */
  readonly #contents = new Map<string, unknown[]>()
  /** The ids of entries that another entry has the id of: a boundary was stored before its summary came. */
  readonly #renamed = new Map<string, string>()
  /** Ends of branches, and for each annotation the entry that it hangs on. */
  readonly #tips = new Set<string>()
  readonly #anchors = new Map<string, string | null>()
  /** For each entry beside the conversation, the entry of the conversation that it is behind. */
  readonly #places = new Map<string, string | null>()
  /** What continues an entry that was completed, or behind which the user added something: the edit. */
  readonly #edits = new Map<string, string>()
  /** What the user added beside the conversation: edits, deletions, settings. */
  readonly #own: Entry[] = []
  /** What is in force of it. */
  #index: LogIndex | undefined
  #leaf: Node | undefined
  #hasOwn = false
  #lastLine = 0
  /** Whether the file has the entry in which the session ends. */
  #continues = false
  #leafOfFile: Node | undefined
  /** When a person last said something, in the session and in what the file adds. */
  #prompt: string | undefined
  #promptOfFile: string | undefined
  /** The sources of entries that are encoded differently since another one was completed. */
  readonly #sources = new Map<string, Source>()
  /** Results that have come before what other calls at once gave, see {@link Late}; by the first and by the last of them. */
  readonly #late = new Map<string, Late>()
  readonly #lateEnds = new Map<string, Late>()
  #isShifted = false
  /** Entries that lines were which were not complete. */
  #replaced: readonly Entry[] = []
  #count = 0

  private constructor(read: Read) {
    this.#read = read
  }

  /** Reads the session and the file once. */
  static async of(session: Session, read: Read): Promise<Growth> {
    const growth = new Growth(read)
    for await (const entry of session.entries()) growth.#know(entry)
    if (growth.#own.length > 0) growth.#follow(await indexLog(session))
    await growth.#look()
    for await (const _ of growth.entries()) growth.#count++
    return growth
  }

  /** Whether the file has anything new. */
  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Whether the conversation went on in the session, too. */
  get hasOwnEntries(): boolean {
    return this.#hasOwn
  }

  #know(entry: Entry): void {
    const { id, seq, type } = entry
    const source = readSource(entry)
    const completion = completedBy(entry)
    if (completion !== undefined) {
      const known = this.#stored.get(completion.id)
      if (known !== undefined) known.count = linesOf(completion)
      if (this.#tail.has(completion.id)) this.#tail.set(completion.id, completion)
      this.#contents.get(completion.id)?.push(contentOf(completion))
      if (entry.parentId !== null) this.#edits.set(entry.parentId, id)
    }
    this.#stored.set(id, { seq, type, count: source?.at.length ?? 0 })
    if (source?.id !== undefined) this.#renamed.set(source.id, id)
    hang(entry, this.#tips, this.#anchors)
    place(entry, this.#places)
    if (source === undefined && CONVERSATION.has(type)) this.#hasOwn = true
    if (source === undefined && !CONVERSATION.has(type) && type !== "leaf") this.#own.push(entry)
    if (source !== undefined && completion === undefined) {
      this.#tail.set(id, entry)
      this.#contents.set(id, [contentOf(entry)])
      if (this.#tail.size > TAIL) {
        const oldest = this.#tail.keys().next().value as string
        this.#tail.delete(oldest)
        this.#contents.delete(oldest)
      }
      for (const at of source.at) this.#lastLine = Math.max(this.#lastLine, at)
    }
    if (isPrompt(entry)) this.#prompt = entry.timestamp
    this.#leaf = leafAfter(entry, this.#leaf)
  }

  /** A file goes on behind what the user added to the path, so that it stays in force. */
  #follow(index: LogIndex): void {
    this.#index = index
    for (const { id, parentId, seq, type } of this.#own)
      if (parentId !== null && index.isOnPath(seq) && !isAnnotationType(type)) this.#edits.set(parentId, id)
  }

  #refresh(entry: Entry): void {
    const before = this.#tail.get(entry.id)
    const source = readSource(entry)
    if (before === undefined || source === undefined || before.type !== entry.type) return
    if (jsonOf(readSource(before)) !== jsonOf(source)) this.#sources.set(entry.id, source)
  }

  /** What the file has of the session, before anything is decided. */
  async #look(): Promise<void> {
    const lines = new Set<number>()
    const found = new Set<string>()
    const all = new Set<number>()
    const results = new Map<string, string | null>()
    let late: Late | undefined
    for await (const entry of entriesOf(this.#read())) {
      this.#leafOfFile = leafAfter(entry, this.#leafOfFile)
      if (followed(this.#renamed.get(entry.id) ?? entry.id, this.#edits) === this.#leaf?.id) this.#continues = true
      for (const at of readSource(entry)?.at ?? []) all.add(at)
      const known = this.#stored.get(entry.id)
      if (known !== undefined) {
        if (this.#leaf === undefined) this.#continues = true
        if (this.#isOther(entry, known)) found.add(otherId(entry))
        else {
          found.add(entry.id)
          this.#refresh(entry)
          late = this.#lateBefore(entry, results, late)
        }
        continue
      }
      if (isResult(entry)) results.set(entry.id, entry.parentId)
      if (isPrompt(entry)) this.#promptOfFile = entry.timestamp
      for (const at of readSource(entry)?.at ?? []) lines.add(at)
    }
    // The lines of another file are written behind those of the first.
    if (!this.#continues) this.#isShifted = [...lines].some((at) => at <= this.#lastLine)
    else
      this.#replaced = [...this.#tail.values()].filter((entry) => {
        const [at, ...more] = readSource(entry)?.at ?? []
        const isGone = isAside(entry) && !found.has(entry.id) && !this.#stored.has(replacedId(entry.id))
        return isGone && more.length === 0 && all.has(at ?? 0)
      })
  }

  /** The results that have come before this stored entry; of those before an earlier one, whether it follows them, too. */
  #lateBefore(entry: Entry, results: ReadonlyMap<string, string | null>, late: Late | undefined): Late | undefined {
    const { id, parentId: last } = entry
    if (late !== undefined && last !== null && late.passed.includes(last)) {
      if (isSide(entry)) {
        late.passed.push(id)
        return late
      }
      // The conversation went on: the results are those of another file.
      this.#late.delete(late.first)
      this.#lateEnds.delete(late.last)
    }
    if (last === null || !results.has(last) || !isSide(entry)) return undefined
    let first = last
    for (
      let parent = results.get(first);
      typeof parent === "string" && results.has(parent);
      parent = results.get(first)
    )
      first = parent
    const found: Late = { first, last, passed: [id] }
    this.#late.set(first, found)
    this.#lateEnds.set(last, found)
    return found
  }

  /** The entries to append, in order. Their parents and targets are before them. */
  async *entries(note?: Note): AsyncGenerator<Entry, void, undefined> {
    const seqs = new Map<string, number>()
    const edits = new Map(this.#edits)
    const renamed = new Map(this.#renamed)
    const tips = new Set(this.#tips)
    const anchors = new Map(this.#anchors)
    const places = new Map(this.#places)
    let next = this.#stored.size + 1
    let end = this.#leaf
    let isMoved = false
    /** Where the log stands: its last line is the leaf, also one beside the conversation that hangs on an older message. */
    let here = end?.id ?? null
    const seqOf = (id: string): number | undefined => seqs.get(id) ?? this.#stored.get(id)?.seq
    const after = (id: string): string => followed(renamed.get(id) ?? id, edits)
    const placed = (entry: Entry): Entry => {
      const seq = next++
      seqs.set(entry.id, seq)
      end = leafAfter(entry, end)
      hang(entry, tips, anchors)
      place(entry, places)
      here = placeOf(entry.id, places)
      return withSeqs({ ...entry, seq }, seqOf)
    }
    for (const entry of this.#replaced) yield placed(replacement(entry, this.#leaf))
    end = this.#leaf
    let waiting: Entry | undefined
    for await (const entry of entriesOf(this.#read(note))) {
      // The leaf that ends the reading of a file is no record of it.
      if (waiting !== undefined) yield placed(waiting)
      waiting = undefined
      const known = this.#stored.get(entry.id)
      if (known === undefined || this.#isOther(entry, known)) {
        const id = known === undefined ? entry.id : otherId(entry)
        if (known !== undefined) renamed.set(entry.id, id)
        if (this.#stored.has(id)) continue
        const before = this.#late.get(entry.id)?.passed.at(-1) ?? entry.parentId
        const parentId = before === null ? null : after(before)
        const added = this.#shifted(
          withIds({ ...entry, id, parentId }, renamed, known === undefined ? undefined : entry.id),
        )
        if (isEndOfFile(added)) waiting = added
        else {
          if (!isAnnotationType(added.type) && !isAside(added)) isMoved = true
          // What continues any of those continues the results.
          for (const passed of this.#lateEnds.get(entry.id)?.passed ?? [])
            if (after(passed) !== added.id) edits.set(after(passed), added.id)
          yield placed(added)
        }
        continue
      }
      if (!this.#hasMore(entry, known)) continue
      const target = this.#leaf === undefined || !this.#continues ? entry.id : (end?.id ?? entry.id)
      const whole = this.#shifted(entry)
      const edit = placed(editOf(whole, after(target), this.#sources, (id) => seqOf(id) !== undefined))
      edits.set(edit.parentId as string, edit.id)
      isMoved = true
      yield edit
    }
    const { id: leafId = null, timestamp } = this.#leafHere() ?? {}
    const leaf = leafId === null ? null : after(leafId)
    const isAstray = here !== (end?.id ?? null)
    if ((!isMoved && !isAstray) || timestamp === undefined) return
    // The file's branches were left knowingly.
    const path = leaf === null ? null : (anchors.get(leaf) ?? leaf)
    const settles = [...tips].filter((id) => id !== path)
    if (leaf === (end?.id ?? null) && settles.length === 0 && !isAstray) return
    const fields = { id: `${String(leaf)}#leaf-${next}`, parentId: leaf, seq: 0, timestamp, source: { at: [] } }
    yield placed({ type: "leaf", ...fields, ...(settles.length === 0 ? {} : { settles }) } as unknown as Entry)
  }

  /** The end of the conversation: that of the file, unless that is older, or all that it adds was made by the agent. */
  #leafHere(): Node | undefined {
    const stored = this.#leaf
    const given = this.#leafOfFile
    if (stored === undefined || given === undefined) return given ?? stored
    if (this.#continues) return given
    const [before, added] = [this.#prompt, this.#promptOfFile]
    return added !== undefined && (before === undefined || added > before) ? given : stored
  }

  /** Whether the stored entry with this id is something else: a line that has become whole, or a boundary that has got its summary. */
  #isOther(entry: Entry, { type }: Stored): boolean {
    if (this.#renamed.has(entry.id)) return true
    const before = this.#tail.get(entry.id)
    if (before === undefined) return false
    if (isUnreadable(before))
      return !isUnreadable(entry) || fieldsOf(entry.data)["text"] !== fieldsOf(before.data)["text"]
    return type !== entry.type && isAside(before)
  }

  /**
   * A message of more lines than before, or one at the end of what was imported with a content that it never had. An older copy of the
   * file has fewer lines of it, or its beginning.
   */
  #hasMore(entry: Entry, { count, type, seq }: Stored): boolean {
    if (type !== "message" || entry.type !== "message" || this.#isTouched(seq)) return false
    if (linesOf(entry) !== count) return linesOf(entry) > count
    const contents = this.#contents.get(entry.id)
    return contents !== undefined && !contents.some((known) => isBeginning(contentOf(entry), known))
  }

  /** What the user edited or deleted stays so, whatever comes to it; not what was edited elsewhere, or whose edit was deleted. */
  #isTouched(seq: number): boolean {
    const edit = this.#index?.editOf(seq)
    return this.#index?.isDeleted(seq) === true || (edit !== undefined && !edit.isImported)
  }

  #shifted(entry: Entry): Entry {
    const source = readSource(entry)
    if (!this.#isShifted || source === undefined || source.at.length === 0) return entry
    const at = source.at.map((line) => line + this.#lastLine)
    return { ...entry, [sourceField(entry.type)]: { ...source, at } satisfies Source }
  }
}

/**
 * Results of calls at once, and the stored entries behind them, which another call gave besides its result: a file has these before the results, and
 * the session got them before. A stored entry is not moved, so that the results follow the last of them.
 */
interface Late {
  readonly first: string
  readonly last: string
  readonly passed: string[]
}

interface Stored {
  readonly seq: number
  readonly type: string
  /** How many lines it was made of. */
  count: number
}

interface Node {
  readonly id: string | null
  readonly timestamp: string
}

/** Far more than an agent writes at once. */
const TAIL = 64

const CONVERSATION: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "branch_summary",
  "compaction",
  "reset_boundary",
])

async function* entriesOf(records: AsyncIterable<Header | Entry>): AsyncGenerator<Entry, void, undefined> {
  for await (const record of records) if (!("origin" in record)) yield record as Entry
}

/** Where the conversation ends after an entry. */
function leafAfter(entry: Entry, before: Node | undefined): Node | undefined {
  const { id, type, parentId, timestamp } = entry
  if (type === "leaf") return { id: parentId, timestamp: before?.timestamp ?? timestamp }
  return isAnnotationType(type) || isAside(entry) ? before : { id, timestamp }
}

/** Keeps the ends of the branches. A `leaf` is none. */
function hang({ id, type, parentId }: Entry, tips: Set<string>, anchors: Map<string, string | null>): void {
  const anchor = parentId === null ? null : (anchors.get(parentId) ?? (anchors.has(parentId) ? null : parentId))
  if (type === "leaf" || isAnnotationType(type)) {
    anchors.set(id, anchor)
    return
  }
  if (anchor !== null) tips.delete(anchor)
  tips.add(id)
}

/** Keeps where each entry beside the conversation is. */
function place(entry: Entry, places: Map<string, string | null>): void {
  const { id, type, parentId } = entry
  if (type === "leaf" || isAnnotationType(type) || isAside(entry)) places.set(id, placeOf(parentId, places))
}

function placeOf(id: string | null, places: ReadonlyMap<string, string | null>): string | null {
  return id === null ? null : places.has(id) ? (places.get(id) ?? null) : id
}

/** The entry with the ids that its references have in the log. `id`: that of the file, if it has another one. */
function withIds(entry: Entry, renamed: ReadonlyMap<string, string>, id: string | undefined): Entry {
  if (renamed.size === 0) return entry
  const fields: Record<string, unknown> = { ...entry }
  for (const name of REFERENCES) {
    const other = renamed.get(fields[name] as string)
    if (other !== undefined) fields[name] = other
  }
  const field = sourceField(entry.type)
  if (id !== undefined) fields[field] = { ...fieldsOf(fields[field]), id }
  return fields as unknown as Entry
}

/** The entry that continues one: the last of the edits that completed entries behind it, or itself. */
function followed(id: string, edits: ReadonlyMap<string, string>): string {
  let last = id
  // In a damaged log two edits may have the same id, and lead back to themselves.
  const passed = new Set([id])
  for (let edit = edits.get(last); edit !== undefined && !passed.has(edit); edit = edits.get(last)) {
    passed.add(edit)
    last = edit
  }
  return last
}

function isEndOfFile(entry: Entry): boolean {
  return entry.type === "leaf" && linesOf(entry) === 0
}

function linesOf(entry: Entry): number {
  return readSource(entry)?.at.length ?? 0
}

function contentOf(entry: Entry): unknown {
  return fieldsOf(fieldsOf(entry)["message"])["content"] ?? null
}

/** Whether a content is another or goes on as it: a text begins the other's, of blocks the last one does, and a block lacks fields at most. */
function isBeginning(part: unknown, whole: unknown): boolean {
  if (typeof part === "string") return typeof whole === "string" && whole.startsWith(part)
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || part.length > whole.length) return false
    const last = part.length - 1
    return part.every((one, at) => jsonOf(one) === jsonOf(whole[at]) || (at === last && isBeginning(one, whole[at])))
  }
  if (typeof part !== "object" || part === null) return part === whole
  const all = fieldsOf(whole)
  return Object.entries(part).every(([name, value]) => isBeginning(value, all[name]))
}

function isUnreadable(entry: Entry): entry is Entry & { readonly type: "custom" } {
  return entry.type === "custom" && entry.customType === UNREADABLE
}

function isAside(entry: Entry): boolean {
  return entry.type === "custom" || unknownRecordOf(entry) !== undefined
}

function isResult(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "toolResult"
}

/** What the agent said for the user, or what is no message. */
function isSide(entry: Entry): boolean {
  return (
    isAside(entry) || (entry.type === "message" && entry.message.role === "user" && entry.message.synthetic === true)
  )
}

function isPrompt(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "user" && entry.message.synthetic !== true
}

function editOf(
  entry: Entry,
  parentId: string,
  sources: ReadonlyMap<string, Source>,
  isTaken: (id: string) => boolean,
): Entry {
  const { id: targetId, timestamp } = entry
  const { content } = fieldsOf(fieldsOf(entry)["message"])
  const others = [...sources].filter(([id]) => id !== targetId)
  const completion: Completion = {
    at: [],
    entry,
    ...(others.length === 0 ? {} : { sources: Object.fromEntries(others) }),
  }
  const name = `${targetId}#${linesOf(entry)}-${jsonOf(content).length}`
  let id = name
  // Another content may have the same length.
  for (let n = 2; isTaken(id); n++) id = `${name}-${n}`
  return {
    type: "context_edit",
    id,
    parentId,
    seq: 0,
    timestamp,
    targetId,
    replacement: { content },
    source: completion,
  } as unknown as Entry
}

/** The id of what an entry has become whose id is taken by what it was. */
function otherId(entry: Entry): string {
  const content = entry.type === "custom" ? jsonOf(entry.data).length : entry.type
  return `${entry.id}#${readSource(entry)?.at.join("-") ?? ""}-${content}`
}

function replacedId(id: string): string {
  return `${id}#replaced`
}

function replacement({ id, timestamp }: Entry, end: Node | undefined): Entry {
  const fields = { id: replacedId(id), parentId: end?.id ?? null, seq: 0, timestamp, targetId: id }
  return { type: "tombstone", ...fields, source: replacedBy() } as unknown as Entry
}

function withSeqs(entry: Entry, seqOf: (id: string) => number | undefined): Entry {
  const fields: Record<string, unknown> = { ...entry }
  for (const [name, of] of HINTS) {
    const id = fields[of]
    if (fields[name] === undefined && name !== "targetSeq") continue
    const seq = typeof id === "string" ? seqOf(id) : undefined
    if (seq === undefined) delete fields[name]
    else if (fields[name] !== undefined || entry.type === "context_edit" || entry.type === "tombstone")
      fields[name] = seq
  }
  return fields as unknown as Entry
}

/** Fields that say where an entry is, beside its id. */
const HINTS = [
  ["firstKeptSeq", "firstKeptEntryId"],
  ["targetSeq", "targetId"],
] as const
