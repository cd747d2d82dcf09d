/**
 * The first thing the user said: what a picker shows of a session without a title. Of a log only the first few prompts are
 * remembered; a tombstone or an edit takes one away or changes it, and the next one stands in. Where none of those remembered is
 * left, only the log can tell. Pure.
 */
import { FIRST_PROMPT_UNITS } from "../format/limits.ts"
import type { Entry } from "../format/records.ts"
import { isObject } from "../format/shape.ts"

export interface Prompt {
  /** "" where a later entry has the same id: references mean that one from there on. */
  readonly id: string
  /** "" where an edit has taken the text away; a later edit may bring it back. */
  readonly text: string
}

/** What a fold remembers of a log's prompts. */
export interface PromptProjection {
  /** Oldest first. */
  readonly prompts: readonly Prompt[]
  /** There are prompts after the last one remembered. */
  readonly promptsMore?: true
  /** Prompts whose text was edited away were left out of the list: an edit may bring one of them back. */
  readonly promptsHidden?: true
  /** Only the log can tell which prompt is the first now. */
  readonly promptsLost?: true
}

/** How many prompts with a text are remembered, so that deleting one seldom means reading the log again. */
const PROMPTS_KEPT = 3
/** How many that an edit emptied are remembered among them. */
const HIDDEN_KEPT = 8

export function firstPromptOf({ prompts }: PromptProjection): string | undefined {
  return prompts.find(({ text }) => text !== "")?.text
}

/** What the next entry of the log makes of it; the same object where it changes nothing. */
export function projectPrompt(projection: PromptProjection, entry: Entry): PromptProjection {
  if (projection.promptsLost === true) return projection
  const concerns =
    entry.type === "tombstone" ||
    entry.type === "context_edit" ||
    (projection.promptsMore !== true && isPrompt(entry)) ||
    projection.prompts.some(({ id }) => id === entry.id)
  if (!concerns) return projection
  const list = new PromptList(projection)
  list.see(entry)
  return list.toProjection()
}

/** The prompts of a log while it is folded. Without an end to what it remembers until it is asked. */
export class PromptList {
  /** `undefined` for a deleted one. */
  readonly #list: ({ id: string; text: string } | undefined)[]
  /** Places of the prompts that a reference means. */
  readonly #targets: Map<string, number>
  readonly #more: boolean
  readonly #hidden: boolean
  #lost: boolean

  constructor(projection: PromptProjection = { prompts: [] }) {
    this.#list = projection.prompts.map((prompt) => ({ ...prompt }))
    this.#targets = new Map(projection.prompts.map(({ id }, place) => [id, place]))
    this.#targets.delete("")
    this.#more = projection.promptsMore === true
    this.#hidden = projection.promptsHidden === true
    this.#lost = projection.promptsLost === true
  }

  see(entry: Entry): void {
    if (entry.type === "tombstone") this.#delete(entry["targetId"])
    else if (entry.type === "context_edit") this.#edit(entry)
    // Only from here on: what this entry itself refers to stands before it.
    this.#shadow(entry.id)
    if (!this.#more && isPrompt(entry)) this.#add(entry)
  }

  toProjection(): PromptProjection {
    const prompts: Prompt[] = []
    let shown = 0
    let hidden = 0
    let more = this.#more
    let dropped = this.#hidden
    for (const prompt of this.#list) {
      if (prompt === undefined) continue
      if (shown === PROMPTS_KEPT) more = true
      else if (prompt.text === "" && hidden === HIDDEN_KEPT) dropped = true
      else {
        if (prompt.text === "") hidden++
        else shown++
        prompts.push({ id: prompt.id, text: copyOf(prompt.text) })
      }
    }
    return {
      prompts,
      ...(more ? { promptsMore: true } : {}),
      ...(dropped ? { promptsHidden: true } : {}),
      ...(this.#lost || (more && shown === 0) ? { promptsLost: true } : {}),
    }
  }

  /** A reference means the nearest entry before it that has the id. */
  #shadow(id: string): void {
    const place = this.#targets.get(id)
    if (place === undefined) return
    this.#targets.delete(id)
    const prompt = this.#list[place]
    if (prompt !== undefined) prompt.id = ""
  }

  #add(entry: Entry): void {
    const { content } = entry["message"] as { content?: unknown }
    if (isInBlob(entry)) this.#lost = true
    const text = promptText(content)
    if (text === "") return
    this.#targets.set(entry.id, this.#list.length)
    this.#list.push({ id: entry.id, text })
  }

  #delete(targetId: unknown): void {
    const place = this.#targets.get(targetId as string)
    if (place === undefined) return
    this.#list[place] = undefined
    this.#targets.delete(targetId as string)
  }

  #edit(entry: Entry): void {
    const { targetId, replacement } = entry as Readonly<Record<string, unknown>>
    const prompt = this.#list[this.#targets.get(targetId as string) ?? -1]
    const text = replacement === null ? "" : isObject(replacement) ? promptText(replacement["content"]) : undefined
    if (text === undefined) return
    if (prompt === undefined) this.#lost ||= this.#hidden && text !== ""
    else {
      prompt.text = text
      this.#lost ||= isInBlob(entry)
    }
  }
}

/** Whether an entry's text lies in the blob store, so that its line does not say what the user said. */
export function isInBlob(entry: Entry): boolean {
  const { blobs } = entry as { blobs?: unknown }
  return isObject(blobs) && Object.keys(blobs).some((pointer) => /\/content(?:\/\d+\/text)?$/.test(pointer))
}

/** Something a user said: not what the program made, nor a summary that stands in for what was said. */
export function isPrompt(entry: Entry): boolean {
  if (entry.type !== "message") return false
  const message = entry["message"]
  return isObject(message) && message["role"] === "user" && message["synthetic"] !== true && message["summary"] !== true
}

/** The start of the first text in a content. */
function promptText(content: unknown): string {
  if (typeof content === "string") return cut(content)
  if (!Array.isArray(content)) return ""
  for (const block of content as readonly unknown[]) {
    if (!isObject(block) || block["type"] !== "text" || typeof block["text"] !== "string") continue
    const text = cut(block["text"])
    if (text !== "") return text
  }
  return ""
}

/** Never inside a surrogate pair. */
function cut(text: string): string {
  const start = text.trim().slice(0, FIRST_PROMPT_UNITS)
  return start.length === FIRST_PROMPT_UNITS && /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start
}

/** A slice keeps all of the prompt in memory, and makes the information that goes with each append twice as slow to write. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
