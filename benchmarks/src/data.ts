/** Deterministic data of realistic sizes. */
import type { NewEntry, Usage } from "@sessions/core"

/** Distinct file names: a summary lists the files that were read, so a name for each turn would make it as long as the history. */
const FILES = 200

/** A prompt, a call, its result, an answer: about 8 KB a turn, most of it the result. */
export function turn(index: number): NewEntry[] {
  const id = `call_${index}`
  const model = { provider: "acme", model: "acme-1", stopReason: "stop" }
  const before = PROMPT_TOKENS + TURN_TOKENS * index
  return [
    { type: "message", message: { role: "user", content: `${words(index, 40)}?` } },
    {
      type: "message",
      message: {
        role: "assistant",
        ...model,
        usage: usage(before + 50),
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
      message: {
        role: "assistant",
        ...model,
        usage: usage(before + 1_050),
        content: [{ type: "text", text: words(index + 1, 160) }],
      },
    },
  ]
}

/** The prompt of the program with its tools, and a turn of 1,100 words. */
const PROMPT_TOKENS = 2_000
const TURN_TOKENS = 1_250

/** As providers report: each request has all that was before it. */
function usage(input: number): Usage {
  return { input, output: 200, cacheRead: 0, cacheWrite: 0, totalTokens: input + 200 }
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

export function words(seed: number, count: number): string {
  const out: string[] = []
  for (let i = 0; i < count; i++) out.push(WORDS[(seed * 7 + i * i * 3 + i) % WORDS.length] as string)
  return out.join(" ")
}
