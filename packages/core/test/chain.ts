/** Small logs for tests of one rule: each entry's parent is the one before it, unless it has another. */
import type { Entry } from "../src/format/entry.ts"
import type { EntrySlot } from "../src/log/entry-log.ts"

type Fields = Readonly<Record<string, unknown>>

/** Slots from seq 0 on, including the header's. Ids are `e` and the seq, or as given; undefined is an invalid line. */
export function chain(...payloads: readonly (Fields | undefined)[]): EntrySlot[] {
  let parentId: string | null = null
  return [
    undefined,
    ...payloads.map((payload, index): EntrySlot => {
      if (payload === undefined) return undefined
      const seq = index + 1
      const entry = { id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z", ...payload }
      parentId = entry.id
      return entry as unknown as Entry
    }),
  ]
}

/** The lines of such a log. */
export function linesOf(slots: readonly EntrySlot[], header: Fields): string[] {
  return slots.map((slot, seq) =>
    seq === 0 ? JSON.stringify(header) : slot === undefined ? "not JSON" : JSON.stringify(slot),
  )
}

export function user(text: string, more: Fields = {}): Fields {
  return { type: "message", message: { role: "user", content: [{ type: "text", text }] }, ...more }
}

export function assistant(text: string, message: Fields = {}): Fields {
  return { type: "message", message: { role: "assistant", content: [{ type: "text", text }], ...message } }
}

export function role(name: string, message: Fields = {}): Fields {
  return { type: "message", message: { role: name, ...message } }
}

export function compaction(firstKeptEntryId: string | undefined, more: Fields = {}): Fields {
  const kept = firstKeptEntryId === undefined ? {} : { firstKeptEntryId }
  return { type: "compaction", summary: "so far", ...kept, tokensBefore: 9, readFiles: [], modifiedFiles: [], ...more }
}

export function tombstone(targetId: string, more: Fields = {}): Fields {
  return { type: "tombstone", targetId, ...more }
}

export function edit(targetId: string, text: string | null, more: Fields = {}): Fields {
  const replacement = text === null ? null : { content: [{ type: "text", text }] }
  return { type: "context_edit", targetId, replacement, ...more }
}

/** The first text of each message; summaries and synthesized messages by their text. */
export function textsOf(messages: readonly { readonly message: object }[]): string[] {
  return messages.map(({ message }) => {
    const { content, summaryText } = message as { content?: readonly { text?: string }[]; summaryText?: string }
    return summaryText ?? content?.[0]?.text ?? ""
  })
}
