/** A long session in files: 390 messages a MB, a branch, and the word `firstword` in its first message. */
import { createSessions, type NewEntry, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const MESSAGES_PER_MB = 390
const BATCH = 900

/** Writes the session `long` below `root`. Returns the number of its messages. */
export async function writeLongSession(
  root: string,
  megabytes: number,
): Promise<{ readonly sessions: Sessions; readonly messages: number }> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const session = await sessions.create({ id: "long", title: "A long session" })
  const first = await session.append({ type: "message", message: { role: "user", content: "the firstword of all" } })
  const aside: NewEntry = { type: "message", message: { role: "user", content: "a branch" } }
  await session.append(aside, { at: first.ids[0] as string })
  await session.branch(first.ids[0] as string)
  const messages = megabytes * MESSAGES_PER_MB
  for (let n = 0; n < messages; n += BATCH)
    await session.append(Array.from({ length: BATCH }, (_, index) => message(n + index)))
  await session.close()
  const bytes = (await sessions.storage.head("long"))?.bytes ?? 0
  console.log(`${(bytes / 1e6).toFixed(0)} MB, ${messages} messages`)
  return { sessions, messages }
}

/** A question, an answer with a call, and its result, in turn. */
function message(n: number): NewEntry {
  const text = `${n} ${"The quick brown fox jumps over the lazy dog. ".repeat(20 + (n % 60))}`
  switch (n % 3) {
    case 0:
      return { type: "message", message: { role: "user", content: text } }
    case 1:
      return {
        type: "message",
        message: {
          role: "assistant",
          provider: "anthropic",
          model: "claude-opus-4-5",
          usage: { input: 1_000 + n, output: 100 },
          content: [
            { type: "text", text },
            { type: "toolCall", id: `call-${n}`, name: "read", arguments: { path: `src/file-${n}.ts` } },
          ],
        },
      }
    default:
      return {
        type: "message",
        message: { role: "toolResult", toolCallId: `call-${n - 1}`, toolName: "read", isError: false, content: text },
      }
  }
}
