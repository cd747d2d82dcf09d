/**
 * Writes a session as a log of pi, version 3. Such a log is a tree like ours, and pi goes on at its last line. Entries keep their ids and
 * parents; those that pi does not have are left out, and their children continue the entry before them.
 */
import type { Entry, Header } from "@sessions/core"
import { isAnnotationType } from "@sessions/core/format"
import { readSource } from "../base/codec.ts"
import type { SessionToWrite, WriteOptions } from "../base/format.ts"
import { uuidOf } from "../base/ids.ts"
import { lostAside, lostResult } from "../base/lost.ts"
import { Losses } from "../base/losses.ts"
import { modelMessagesOf } from "../base/model-messages.ts"
import { type Fields, fieldsOf } from "../base/values.ts"
import { lineOf } from "../base/written-lines.ts"
import { type Edit, indexLog, type LogIndex } from "../base/written-path.ts"
import { type Answers, answersOf, NO_ANSWERS } from "./answers.ts"
import { PiMessages } from "./messages.ts"

const VERSION = 3

export async function* write(session: SessionToWrite, o: WriteOptions = {}): AsyncIterable<string> {
  const index = await indexLog(session)
  const losses = new Losses()
  const isOwn = isOfPi(session.header)
  const branches = o.branches ?? (isOwn ? "all" : "path")
  if (branches === "path") {
    losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  }
  const answers = branches === "path" ? await answersOf(session, index) : NO_ANSWERS
  const writer = new Writer(index, losses, answers, isOwn)
  yield lineOf(await headerOf(session.header, o))
  for await (const entry of session.entries()) {
    const isWritten = branches === "all" ? !index.isDeleted(entry.seq) : index.isWritten(entry.seq)
    const text = writer.linesOf(entry, isWritten).map(lineOf).join("")
    if (text !== "") yield text
  }
  const end = writer.end()
  if (end !== undefined) yield lineOf(end)
  losses.report(o)
}

function isOfPi({ origin }: Header): boolean {
  return origin?.format === "pi"
}

async function headerOf({ id, timestamp, cwd, origin, parentSession }: Header, o: WriteOptions): Promise<Fields> {
  const ownId = origin?.format === "pi" ? origin.id : undefined
  const ref = fieldsOf(parentSession)["ref"]
  return {
    type: "session",
    version: VERSION,
    id: o.id ?? ownId ?? (await uuidOf(id)),
    timestamp,
    cwd: o.cwd ?? cwd ?? "/",
    ...(typeof ref === "string" ? { parentSession: ref } : {}),
  }
}

/** What became of an entry. */
interface Place {
  /** The entry's last line, or that of the entry that its children continue; null at the root. */
  readonly id: string | null
  readonly parent: Place | undefined
  readonly seq: number
  /** The ids of the calls whose results pi takes here: those of the last assistant message, unless a user's message is behind it. */
  readonly calls: ReadonlySet<unknown>
  /** The seq and the first line of an entry that a compaction may keep from. */
  readonly kept?: { readonly seq: number; readonly id: string }
}

class Writer {
  readonly #index: LogIndex
  readonly #losses: Losses
  readonly #messages: PiMessages
  readonly #answers: Answers
  readonly #places = new Map<number, Place>()
  readonly #ids = new Set<string>()
  #last: Entry | undefined
  #lastId: string | null = null
  #hasUserTitle = false

  constructor(index: LogIndex, losses: Losses, answers: Answers, isOwn: boolean) {
    this.#index = index
    this.#losses = losses
    this.#answers = answers
    this.#messages = new PiMessages(losses, isOwn)
  }

  linesOf(entry: Entry, isWritten: boolean): readonly Fields[] {
    const parent = this.#parentOf(entry)
    const lines: Fields[] = []
    const isReset = entry.type === "reset_boundary" && isWritten
    const start = isReset ? null : (parent?.id ?? null)
    for (const part of isWritten ? this.#inPlace(entry) : []) {
      for (const payload of this.#payloads(part, this.#index.editOf(part.seq), parent)) {
        const id = this.#newId(part.id)
        const parentId = (lines.at(-1)?.["id"] as string | undefined) ?? start
        const { type, ...rest } = payload
        lines.push({ type, id, parentId, timestamp: part.timestamp, ...rest })
      }
    }
    const [first, last] = [lines[0]?.["id"] as string | undefined, lines.at(-1)?.["id"] as string | undefined]
    const isKept = first !== undefined && !isAnnotationType(entry.type)
    this.#places.set(entry.seq, {
      id: last ?? start,
      seq: entry.seq,
      calls: this.#callsAfter(lines, (isReset ? undefined : parent?.calls) ?? NO_CALLS),
      // Behind a reset, pi finds nothing of what is before it.
      parent: isReset ? undefined : parent,
      ...(isKept ? { kept: { seq: entry.seq, id: first } } : {}),
    })
    this.#last = entry
    if (last !== undefined) this.#lastId = last
    return lines
  }

  /** What is written in the place of an entry: itself, and the results of its calls that come later. */
  #inPlace(entry: Entry): readonly Entry[] {
    if (this.#answers.isMoved(entry.seq)) return []
    if (!this.#answers.isRepeated(entry.seq)) return [entry, ...this.#answers.behind(entry.seq)]
    lostResult(this.#losses)
    return []
  }

  /** Counts the results that pi sends twice. */
  #callsAfter(lines: readonly Fields[], before: ReadonlySet<unknown>): ReadonlySet<unknown> {
    let calls = before
    for (const { type, message } of lines) {
      const { role, toolCallId, content } = fieldsOf(message)
      if (role === "toolResult") {
        if (!calls.has(toolCallId)) this.#lost("late", LATE)
      } else if (role === "assistant") calls = new Set((content as readonly Fields[]).map(({ id }) => id))
      else if (type === "message" || type === "custom_message" || type === "branch_summary") calls = NO_CALLS
    }
    return calls
  }

  /** A line below the leaf, if the file ends in another branch or the session at the root. */
  end(): Fields | undefined {
    if (this.#last === undefined) return undefined
    const leaf = this.#index.leafId === null ? null : (this.#places.get(this.#last.seq)?.id ?? null)
    if (leaf === this.#lastId) return undefined
    const { timestamp } = this.#last
    return { type: "custom", id: this.#newId("leaf"), parentId: leaf, timestamp, customType: "sessions/leaf" }
  }

  #parentOf({ parentId, seq }: Entry): Place | undefined {
    if (parentId === null) return undefined
    // A parent that is missing is bridged, as core does it.
    const found = this.#index.find(parentId, seq) ?? this.#last?.seq
    return found === undefined ? undefined : this.#places.get(found)
  }

  #newId(wanted: string): string {
    let id = wanted
    for (let n = 2; this.#ids.has(id); n++) id = `${wanted}:${n}`
    this.#ids.add(id)
    return id
  }

  #payloads(entry: Entry, edit: Edit | undefined, parent: Place | undefined): readonly Fields[] {
    if (edit !== undefined) this.#lost("edits", "entries are written with their edited contents only")
    if (edit?.content === null) return []
    switch (entry.type) {
      case "message":
        return this.#message(entry, edit)
      case "custom_message": {
        const { customType, display, details } = entry
        const content = this.#messages.content(edit?.content ?? entry.content)
        const more = details === undefined ? {} : { details }
        return [{ type: "custom_message", customType, content, display, ...more }]
      }
      case "branch_summary": {
        if (edit !== undefined) return this.#shown(entry, edit)
        const { fromId, summary, details, fromExtension } = entry
        return [{ type: "branch_summary", fromId, summary, ...hooked(details, fromExtension) }]
      }
      case "compaction": {
        const { summary, tokensBefore, readFiles, modifiedFiles, details, fromExtension } = entry
        const firstKeptEntryId = this.#firstKept(entry, parent) ?? entry.id
        const more = hooked(details ?? { readFiles, modifiedFiles }, fromExtension)
        return [{ type: "compaction", summary, firstKeptEntryId, tokensBefore, ...more }]
      }
      case "reset_boundary": {
        // The context begins at a new root, with the settings that were in force.
        const { thinkingLevel = "off", models } = entry.state ?? {}
        const model = models?.["default"]
        return [
          { type: "thinking_level_change", thinkingLevel },
          ...(model === undefined ? [] : [{ type: "model_change", provider: model.provider, modelId: model.model }]),
        ]
      }
      case "model_change":
        if (entry.role !== undefined && entry.role !== "default") return this.#lost("settings", SETTINGS)
        return [{ type: "model_change", provider: entry.provider, modelId: entry.model }]
      case "thinking_level_change":
        return [{ type: "thinking_level_change", thinkingLevel: entry.thinkingLevel }]
      case "label":
        return this.#label(entry)
      case "title_change":
        if (this.#hasUserTitle && entry.source === "auto") return []
        this.#hasUserTitle = entry.source === "user" && entry.title !== null
        return [{ type: "session_info", name: entry.title ?? "" }]
      case "custom":
        // Lines of another agent's file mean nothing to pi.
        if (readSource(entry) !== undefined) return this.#lostAside(entry)
        return [
          { type: "custom", customType: entry.customType, ...(entry.data === undefined ? {} : { data: entry.data }) },
        ]
      case "leaf":
      case "tombstone":
      case "context_edit":
        return []
      default:
        return this.#lostAside(entry)
    }
  }

  #message(entry: Entry & { readonly type: "message" }, edit: Edit | undefined): readonly Fields[] {
    const { message } = entry
    if (!OWN_ROLES.has(message.role) || (edit !== undefined && message.role === "bashExecution"))
      return this.#shown(entry, edit)
    const written = this.#messages.of(
      edit?.content == null ? message : { ...message, content: edit.content },
      Date.parse(entry.timestamp) || 0,
    )
    return written === undefined ? [] : [{ type: "message", message: written }]
  }

  /** What a model gets of an entry that pi does not have. */
  #shown(entry: Entry, edit: Edit | undefined): readonly Fields[] {
    return modelMessagesOf(entry, edit?.content ?? undefined).map(({ content }) => ({
      type: "custom_message",
      customType: `sessions/${entry.type === "message" ? entry.message.role : entry.type}`,
      content: this.#messages.content(content),
      display: true,
    }))
  }

  #label(entry: Entry & { readonly type: "label" }): readonly Fields[] {
    const target = this.#index.find(entry.targetId, entry.seq)
    const kept = target === undefined ? undefined : this.#places.get(target)?.kept
    if (kept === undefined) return this.#lostAside(entry)
    return [{ type: "label", targetId: kept.id, ...(entry.label === undefined ? {} : { label: entry.label }) }]
  }

  /** The first line of what a compaction keeps: pi keeps nothing if that line is not on the path. */
  #firstKept(entry: Entry & { readonly type: "compaction" }, parent: Place | undefined): string | undefined {
    if (entry.firstKeptEntryId === entry.id) return undefined
    const first = this.#index.find(entry.firstKeptEntryId, entry.seq)
    if (first === undefined) return undefined
    let id: string | undefined
    for (let place = parent; place !== undefined; place = place.parent) {
      if (place.seq < first) break
      id = place.kept?.id ?? id
      if (place.seq === first) return id
    }
    // It is on another branch: core keeps nothing then.
    return undefined
  }

  #lostAside(entry: Entry): readonly [] {
    lostAside(entry, this.#losses)
    return []
  }

  #lost(what: string, name: string): readonly [] {
    this.#losses.add(what, 1, (n) => `${n} ${name}.`)
    return []
  }
}

const NO_CALLS: ReadonlySet<unknown> = new Set()
const LATE =
  'tool results come after another message: pi sends "No result provided" for their calls, and then these results too'
const SETTINGS = "changes of settings that pi does not have are not in the file"

/** `system` is here because it is left out: nothing takes its place. */
const OWN_ROLES: ReadonlySet<string> = new Set(["user", "assistant", "toolResult", "bashExecution", "system"])

function hooked(details: unknown, fromExtension: boolean | undefined): Fields {
  return {
    ...(details === undefined ? {} : { details }),
    ...(fromExtension === undefined ? {} : { fromHook: fromExtension }),
  }
}
