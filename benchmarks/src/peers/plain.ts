import { appendFileSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { appendFile, readdir } from "node:fs/promises"
import { join } from "node:path"
import type { Message } from "@sessions/core"
import { listedSession } from "./conversation.ts"
import type { Peer } from "./peer.ts"

/** The simplest program: appends a line of JSON for each message, and reads the file as one text, split and parsed. */
export const plain: Peer = {
  name: "appendFile + JSON.parse",
  kind: "files",
  async open(folder, conversation) {
    const { kept } = conversation
    const messages = conversation.messages()
    if (kept !== undefined) throw new TypeError("It has no compaction.")
    mkdirSync(folder, { recursive: true })
    const file = join(folder, "session.jsonl")
    for (const message of messages) appendFileSync(file, `${JSON.stringify(message)}\n`)
    return async () => ({ messages: messagesOf(file).length })
  },
  async append(folder) {
    mkdirSync(folder, { recursive: true })
    const file = join(folder, "session.jsonl")
    return (message) => appendFile(file, `${JSON.stringify(message)}\n`)
  },
  async list(folder, count) {
    mkdirSync(folder, { recursive: true })
    for (let i = 0; i < count; i++) {
      for (const message of listedSession(i)) appendFileSync(join(folder, `${i}.jsonl`), `${JSON.stringify(message)}\n`)
    }
    return async () => {
      const rows = (await readdir(folder)).map((name) => {
        const file = join(folder, name)
        const messages = messagesOf(file)
        const [block] = messages.find(({ role }) => role === "user")?.content ?? []
        const { mtimeMs } = statSync(file)
        return {
          name,
          updatedAt: mtimeMs,
          messageCount: messages.length,
          firstPrompt: (block as { text: string }).text,
        }
      })
      rows.sort((a, b) => b.updatedAt - a.updatedAt)
      return { rows: rows.length, firstPrompt: rows[0]?.firstPrompt, messageCount: rows[0]?.messageCount }
    }
  },
}

function messagesOf(file: string): Message[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Message)
}
