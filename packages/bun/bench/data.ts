/** Lines of about 2 KB, as sessions have them. */

export const contents: Readonly<Record<string, (seq: number) => unknown>> = {
  "prose, all ASCII": (seq) => [{ type: "text", text: words(seq, 330) }],
  "tool calls, all ASCII": (seq) => [
    { type: "toolCall", id: `call_${seq}`, name: "edit", arguments: { edits: edits(seq) } },
  ],
  "prose, `…` in one line of ten": (seq) => [{ type: "text", text: `${seq % 10 === 0 ? "… " : ""}${words(seq, 330)}` }],
  "prose, `ü` in every line": (seq) => [{ type: "text", text: `grüße ${words(seq, 325)}` }],
  "prose, mostly Chinese": (seq) => [{ type: "text", text: "会话日志保存每一轮".repeat(60) + words(seq, 60) }],
}

export function lineOf(content: (seq: number) => unknown, seq: number): string {
  const [id, parentId] = [`01J00000000000000000${seq}`, `01J00000000000000000${seq - 1}`]
  const message = { role: "assistant", content: content(seq) }
  return JSON.stringify({ type: "message", id, parentId, seq, timestamp: new Date(seq).toISOString(), message })
}

const WORDS =
  "the session log keeps every turn of an agent and opens at once from its end without reading history".split(" ")

function words(seed: number, count: number): string {
  const chosen = Array.from({ length: count }, (_, i) => WORDS[(seed * 7 + i * i * 3 + i) % WORDS.length])
  return chosen.join(" ")
}

function edits(seed: number): unknown {
  return Array.from({ length: 24 }, (_, i) => ({
    path: `src/file-${i}.ts`,
    line: i,
    old: words(i, 3),
    new: words(seed, 3),
  }))
}
