/** The tools of the agent. They only read, so a call whose result was lost can be repeated. */
import type { ToolCallBlock, ToolResultMessage } from "@sessions/core"
import type { Tool } from "./model.ts"
import { NOTES } from "./notes.ts"

/** Long enough to be seen, and to close the tab during a call. */
const DURATION_MS = 350

export const TOOLS: readonly Tool[] = [
  {
    name: "search_notes",
    description:
      "Finds notes that match a question about this page. Returns one name and title per line, the best match first.",
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    async run({ query }, signal) {
      const words = new Set(
        text(query, "query")
          .toLowerCase()
          .match(/[a-z]+/g) ?? [],
      )
      await wait(DURATION_MS, signal)
      const found = NOTES.map((note) => ({ note, hits: note.about.filter((word) => words.has(word)).length }))
        .filter(({ hits }) => hits > 0)
        .sort((a, b) => b.hits - a.hits)
      if (found.length === 0) return `None. There are: ${NOTES.map(({ name }) => name).join(", ")}`
      return found.map(({ note }) => `${note.name}: ${note.title}`).join("\n")
    },
  },
  {
    name: "read_note",
    description: "Returns a note by its name.",
    parameters: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    async run({ name }, signal) {
      const wanted = text(name, "name")
      await wait(DURATION_MS, signal)
      const note = NOTES.find((note) => note.name === wanted)
      if (note === undefined) throw new Error(`There is no note "${wanted}".`)
      return note.text
    },
  },
]

/** A failed call has a result, too, so that the model sees the error. Rejects only if the signal has fired. */
export async function callTool(call: ToolCallBlock, signal: AbortSignal): Promise<ToolResultMessage> {
  const result = { role: "toolResult", toolCallId: call.id, toolName: call.name } as const
  const toContent = (text: string): ToolResultMessage["content"] => [{ type: "text", text }]
  try {
    const tool = TOOLS.find(({ name }) => name === call.name)
    if (tool === undefined) throw new Error(`There is no tool "${call.name}".`)
    return { ...result, isError: false, content: toContent(await tool.run(call.arguments, signal)) }
  } catch (error) {
    signal.throwIfAborted()
    return { ...result, isError: true, content: toContent(error instanceof Error ? error.message : String(error)) }
  }
}

export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const stop = (): void => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop)
      resolve()
    }, ms)
    signal.addEventListener("abort", stop, { once: true })
  })
}

function text(value: unknown, name: string): string {
  if (typeof value === "string") return value
  throw new Error(`The argument "${name}" must be a text.`)
}
