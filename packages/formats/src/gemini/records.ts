/**
 * The list of a file's messages as Gemini CLI's loader builds it: a record with an id that the list has replaces that message in its place,
 * `$rewindTo` removes messages, `$set.messages` replaces the list. The result are steps for a log that only grows, in which every message
 * has its last version.
 */
import type { SourceLine } from "../base/json-lines.ts"
import { type Fields, fieldsOf, isObject, jsonOf, stringOf } from "../base/values.ts"

/** A message while it is in the list. */
export interface ListedMessage {
  readonly id: string
  /** Its last version. */
  record: Fields
  /** The lines that it stands in; none if it is only in a list of messages. */
  readonly lines: { readonly at: number; readonly value: Fields }[]
}

export type Step =
  | { readonly kind: "message"; readonly message: ListedMessage }
  /** A line that is kept aside. */
  | { readonly kind: "line"; readonly line: SourceLine }
  | { readonly kind: "title"; readonly title: string }
  /** The list ends with this message, undefined: is empty, as the line says; undefined: as a line before this step says. */
  | { readonly kind: "cut"; readonly last: ListedMessage | undefined; readonly line?: SourceLine }
  /** No message of the list is in the new one. */
  | { readonly kind: "reset" }

export function stepsOf(lines: readonly SourceLine[]): readonly Step[] {
  const list = new MessageList()
  for (const line of lines) list.read(line)
  return list.steps
}

class MessageList {
  readonly steps: Step[] = []
  #list = new Map<string, ListedMessage>()
  #title: string | undefined

  /** In the order in which the loader asks for the kinds of a record. */
  read(line: SourceLine): void {
    const { value } = line
    if (value === undefined) this.steps.push({ kind: "line", line })
    else if (typeof value["$rewindTo"] === "string") this.#rewind(line, value["$rewindTo"])
    else if (typeof value["id"] === "string") this.#put(value["id"], value, line)
    else {
      this.steps.push({ kind: "line", line })
      const update = isObject(value["$set"]) ? value["$set"] : undefined
      if (update !== undefined && Array.isArray(update["messages"])) this.#replace(messagesOf(update))
      if (update === undefined) for (const [id, record] of messagesOf(value)) this.#put(id, record)
      this.#name(update ?? value)
    }
  }

  #put(id: string, record: Fields, line?: SourceLine): void {
    const lines = line?.value === undefined ? [] : [{ at: line.at, value: line.value }]
    const listed = this.#list.get(id)
    if (listed === undefined) {
      const message = { id, record, lines }
      this.#list.set(id, message)
      this.steps.push({ kind: "message", message })
    } else {
      listed.record = record
      listed.lines.push(...lines)
    }
  }

  #rewind(line: SourceLine, id: string): void {
    const listed = [...this.#list.values()]
    if (listed.length === 0) {
      this.steps.push({ kind: "line", line })
      return
    }
    const kept = Math.max(
      0,
      listed.findIndex((message) => message.id === id),
    )
    this.#keep(listed, kept)
    this.steps.push({ kind: "cut", last: listed[kept - 1], line })
  }

  /** Messages that begin both lists are kept as they are. */
  #replace(messages: readonly (readonly [id: string, record: Fields])[]): void {
    const listed = [...this.#list.values()]
    const isSame = (message: ListedMessage, i: number): boolean =>
      messages[i]?.[0] === message.id && jsonOf(messages[i][1]) === jsonOf(message.record)
    const other = listed.findIndex((message, i) => !isSame(message, i))
    const kept = other < 0 ? listed.length : other
    this.#keep(listed, kept)
    if (kept === 0 && listed.length > 0) this.steps.push({ kind: "reset" })
    else if (kept < listed.length) this.steps.push({ kind: "cut", last: listed[kept - 1] })
    for (const [id, record] of messages.slice(kept)) this.#put(id, record)
  }

  #keep(listed: readonly ListedMessage[], count: number): void {
    this.#list = new Map(listed.slice(0, count).map((message) => [message.id, message]))
  }

  /** The model's title of the session. */
  #name({ summary }: Fields): void {
    if (typeof summary !== "string" || summary === "" || summary === this.#title) return
    this.#title = summary
    this.steps.push({ kind: "title", title: summary })
  }
}

function messagesOf({ messages }: Fields): readonly (readonly [id: string, record: Fields])[] {
  if (!Array.isArray(messages)) return []
  return (messages as readonly unknown[]).flatMap((message) => {
    const id = stringOf(fieldsOf(message)["id"])
    return id === undefined ? [] : [[id, fieldsOf(message)] as const]
  })
}
