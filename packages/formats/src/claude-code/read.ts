/**
 * Reads a session file of Claude Code. A message of the API is several lines, and the results of its calls may be between them: such lines are
 * held until the message is complete. Everything else is one entry for one line. `docs/formats.md` has the table.
 */
import type { AssistantMessage, Entry, Header, UserMessage } from "@sessions/core"
import { isAnnotationType } from "@sessions/core/format"
import { sourceOf } from "../base/codec.ts"
import type { Format, Note, ReadOptions, ReadSource } from "../base/format.ts"
import { type JsonLine, readJsonLines, type SourceLine } from "../base/json-lines.ts"
import { noMessageError } from "../base/no-message.ts"
import { LogBuilder } from "../base/log-builder.ts"
import { type Fields, fieldsOf, numberOf, stringOf, textBlock, textOf, timestampOf } from "../base/values.ts"
import { blocksOf } from "./blocks.ts"
import {
  asideLine,
  assistantLine,
  compactionLines,
  type LineContext,
  QUEUE_OPERATION,
  relocatedLine,
  titleLine,
  userLine,
} from "./encode.ts"
import { FIRST_LINES, headerOfLines, isMainLine } from "./header.ts"
import { type Held, heldOf, hold, MAX_OTHERS } from "./held.ts"
import { keptOf } from "./kept.ts"
import {
  DUPLICATE,
  FORMAT_NAME,
  isAssistant,
  isBoundary,
  isLeaf,
  isSummary,
  isUser,
  messageIdOf,
  relocatedTo,
  titleOf,
  uuidOf,
} from "./lines.ts"
import { assistantOf, userOf } from "./messages.ts"
import { type Kept, LineIndex } from "./line-index.ts"
import { promptOf } from "./prompt.ts"
import { kindOfLine } from "./record-types.ts"
import { absorbedText, queuedText, sentMessageOf } from "./sent.ts"

export async function* read({ main, beside }: ReadSource, { note }: ReadOptions): ReturnType<Format["read"]> {
  const first: SourceLine[] = []
  let reader: Reader | undefined
  for await (const lines of readJsonLines(main, note)) {
    if (reader === undefined) {
      first.push(...lines)
      const main = first.findIndex(isMainLine)
      if (first.length < FIRST_LINES && main < 0) continue
      // Not all lines that are there: how many they are depends on the pieces.
      const count = main < 0 ? FIRST_LINES : Math.min(main + 1, FIRST_LINES)
      const header = await headerOfLines(first.slice(0, count), beside)
      yield header
      reader = new Reader(header, note)
      for (const line of first) reader.take(line)
    } else for (const line of lines) reader.take(line)
    yield reader.entries()
  }
  if (reader === undefined) {
    // Its header would be another one when the first message comes.
    if (first.every((line) => line.value === undefined || uuidOf(line) === undefined))
      throw noMessageError("Claude Code")
    const header = await headerOfLines(first, beside)
    yield header
    reader = new Reader(header, note)
    for (const line of first) reader.take(line)
  }
  reader.end()
  yield reader.entries()
}

/** A longer prompt is cut. */
const TITLE_UNITS = 200

/** The chain of the main conversation. Sidechains have the id of their agent or of their first line. */
const MAIN = ""

class Reader {
  readonly #log: LogBuilder<Kept>
  readonly #index: LineIndex
  readonly #note: Note
  readonly #repeated: Fields
  readonly #isSubagent: boolean
  /** By chain. */
  readonly #held = new Map<string, Held>()
  /** The chain of each held line of a sidechain, by its `uuid`: a file may have any number of these that are held at once. */
  readonly #heldIn = new Map<string, string>()
  /** The chain of each line of a sidechain without an agent's id. */
  readonly #sidechains = new Map<string, string>()
  #leafUuid: string | undefined
  /** Lines of prompts that the model got in the middle of a turn, until the line of an attachment shows that it has them, too. */
  #absorbed: { readonly line: JsonLine; readonly text: string }[] = []
  /** How many attachments have the text of a prompt whose line of the queue has not come. */
  readonly #attached = new Map<string, number>()
  /** The title that the agent's list would show, as far as it is known. */
  #title: { readonly isLast: boolean; readonly command?: string } = { isLast: false }
  #hasPrompt = false
  /** Ids of messages of the API whose usage was counted. */
  readonly #counted = new Set<string>()
  #out: Entry[] = []

  constructor(header: Header, note: Note) {
    this.#log = new LogBuilder(header, note, kindOfLine)
    this.#index = new LineIndex(this.#log)
    this.#note = note
    this.#repeated = fieldsOf(fieldsOf(header.origin)["repeated"])
    this.#isSubagent = header.kind === "subagent"
  }

  /** The entries that are complete since the last call. */
  entries(): readonly Entry[] {
    const entries = this.#out
    this.#out = []
    return entries
  }

  take(line: SourceLine): void {
    if (line.value === undefined) {
      const held = this.#held.get(MAIN)
      if (held === undefined) this.#out.push(this.#log.addUnreadable(line))
      else held.others.push(line)
      return
    }
    const uuid = uuidOf(line)
    const isKnown = uuid !== undefined && (this.#index.has(uuid) || this.#holderOf(uuid) !== undefined)
    const chain = this.#chainOf(line, uuid)
    const mayBeLeaf = (chain === MAIN || this.#isSubagent) && isLeaf(line)
    if (mayBeLeaf && !isKnown) this.#leafUuid = uuid
    this.#releaseParent(line, chain)
    const held = this.#held.get(chain)
    if (held !== undefined) {
      if (!isKnown && hold(held, line)) {
        this.#noteHeld(uuid, chain)
        if (held.others.length >= MAX_OTHERS) this.#release(chain)
        return
      }
      this.#release(chain, isSummary(line) ? line : undefined)
      if (held.isBoundary && isSummary(line)) return
    }
    if (uuid !== undefined && isKnown) {
      // The agent goes on at the last line that no other continues, also if it is a repeated one.
      if (mayBeLeaf && this.#isTip(uuid)) this.#leafUuid = uuid
      this.#out.push(this.#duplicate(line, uuid))
    } else if (isAssistant(line) || isBoundary(line)) {
      this.#held.set(chain, heldOf(line, uuid))
      this.#noteHeld(uuid, chain)
    } else this.#single(line)
  }

  #noteHeld(uuid: string | undefined, chain: string): void {
    if (uuid !== undefined && chain !== MAIN) this.#heldIn.set(uuid, chain)
  }

  /** The chain that holds this line. */
  #holderOf(uuid: string): string | undefined {
    return this.#held.get(MAIN)?.uuids.has(uuid) === true ? MAIN : this.#heldIn.get(uuid)
  }

  end(): void {
    for (const chain of this.#held.keys()) this.#release(chain)
    this.#sendAbsorbed()
    const leafUuid = this.#leafUuid
    const leafId = leafUuid === undefined ? null : this.#index.entryAfter(leafUuid)
    const end = leafId === null ? undefined : this.#log.end(leafId)
    if (end !== undefined) this.#out.push(end)
  }

  #chainOf({ value }: JsonLine, uuid: string | undefined): string {
    if (value["isSidechain"] !== true) return MAIN
    const agentId = stringOf(value["agentId"])
    if (agentId !== undefined) return this.#isSubagent ? MAIN : agentId
    const parentUuid = stringOf(value["parentUuid"])
    const chain = (parentUuid === undefined ? undefined : this.#sidechains.get(parentUuid)) ?? uuid ?? "sidechain"
    if (uuid !== undefined) this.#sidechains.set(uuid, chain)
    return chain
  }

  /** A line that continues a held one of another chain needs its entry. A boundary has no parent, and names the line that it continues. */
  #releaseParent({ value }: JsonLine, chain: string): void {
    // Mostly nothing else is held: to look for a text that was just parsed takes longer than the rest.
    if (this.#held.size === (this.#held.has(chain) ? 1 : 0)) return
    for (const parent of [value["parentUuid"], value["logicalParentUuid"]]) {
      const other = typeof parent === "string" ? this.#holderOf(parent) : undefined
      if (other !== undefined && other !== chain) this.#release(other)
    }
  }

  #release(chain: string, summary?: JsonLine): void {
    const held = this.#held.get(chain)
    this.#held.delete(chain)
    if (held === undefined) return
    if (chain !== MAIN) for (const uuid of held.uuids) this.#heldIn.delete(uuid)
    if (!held.isBoundary) this.#assistant(held)
    else if (summary === undefined) this.#single(held.lines[0] as JsonLine)
    else this.#compaction(held.lines[0] as JsonLine, summary)
    for (const line of held.others) {
      if (line.value === undefined) this.#out.push(this.#log.addUnreadable(line))
      else this.#single(line)
    }
  }

  #assistant({ lines, calls, results, sides }: Held): void {
    this.#sendAbsorbed()
    const { isLast, command } = this.#title
    if (!isLast && command !== undefined) this.#name(command)
    const values = lines.map(({ value }) => value)
    const { message: said, hint } = assistantOf(values)
    // A copy of a message, as a resumed session may have, was paid once.
    const messageId = messageIdOf(lines[0] as JsonLine)
    const message = messageId !== undefined && this.#isCounted(messageId) ? unpaid(said) : said
    const first = lines[0] as JsonLine
    const source = (entry: Entry, context: LineContext) => {
      const assistant = entry as Parameters<typeof assistantLine>[0]
      const encoded = values.map((_, i) =>
        assistantLine(assistant, i, values.length, values[i - 1]?.["uuid"], hint ?? {}, context),
      )
      const at = lines.map(({ at }) => at)
      return sourceOf(at, values, encoded, hint as Fields | undefined)
    }
    const entry = this.#add({ type: "message", message }, first, source)
    this.#index.add(entry, uuidOf(first), uuidOf(lines.at(-1) as JsonLine))
    this.#out.push(entry)
    let tail = entry.id
    const following = [...results, ...sides]
    for (const one of following) {
      for (const part of this.#user(one, calls, tail)) {
        tail = part.id
        this.#out.push(part)
      }
    }
    for (const line of lines) this.#index.addLine(uuidOf(line), entry.id)
    this.#index.setTail(entry.id, tail)
    for (const line of following) {
      const uuid = uuidOf(line)
      if (uuid !== undefined) this.#index.setTail(this.#index.entryOf(uuid), tail)
    }
  }

  /** Whether the usage of this message has been counted; it is from now on. */
  #isCounted(messageId: string): boolean {
    const { size } = this.#counted
    this.#counted.add(messageId)
    return this.#counted.size === size
  }

  /** The tool results of a user line, then the user's message if there is more. */
  #user(line: JsonLine, calls?: ReadonlyMap<string, string>, parentId?: string): readonly Entry[] {
    const { at, value } = line
    const { results, user, hint } = userOf(value, calls)
    const messages = user === undefined ? results : [...results, user]
    const entries: Entry[] = []
    const uuid = uuidOf(line)
    for (const [part, message] of messages.entries()) {
      const place = part === 0 ? { parentId } : { parentId: entries.at(-1)?.id, id: uuid && `${uuid}:${part}` }
      const source = (entry: Entry, context: LineContext) =>
        part === 0
          ? sourceOf([at], [value], [userLine(results, user, entry, hint ?? {}, context)], hint as Fields | undefined)
          : { at: [at], hint: { part } }
      const entry = this.#add({ type: "message", message }, line, source, place)
      this.#index.add(entry, part === 0 ? uuid : undefined, uuid)
      entries.push(entry)
    }
    const [first] = entries
    if (first !== undefined && entries.length > 1) this.#index.setTail(first.id, entries.at(-1)?.id ?? first.id)
    return entries
  }

  #compaction(boundary: JsonLine, summary: JsonLine): void {
    const { value } = boundary
    const logical = stringOf(value["logicalParentUuid"])
    const left = logical === undefined ? this.#log.leafId : this.#index.entryAfter(logical)
    const oldLeaf = left !== null && this.#log.has(left) ? left : this.#log.leafId
    const kept = keptOf(value, this.#log, oldLeaf, (uuid) => this.#index.entryOf(uuid))
    const text = textOf(blocksOf((summary.value["message"] as Fields)["content"]))
    const preTokens = numberOf(fieldsOf(value["compactMetadata"])["preTokens"]) ?? 0
    const lastKept = kept.from.findLast(({ isKept }) => isKept)?.id
    const isPrefix = kept.isPrefix && lastKept !== undefined
    const payload = isPrefix
      ? { type: "branch_summary", fromId: oldLeaf ?? "root", summary: text }
      : {
          type: "compaction",
          summary: text,
          firstKeptEntryId: kept.from[0]?.id ?? (value["uuid"] as string),
          tokensBefore: preTokens,
          readFiles: [],
          modifiedFiles: [],
        }
    const source = (entry: Entry, context: LineContext) => {
      const o = { ...context, summaryUuid: "", preTokens: isPrefix ? 0 : preTokens }
      return sourceOf([boundary.at, summary.at], [value, summary.value], compactionLines(entry, text, o))
    }
    const entry = this.#add(payload, boundary, source, { parentId: isPrefix ? lastKept : oldLeaf })
    this.#index.add(entry, uuidOf(boundary), uuidOf(summary))
    this.#index.addLine(uuidOf(summary), entry.id)
    this.#out.push(entry)
    let tail = entry.id
    if (!isPrefix) {
      for (const { id, isKept } of kept.from) {
        if (isKept) continue
        const edit = { type: "context_edit", targetId: id, replacement: null }
        const edited = this.#log.add(edit, { parentId: tail, timestamp: entry.timestamp, source: { at: [] } })
        this.#index.add(edited, undefined, undefined)
        tail = edited.id
        this.#out.push(edited)
      }
    }
    this.#index.setTail(entry.id, tail)
  }

  /** A line that is an entry of its own. */
  #single(line: JsonLine): void {
    if (this.#isAbsorbed(line)) return
    if (isUser(line)) {
      this.#sendAbsorbed()
      const entries = this.#user(line)
      this.#out.push(...entries)
      for (const { message } of entries as readonly (Entry & { readonly message: UserMessage })[])
        if (message.role === "user") this.#prompted(message, line)
    } else this.#out.push(this.#titled(line) ?? this.#moved(line) ?? this.#sent(line) ?? this.#custom(line))
  }

  /** The session was moved to another folder. */
  #moved(line: JsonLine): Entry | undefined {
    const value = relocatedTo(line)
    if (value === undefined) return undefined
    const { sessionId } = this.#repeated
    const source = () => sourceOf([line.at], [line.value], [relocatedLine(value, sessionId)])
    const entry = this.#add({ type: "metadata", key: "cwd", value }, line, source)
    this.#index.add(entry, uuidOf(line), undefined)
    return entry
  }

  /** What the model gets of a line that is no message. */
  #sent(line: JsonLine): Entry | undefined {
    const { at, value } = line
    const message = sentMessageOf(value)
    if (message === undefined) return undefined
    const aside = value["type"] as string
    const source = (entry: Entry, context: LineContext) =>
      sourceOf([at], [value], [asideLine(entry, aside, context)], { aside })
    const entry = this.#add({ type: "message", message }, line, source)
    this.#index.add(entry, uuidOf(line), uuidOf(line))
    return entry
  }

  /**
   * Whether the line says that the model got a prompt in the middle of a turn: then it waits for the attachment that has the prompt. Older
   * files have none.
   */
  #isAbsorbed(line: JsonLine): boolean {
    const attached = queuedText(line.value)
    if (attached !== undefined) {
      const found = this.#absorbed.findIndex(({ text }) => text === attached)
      const [known] = found < 0 ? [] : this.#absorbed.splice(found, 1)
      if (known === undefined) this.#attached.set(attached, (this.#attached.get(attached) ?? 0) + 1)
      else this.#out.push(this.#custom(known.line))
      return false
    }
    const text = absorbedText(line.value)
    if (text === undefined) return false
    const count = this.#attached.get(text) ?? 0
    if (count > 0) {
      this.#attached.set(text, count - 1)
      return false
    }
    this.#absorbed.push({ line, text })
    return true
  }

  #sendAbsorbed(): void {
    const absorbed = this.#absorbed
    if (absorbed.length > 0) this.#absorbed = []
    for (const { line, text } of absorbed) {
      const { at, value } = line
      const source = (entry: Entry, context: LineContext) =>
        sourceOf([at], [value], [asideLine(entry, QUEUE_OPERATION, context)], { aside: QUEUE_OPERATION })
      const message = { role: "user", content: [textBlock(text)] } as const
      const path = [...this.#log.pathTo(this.#log.leafId)]
      const parentId = path.find(({ type }) => !isAnnotationType(type))?.id ?? null
      const entry = this.#add({ type: "message", message }, line, source, { parentId })
      this.#index.add(entry, undefined, undefined)
      // What continues the line before it continues the prompt.
      if (parentId !== null) this.#index.setTail(parentId, entry.id)
      this.#out.push(entry)
      this.#prompted(message, line)
    }
  }

  /** The title of a session whose first prompt has tags of commands, or follows such messages, as the agent's list shows it. */
  #prompted(message: UserMessage, { value }: JsonLine): void {
    if (this.#title.isLast || message.synthetic === true || message.summary === true) return
    if (value["isSidechain"] === true && !this.#isSubagent) return
    const prompt = promptOf(message)
    const isFirst = !this.#hasPrompt
    this.#hasPrompt = true
    if (prompt === undefined) return
    if (prompt.isCommand) {
      this.#title = { isLast: false, command: this.#title.command ?? prompt.text }
      return
    }
    this.#title = { isLast: true }
    const [first, ...more] = message.content
    const isShown =
      isFirst && more.length === 0 && first?.type === "text" && stringOf(first.text)?.trim() === prompt.text
    if (!isShown) this.#name(prompt.text)
  }

  #name(text: string): void {
    const { command } = this.#title
    if (command !== undefined) this.#title = { isLast: false }
    const title = text.replaceAll(/\s+/g, " ").slice(0, TITLE_UNITS)
    if (title === "") return
    const entry = this.#log.add({ type: "title_change", title, source: "auto" }, { source: { at: [] } })
    this.#index.add(entry, undefined, undefined)
    this.#out.push(entry)
  }

  #titled(line: JsonLine): Entry | undefined {
    const found = titleOf(line)
    if (found === undefined) return undefined
    this.#title = { isLast: true }
    const { sessionId } = this.#repeated
    const source = () => sourceOf([line.at], [line.value], [titleLine(found.title, found.source, sessionId)])
    const entry = this.#add({ type: "title_change", ...found }, line, source)
    this.#index.add(entry, uuidOf(line), undefined)
    return entry
  }

  #custom(line: JsonLine): Entry {
    const { at, value } = line
    const customType = `${FORMAT_NAME}/${typeof value["type"] === "string" ? value["type"] : "line"}`
    const entry = this.#add({ type: "custom", customType, data: value }, line, () => ({ at: [at] }))
    this.#index.add(entry, uuidOf(line), uuidOf(line))
    return entry
  }

  /** Whether no line names this one, or another line of its entry, as its parent. */
  #isTip(uuid: string): boolean {
    const tail = this.#index.entryAfter(uuid)
    return this.#index.nativeOf(tail) === uuid && !this.#log.isContinued(tail)
  }

  /** A line whose `uuid` an earlier one has: the agent reads it as the same. */
  #duplicate(line: JsonLine, uuid: string): Entry {
    const { at, value } = line
    this.#note({ code: "duplicate_id", entryId: uuid, message: `Line ${at} has the uuid of an earlier line, ${uuid}.` })
    const payload = { type: "custom", customType: DUPLICATE, data: value }
    const entry = this.#log.add(payload, { timestamp: timestampOf(value["timestamp"]), source: { at: [at] } })
    this.#index.add(entry, undefined, undefined)
    return entry
  }

  #add(
    payload: Parameters<LogBuilder["add"]>[0],
    { at, value }: JsonLine,
    source: (entry: Entry, context: LineContext) => ReturnType<typeof sourceOf>,
    place: { readonly id?: string | undefined; readonly parentId?: string | null | undefined } = {},
  ): Entry {
    return this.#log.add(payload, {
      at,
      id: place.id ?? stringOf(value["uuid"]),
      parentId: place.parentId === undefined ? this.#parentOf(value) : place.parentId,
      timestamp: timestampOf(value["timestamp"]),
      source: (entry) => source(entry, { repeated: this.#repeated, parentUuid: this.#index.nativeOf(entry.parentId) }),
    })
  }

  /** Undefined: the entry continues the one before it. */
  #parentOf({ parentUuid }: Fields): string | null | undefined {
    if (parentUuid === null) return null
    return typeof parentUuid === "string" ? this.#index.entryAfter(parentUuid) : undefined
  }
}

function unpaid(message: AssistantMessage): AssistantMessage {
  const { usage: _, ...unpaid } = message
  return unpaid
}
