/** A session with everything that the page shows, and one whose every field tries to run something in it. */
import type { NewEntry, Sessions } from "@sessions/core"

/** A red square of 8 by 8 pixels. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGO4oyGHFTEMLQkAnn9UAY2UL7AAAAAASUVORK5CYII="

export const MARKDOWN = `# Where the flag is set

The flag is set in **two** places, and *one* of them is \`dead\` code:

1. \`src/start.ts\`, when the program starts
2. the tests, which set it ~~never~~ always
   - by hand
   - from [the documentation](https://example.org/flags)

| file | line | note |
|---|---:|---|
| src/start.ts | 12 | reads \`FLAG\` |
| test/start.test.ts | 3 | writes it |

> It was removed once, and came back.

\`\`\`ts
export function start(flag: boolean): void {
  if (flag) console.log("a line of code that is long enough to be wrapped on a narrow screen, or else to be cut off")
}
\`\`\`
`

const TIME = Date.UTC(2026, 0, 5, 9, 30)

function at(minutes: number): string {
  return new Date(TIME + minutes * 60_000).toISOString()
}

const BY = { provider: "anthropic", model: "claude-opus-4-5" }

export interface SampleSession {
  readonly id: string
  readonly ids: Readonly<Record<"question" | "answer" | "result" | "left" | "compaction" | "last", string>>
}

/** Two branches, a compaction, a tool call with its result, an image, an edit, a deletion, a subagent. */
export async function sampleSession(sessions: Sessions, id = "sample"): Promise<SampleSession> {
  const session = await sessions.create({ id, cwd: "/project", title: "Find the flag", metadata: { branch: "main" } })
  const add = async (...entries: NewEntry[]): Promise<string> => (await session.append(entries)).ids.at(-1) as string
  await add({ type: "message", timestamp: at(0), message: { role: "system", content: "You help with code." } })
  const question = await add({
    type: "message",
    timestamp: at(0),
    message: { role: "user", content: "Where is the flag set?" },
  })
  await add({
    type: "message",
    timestamp: at(1),
    message: {
      role: "assistant",
      ...BY,
      usage: { input: 1_200, output: 85, cost: { total: 0.0123 } },
      content: [
        { type: "thinking", thinking: "I look for the word first." },
        { type: "text", text: "I look for it." },
        { type: "toolCall", id: "call-1", name: "search", arguments: { words: "FLAG", folder: "src" } },
      ],
    },
  })
  const result = await add({
    type: "message",
    timestamp: at(2),
    message: {
      role: "toolResult",
      toolCallId: "call-1",
      toolName: "search",
      isError: false,
      content: "src/start.ts:12: if (process.env.FLAG)",
    },
  })
  const answer = await add({
    type: "message",
    timestamp: at(3),
    message: { role: "assistant", ...BY, content: MARKDOWN, usage: { input: 1_400, output: 240 } },
  })
  const left = await add({
    type: "message",
    timestamp: at(4),
    message: { role: "user", content: "Remove it everywhere." },
  })
  await session.branch(answer)
  await session.label(answer, "found")
  await add({
    type: "message",
    timestamp: at(5),
    message: {
      role: "user",
      content: [
        { type: "text", text: "Here is a picture of it:" },
        { type: "image", mimeType: "image/png", data: PNG },
        { type: "file", path: "/project/notes.pdf", mimeType: "application/pdf", filename: "notes.pdf" },
      ],
    },
  })
  const first = await add({
    type: "message",
    timestamp: at(6),
    message: {
      role: "assistant",
      ...BY,
      content: [{ type: "toolCall", id: "call-2", name: "bash", arguments: { command: "npm test\nnpm run build" } }],
    },
  })
  await add({
    type: "message",
    timestamp: at(7),
    message: {
      role: "toolResult",
      toolCallId: "call-2",
      toolName: "bash",
      isError: true,
      content: Array.from({ length: 90 }, (_, line) => `line ${line + 1} of the output`).join("\n"),
    },
  })
  const compaction = await add({
    type: "compaction",
    timestamp: at(8),
    summary: "The user looks for a *flag*. It is set in `src/start.ts`.",
    firstKeptEntryId: first,
    tokensBefore: 5_400,
    readFiles: [],
    modifiedFiles: [],
  })
  await add({ type: "model_change", timestamp: at(8), provider: "openai", model: "gpt-5" })
  const wrong = await add({
    type: "message",
    timestamp: at(9),
    message: { role: "user", content: "This was a mistake." },
  })
  await session.tombstone(wrong)
  await session.edit(question, { content: "Where is FLAG set?" })
  const last = await add({
    type: "message",
    timestamp: at(10),
    message: { role: "assistant", provider: "openai", model: "gpt-5", content: "Done: the flag is gone." },
  })
  const child = await sessions.create({
    id: `${id}-agent`,
    kind: "subagent",
    title: "Look at the tests",
    parentSession: { id, entryId: first },
  })
  await child.append([
    { type: "message", timestamp: at(6), message: { role: "user", content: "Look at the tests." } },
    { type: "message", timestamp: at(7), message: { role: "assistant", content: "The tests are fine.", ...BY } },
  ])
  await child.close()
  await session.close()
  return { id, ids: { question, answer, result, left, compaction, last } }
}
