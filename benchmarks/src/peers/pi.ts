import { appendFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Message } from "@sessions/core"
import { listedSession } from "./conversation.ts"
import { importPeer } from "./install.ts"
import { type Peer, SUMMARY } from "./peer.ts"

interface Pi {
  readonly SessionManager: {
    create(cwd: string, folder: string): Manager
    open(path: string, folder?: string): Manager
    list(
      cwd: string,
      folder: string,
    ): Promise<readonly { readonly firstMessage: string; readonly messageCount: number }[]>
  }
}
interface Manager {
  appendMessage(message: unknown): string
  buildSessionContext(): { readonly messages: readonly unknown[] }
}

const NAME = "@earendil-works/pi-coding-agent"

/** pi's SessionManager: synchronous, on files, without a sync to the disk. */
export const pi: Peer = {
  name: "pi",
  kind: "files",
  async open(folder, conversation) {
    const { kept } = conversation
    const messages = conversation.messages()
    const { SessionManager } = await importPeer<Pi>(NAME)
    const file = fileIn(folder, 0)
    writeFileSync(file, header(0))
    const line = (index: number, body: object): string =>
      `${JSON.stringify({ ...body, id: idOf(index), parentId: index === 0 ? null : idOf(index - 1), timestamp: stamp(index) })}\n`
    for (const [index, message] of messages.entries()) {
      appendFileSync(file, line(index, { type: "message", message: inItsWords(message, index) }))
    }
    if (kept !== undefined) {
      const firstKeptEntryId = idOf(messages.length - kept)
      const body = { type: "compaction", summary: SUMMARY, firstKeptEntryId, tokensBefore: 100_000 }
      appendFileSync(file, line(messages.length, body))
    }
    return async () => ({ messages: SessionManager.open(file, folder).buildSessionContext().messages.length })
  },
  async append(folder) {
    const { SessionManager } = await importPeer<Pi>(NAME)
    const manager = SessionManager.create("/project", folder)
    // It writes nothing before the first answer of the model.
    manager.appendMessage(inItsWords({ role: "assistant", content: [{ type: "text", text: "Hello." }] }, 0))
    let index = 1
    return async (message) => manager.appendMessage(inItsWords(message, index++))
  },
  async list(folder, count) {
    const { SessionManager } = await importPeer<Pi>(NAME)
    for (let i = 0; i < count; i++) {
      const entries = listedSession(i).map((message, index) =>
        JSON.stringify({
          type: "message",
          id: idOf(index),
          parentId: index === 0 ? null : idOf(index - 1),
          timestamp: stamp(i),
          message: inItsWords(message, i),
        }),
      )
      writeFileSync(fileIn(folder, i), `${header(i)}${entries.join("\n")}\n`)
    }
    return async () => {
      const rows = await SessionManager.list("/project", folder)
      return { rows: rows.length, firstPrompt: rows[0]?.firstMessage, messageCount: rows[0]?.messageCount }
    }
  },
}

function inItsWords(message: Message, index: number): object {
  const at = { timestamp: Date.UTC(2026, 0, 1) + index }
  if (message.role !== "assistant") return { ...message, ...at }
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 }
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 }
  return {
    ...message,
    api: "acme",
    provider: "acme",
    model: "acme-1",
    stopReason: "stop",
    ...at,
    usage: { ...usage, cost },
  }
}

function fileIn(folder: string, index: number): string {
  mkdirSync(folder, { recursive: true })
  return join(folder, `2026-01-01T00-00-00-000Z_${idOfSession(index)}.jsonl`)
}

function header(index: number): string {
  const body = { type: "session", version: 3, id: idOfSession(index), timestamp: stamp(index), cwd: "/project" }
  return `${JSON.stringify(body)}\n`
}

function idOfSession(index: number): string {
  return `019b0000-0000-7000-8000-${String(index).padStart(12, "0")}`
}

function stamp(index: number): string {
  return new Date(Date.UTC(2026, 0, 1) + index).toISOString()
}

function idOf(index: number): string {
  return index.toString(16).padStart(8, "0")
}
