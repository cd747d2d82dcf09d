/** Takes the place of a model, so that the page works without any: it looks into the notes and says what stands there. */
import type { AssistantMessage, Message, Summarize, ToolCallBlock } from "@sessions/core"
import { textOf } from "./messages.ts"
import type { Model } from "./model.ts"
import { NOTES } from "./notes.ts"
import { wait } from "./tools.ts"

/** As fast as people read. */
const MS_A_WORD = 22

/** Small, so that a short conversation has something to compact. */
const WINDOW = 4_000

export const standIn: Model = {
  provider: "browser-agent",
  name: "stand-in",
  window: WINDOW,
  async answer({ messages, onText, signal }) {
    const asked = messages.findLastIndex(({ role }) => role === "user")
    const results = messages.slice(asked + 1).filter(({ role }) => role === "toolResult")
    const { text, call } = next(textOf(messages[asked]?.content), results)
    await say(text, onText, signal)
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

/** By the clock, not by the tick: a tab in the background gets one a second. */
async function say(text: string, onText: (text: string) => void, signal: AbortSignal): Promise<void> {
  const words = text.match(/\S+\s*/g) ?? []
  const start = performance.now()
  for (let said = 0; said < words.length; ) {
    await wait(MS_A_WORD, signal)
    said = Math.max(said + 1, Math.floor((performance.now() - start) / MS_A_WORD))
    onText(words.slice(0, said).join(""))
  }
}

/** Picks what was asked and said last out of the prompt, in the form that the prompt asks for. */
const summarize: Summarize = async ({ prompt, signal }) => {
  await wait(900, signal)
  const asked = firstLines(prompt, "User")
  const said = firstLines(prompt, "Assistant")
  return [
    "## Goal",
    "To learn how this page keeps its sessions.",
    "## Constraints & Preferences",
    "- (none)",
    "## Progress",
    "### Done",
    ...asked.slice(-12).map((line) => `- [x] ${line}`),
    "### In Progress",
    "- (none)",
    "### Blocked",
    "- (none)",
    "## Key Decisions",
    "- (none)",
    "## Next Steps",
    "- Answer what is asked next",
    "## Critical Context",
    `- ${said.at(-1) ?? "(none)"}`,
  ].join("\n")
}

function firstLines(prompt: string, speaker: string): string[] {
  const lines = prompt.matchAll(new RegExp(`^\\[${speaker}\\]: (.*)$`, "gm"))
  return Array.from(lines, ([, line = ""]) => line.slice(0, 120))
}

function toCall(name: string, args: Readonly<Record<string, unknown>>): ToolCallBlock {
  // Not crypto.randomUUID(), which pages have only over https and on localhost.
  return { type: "toolCall", id: `call_${Math.random().toString(36).slice(2, 10)}`, name, arguments: args }
}
