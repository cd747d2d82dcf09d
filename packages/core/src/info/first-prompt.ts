/**
 * The first prompt: the first user message of a session, which a list shows in place of a title. If a tombstone or an edit removes it, the
 * log must be read for the one that takes over.
 */
import { replacementOf } from "../context/content.ts"
import { FIRST_PROMPT_UNITS } from "../format/limits.ts"
import type { Entry } from "../format/entry.ts"
import { isObject } from "../format/shape.ts"

export interface Prompt {
  /** "" if a later entry has the same id: references after that entry mean that entry. */
  readonly id: string
  readonly text: string
}

/** What a projection remembers of a log's prompts. */
export interface PromptProjection {
  readonly firstPrompt?: Prompt
  /** The log may have prompts after the first one. */
  readonly promptsMore?: true
  /** The text of an earlier prompt was edited away; another edit may bring one back. */
  readonly promptsHidden?: true
}

/** Whether an entry can change what is remembered. */
export function concernsPrompts({ firstPrompt, promptsMore }: PromptProjection, entry: Entry): boolean {
  const { id, type } = entry
  return (
    type === "tombstone" ||
    type === "context_edit" ||
    id === firstPrompt?.id ||
    (promptsMore !== true && isPrompt(entry))
  )
}

interface PromptText {
  text: string
  /** The prompt or edit whose text is in the blob store; `text` is unknown until it is read. */
  unread?: Entry | undefined
}

interface ListedPrompt extends PromptText {
  id: string
}

/** The prompts of a log while it is projected. Has all prompts of the entries that were added, and returns the first. */
export class PromptList {
  /** `undefined` for a deleted one. */
  readonly #list: (ListedPrompt | undefined)[]
  /** Positions of the prompts by id, as long as a reference means them. */
  readonly #targets: Map<string, number>
  readonly #more: boolean
  readonly #hidden: boolean
  /** An edit may have brought back a text that is not in the list. */
  #broughtBack = false

  constructor({ firstPrompt, promptsMore, promptsHidden }: PromptProjection = {}) {
    this.#list = firstPrompt === undefined ? [] : [{ ...firstPrompt }]
    this.#targets = new Map(firstPrompt === undefined || firstPrompt.id === "" ? [] : [[firstPrompt.id, 0]])
    this.#more = promptsMore === true
    this.#hidden = promptsHidden === true
  }

  add(entry: Entry): void {
    if (entry.type === "tombstone") this.#delete(entry["targetId"])
    else if (entry.type === "context_edit") this.#edit(entry)
    // Only now: references of this entry mean entries before it.
    this.#shadow(entry.id)
    if (!this.#more && isPrompt(entry)) this.#addPrompt(entry)
  }

  /** Stale if the first prompt cannot be determined from the entries that were added. */
  toProjection(): PromptProjection & { readonly stale?: "log" } {
    const { first, more, hidden } = this.#first()
    const isLost = this.#broughtBack || (first === undefined ? more : isUnread(first))
    return {
      ...(first && { firstPrompt: { id: first.id, text: copyOf(first.text) } }),
      ...(more && { promptsMore: true }),
      ...(hidden && { promptsHidden: true }),
      ...(isLost && { stale: "log" }),
    }
  }

  /** Reads the text of the first prompt if it is in the blob store. `restore` gives an entry with its blobs in place. */
  async readTexts(restore: (entry: Entry) => Promise<Entry>): Promise<void> {
    for (let { first } = this.#first(); first?.unread !== undefined; { first } = this.#first()) {
      first.text = promptText(contentOf(await restore(first.unread)))
      first.unread = undefined
    }
  }

  #first(): { readonly first?: ListedPrompt; readonly more: boolean; readonly hidden: boolean } {
    let hidden = this.#hidden
    for (const [place, prompt] of this.#list.entries()) {
      if (prompt === undefined) continue
      if (!isEmpty(prompt)) return { first: prompt, more: this.#more || place < this.#list.length - 1, hidden }
      hidden = true
    }
    return { more: this.#more, hidden }
  }

  /** A reference means the nearest earlier entry with its id. */
  #shadow(id: string): void {
    const place = this.#targets.get(id)
    if (place === undefined) return
    this.#targets.delete(id)
    const prompt = this.#list[place]
    if (prompt !== undefined) prompt.id = ""
  }

  #addPrompt(entry: Entry): void {
    const text = textOf(entry)
    if (isEmpty(text)) return
    this.#targets.set(entry.id, this.#list.length)
    this.#list.push({ id: entry.id, ...text })
  }

  #delete(targetId: unknown): void {
    const place = this.#targets.get(targetId as string)
    if (place === undefined) return
    this.#list[place] = undefined
    this.#targets.delete(targetId as string)
  }

  #edit(entry: Entry): void {
    if (replacementOf(entry) === undefined) return
    const prompt = this.#list[this.#targets.get(entry["targetId"] as string) ?? -1]
    const text = textOf(entry)
    if (prompt === undefined) this.#broughtBack ||= this.#hidden && !isEmpty(text)
    else Object.assign(prompt, text)
  }
}

function textOf(entry: Entry): PromptText {
  return isTextInBlob(entry) ? { text: "", unread: entry } : { text: promptText(contentOf(entry)), unread: undefined }
}

function isUnread({ unread }: PromptText): boolean {
  return unread !== undefined
}

function isEmpty({ text, unread }: PromptText): boolean {
  return text === "" && unread === undefined
}

/** Whether a text of the entry's content is in the blob store. */
function isTextInBlob(entry: Entry): boolean {
  const { blobs } = entry as { blobs?: unknown }
  return isObject(blobs) && Object.keys(blobs).some((pointer) => /\/content(?:\/\d+\/text)?$/.test(pointer))
}

/** Whether an entry is a user message that neither the program nor a summary made. */
function isPrompt(entry: Entry): boolean {
  if (entry.type !== "message") return false
  const message = entry["message"]
  return isObject(message) && message["role"] === "user" && message["synthetic"] !== true && message["summary"] !== true
}

/** The content of a message, or the one that an edit puts in place of it. */
function contentOf(entry: Entry): unknown {
  const holder = entry.type === "context_edit" ? entry["replacement"] : entry["message"]
  return isObject(holder) ? holder["content"] : undefined
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

/** A copy, because a slice keeps the whole prompt in memory, and makes the JSON that each append stores cost 1.6 us instead of 0.8 */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string
}
