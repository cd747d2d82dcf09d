/**
 * What a model gets of a log: the messages in order, where a later event may take the place of some of them. A log of ours only grows: a
 * replacement of the beginning is a compaction, one of other messages edits them.
 */
import type { ContentBlock, Entry } from "@sessions/core"
import type { Payload } from "../base/log-builder.ts"
import { type Fields, isObject, numberOf, textOf } from "../base/values.ts"

interface Node {
  /** Of the event that is in this place now. */
  readonly seq: number
  /** The entry whose content it has. */
  readonly id: string
  readonly message: Fields
}

export class Surface {
  readonly #nodes: Node[] = []

  append(seq: number, { id }: Entry, message: Fields): void {
    this.#nodes.push({ seq, id, message })
  }

  /** The entries that an event becomes which takes the place of others; undefined if these are not among the messages. */
  replacedBy(seq: number, operation: unknown, message: Fields): Replacement | undefined {
    const range = rangeOf(operation)
    const from = this.#nodes.findIndex((node) => node.seq === range?.start)
    const to = this.#nodes.findIndex((node) => node.seq === range?.end)
    const first = this.#nodes[from]
    if (first === undefined || to < from) return undefined
    const before = this.#nodes.slice(0, from)
    const gone = this.#nodes.slice(from, to + 1)
    const place = (id: string): void => {
      this.#nodes.splice(from, gone.length, { seq, id, message })
    }
    if (message["role"] === "user" && before.every(isSystem) && !gone.some(isSystem)) {
      const summary = textOf(message["content"] as readonly ContentBlock[])
      const kept = this.#nodes[to + 1]?.id
      return { payloads: [compactionOf(summary, before, kept)], place }
    }
    const edits = gone.slice(1).map(({ id }) => ({ type: "context_edit", targetId: id, replacement: null }))
    const content = { type: "context_edit", targetId: first.id, replacement: { content: message["content"] } }
    return { payloads: [content, ...edits], place: () => place(first.id) }
  }
}

export interface Replacement {
  readonly payloads: readonly Payload[]
  /** `id`: of the first entry. */
  readonly place: (id: string) => void
}

function rangeOf(operation: unknown): { readonly start: number; readonly end: number } | undefined {
  if (!isObject(operation) || operation["op"] !== "replace") return undefined
  const start = numberOf(operation["start"] ?? operation["startSeq"])
  const end = numberOf(operation["end"] ?? operation["endSeq"])
  return start === undefined || end === undefined ? undefined : { start, end }
}

function isSystem({ message }: Node): boolean {
  return message["role"] === "system"
}

/** The instructions stay in force. `kept`: the first message that is kept; undefined if there is none. */
function compactionOf(summary: string, before: readonly Node[], kept: string | undefined): Payload {
  const system = before.map(({ id, message }) => ({ id, message }))
  return {
    type: "compaction",
    summary,
    ...(kept === undefined ? {} : { firstKeptEntryId: kept }),
    tokensBefore: 0,
    readFiles: [],
    modifiedFiles: [],
    ...(system.length === 0 ? {} : { system }),
  }
}
