/** Deterministic data of realistic sizes. */
import type { NewEntry } from "@sessions/core"

/** Distinct file names: a summary lists the files that were read, so a name for each turn would make it as long as the history. */
const FILES = 200

/** A prompt, a call, its result, an answer: about 8 KB a turn, most of it the result. */
export function turn(index: number): NewEntry[] {
  const id = `call_${index}`
  const usage = { input: 1_000 + index, output: 200, cacheRead: 0, cacheWrite: 0, totalTokens: 1_200 + index }
  const model = { provider: "acme", model: "acme-1", usage, stopReason: "stop" }
  return [
    { type: "message", message: { role: "user", content: `${words(index, 40)}?` } },
    {
      type: "message",
      message: {
        role: "assistant",
        ...model,
        content: [{ type: "toolCall", id, name: "read", arguments: { path: `src/file-${index % FILES}.ts` } }],
      },
    },
    {
      type: "message",
      message: {
        role: "toolResult",
        toolCallId: id,
        toolName: "read",
        isError: false,
        content: [{ type: "text", text: words(index, 900) }],
      },
    },
    {
      type: "message",
      message: { role: "assistant", ...model, content: [{ type: "text", text: words(index + 1, 160) }] },
    },
  ]
}

/** A message whose line has about 2 KB. */
export function message(index: number): NewEntry {
  return { type: "message", message: { role: "user", content: [{ type: "text", text: words(index, 260) }] } }
}

const fixed = { id: "01J00000000000000000000000", parentId: "01J00000000000000000000000" }

/** The line of {@link message}, with its LF. */
export function lineOf(seq: number): string {
  const { type, ...payload } = message(seq)
  return `${JSON.stringify({ type, ...fixed, seq, timestamp: new Date().toISOString(), ...payload })}\n`
}

const WORDS =
  "the session log keeps every turn of an agent and opens at once from its end without reading history".split(" ")

function words(seed: number, count: number): string {
  const out: string[] = []
  for (let i = 0; i < count; i++) out.push(WORDS[(seed * 7 + i * i * 3 + i) % WORDS.length] as string)
  return out.join(" ")
}
