/** Replaces a model, so that the page works without one: it searches the notes and answers with one of them. */
import type { AssistantMessage, Message, ToolCallBlock } from "@sessions/core"
import type { Summarize } from "@sessions/core/compaction"
import { textOf } from "./messages.ts"
import type { Model } from "./model.ts"
import { NOTES } from "./notes.ts"
import { wait } from "./tools.ts"

/** About the speed of reading. */
const MS_A_WORD = 22

/** Small, so that a short conversation can be compacted. */
const WINDOW = 4_000

export const standIn: Model = {
  provider: "browser-agent",
  name: "stand-in",
  window: WINDOW,
  async answer({ messages, onText, signal }) {
    const asked = messages.findLastIndex(({ role }) => role === "user")
    const results = messages.slice(asked + 1).filter(({ role }) => role === "toolResult")
    const { text, call } = next(textOf(messages[asked]?.content), results)
    await stream(text, onText, signal)
    const content: AssistantMessage["content"] = [{ type: "text", text }, ...(call === undefined ? [] : [call])]
    return { content, stopReason: call === undefined ? "stop" : "toolUse" }
  },
  summarize: (request) => summarize(request),
}

interface Step {
  readonly text: string
  readonly call?: ToolCallBlock
}

function next(question: string, results: readonly Message[]): Step {
  const [found, note] = results.map(({ content }) => textOf(content))
  if (found === undefined) return { text: "Let me look that up.", call: toCall("search_notes", { query: question }) }
  const name = /^(\w+): /.exec(found)?.[1]
  if (name === undefined) return { text: DONT_KNOW }
  if (note === undefined) return { text: "One note fits best.", call: toCall("read_note", { name }) }
  return { text: note }
}

const DONT_KNOW = `I am a stand-in for a model and know only my notes. Ask me about:

${NOTES.map(({ title }) => `- ${title}`).join("\n")}

For a real model, give the address of one under **Model**.`

/** Streams by the clock and not by the timer, since timers of a tab in the background run once per second. */
async function stream(text: string, onText: (text: string) => void, signal: AbortSignal): Promise<void> {
  const words = text.match(/\S+\s*/g) ?? []
  const start = performance.now()
  for (let sent = 0; sent < words.length; ) {
    await wait(MS_A_WORD, signal)
    sent = Math.max(sent + 1, Math.floor((performance.now() - start) / MS_A_WORD))
    onText(words.slice(0, sent).join(""))
  }
}

/** Lists the questions and the last answer of the prompt, in the format that the prompt asks for. */
const summarize: Summarize = async ({ prompt, signal }) => {
  await wait(900, signal)
  const questions = firstLines(prompt, "User")
  const answers = firstLines(prompt, "Assistant")
  return [
    "## Goal",
    "To learn how this page keeps its sessions.",
    "## Constraints & Preferences",
    "- (none)",
    "## Progress",
    "### Done",
    ...questions.slice(-12).map((line) => `- [x] ${line}`),
    "### In Progress",
    "- (none)",
    "### Blocked",
    "- (none)",
    "## Key Decisions",
    "- (none)",
    "## Next Steps",
    "- Answer what is asked next",
    "## Critical Context",
    `- ${answers.at(-1) ?? "(none)"}`,
  ].join("\n")
}

function firstLines(prompt: string, speaker: string): string[] {
  const lines = prompt.matchAll(new RegExp(`^\\[${speaker}\\]: (.*)$`, "gm"))
  return Array.from(lines, ([, line = ""]) => line.slice(0, 120))
}

function toCall(name: string, args: Readonly<Record<string, unknown>>): ToolCallBlock {
  // Not crypto.randomUUID(), which exists only over https and on localhost.
  return { type: "toolCall", id: `call_${Math.random().toString(36).slice(2, 10)}`, name, arguments: args }
}
