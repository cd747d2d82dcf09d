/** Logs as text, for content that the library would not write. */

export const TIME = "2026-01-02T03:04:05.000Z"

export type Json = Record<string, unknown>

export function header(id: string, more: Json = {}): string {
  return JSON.stringify({
    type: "session",
    format: "@sessions",
    version: 4,
    id,
    timestamp: TIME,
    cwd: "/project",
    ...more,
  })
}

/** A message line; without `more`, odd seqs are the user's and even seqs the assistant's. */
export function message(id: string, parentId: string | null, seq: number, text: string, more: Json = {}): string {
  const role = seq % 2 === 1 ? "user" : "assistant"
  return JSON.stringify({
    type: "message",
    id,
    parentId,
    seq,
    timestamp: TIME,
    message: { role, content: [{ type: "text", text }] },
    ...more,
  })
}

/** `count` messages `m1`, `m2`, … in a chain. */
export function chain(count: number, text: (seq: number) => string = (seq) => `text ${seq}`): string[] {
  return Array.from({ length: count }, (_, index) =>
    message(`m${index + 1}`, index === 0 ? null : `m${index}`, index + 1, text(index + 1)),
  )
}

export function jsonl(...lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("")
}

/** A valid session log. */
export function log(id: string, count = 3): string {
  return jsonl(header(id), ...chain(count))
}

/** The texts of messages. */
export function textsOf(messages: readonly { readonly message: { readonly content?: unknown } }[]): string[] {
  return messages.map(({ message: { content } }) =>
    ((content ?? []) as { text?: string }[]).map(({ text = "" }) => text).join(""),
  )
}
