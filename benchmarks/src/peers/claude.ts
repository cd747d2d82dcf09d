import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Message } from "@sessions/core"
import { listedSession } from "./conversation.ts"
import { importPeer } from "./install.ts"
import { type Peer, SUMMARY } from "./peer.ts"

interface Claude {
  readonly getSessionMessages: (id: string, o: { dir: string }) => Promise<readonly unknown[]>
  readonly listSessions: (o: { dir: string }) => Promise<readonly { readonly firstPrompt?: string }[]>
}

const NAME = "@anthropic-ai/claude-agent-sdk"

const home = join(tmpdir(), `sessions-bench-claude-${process.pid}`)
process.once("exit", () => rmSync(home, { recursive: true, force: true }))

/** The Claude Agent SDK's readers of the transcripts that its program writes. They cannot append. */
export const claude: Peer = {
  name: "claude-agent-sdk",
  kind: "files",
  async open(folder, conversation) {
    const { kept } = conversation
    const messages = conversation.messages()
    const { getSessionMessages } = await importPeer<Claude>(NAME)
    const lines: string[] = []
    let parentUuid: string | null = null
    const add = (body: object, linked = true): void => {
      const uuid = `00000000-0000-4000-8000-${String(lines.length).padStart(12, "0")}`
      const timestamp = new Date(Date.UTC(2026, 0, 1) + lines.length).toISOString()
      lines.push(JSON.stringify({ parentUuid: linked ? parentUuid : null, ...frame(0), ...body, uuid, timestamp }))
      parentUuid = uuid
    }
    const first = kept === undefined ? 0 : messages.length - kept
    for (const [index, message] of messages.entries()) {
      if (index === first && kept !== undefined) {
        add({ type: "system", subtype: "compact_boundary", content: "Conversation compacted", level: "info" }, false)
        add({ type: "user", isCompactSummary: true, message: { role: "user", content: SUMMARY } })
      }
      add(inItsWords(message))
    }
    const dir = place(folder)
    writeFileSync(join(dir.files, `${idOf(0)}.jsonl`), `${lines.join("\n")}\n`)
    return async () => ({ messages: (await getSessionMessages(idOf(0), { dir: dir.project })).length })
  },
  async list(folder, count) {
    const { listSessions } = await importPeer<Claude>(NAME)
    const dir = place(folder)
    for (let i = 0; i < count; i++) {
      const timestamp = new Date(Date.UTC(2026, 0, 1) + i).toISOString()
      const bodies = listedSession(i).map((message, index) => {
        const place = { parentUuid: index === 0 ? null : idOf(index - 1), uuid: idOf(index), timestamp }
        return JSON.stringify({ ...place, ...frame(i), ...inItsWords(message) })
      })
      writeFileSync(join(dir.files, `${idOf(i)}.jsonl`), `${bodies.join("\n")}\n`)
    }
    return async () => {
      const rows = await listSessions({ dir: dir.project })
      return { rows: rows.length, firstPrompt: rows[0]?.firstPrompt, messageCount: undefined }
    }
  },
}

function inItsWords(message: Message): object {
  if (message.role === "toolResult") {
    const { toolCallId, content } = message as { toolCallId: string; content: unknown }
    return {
      type: "user",
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: toolCallId, content }] },
    }
  }
  const content = (message.content ?? []).map((block) =>
    block.type === "toolCall"
      ? { type: "tool_use", id: block["id"], name: block["name"], input: block["arguments"] }
      : block,
  )
  return { type: message.role, message: { role: message.role, model: "claude-sonnet-4-5", content } }
}

function frame(index: number): object {
  return { isSidechain: false, userType: "external", cwd: "/project", sessionId: idOf(index), version: "2.1.240" }
}

function idOf(index: number): string {
  return `22222222-2222-4222-8222-${String(index).padStart(12, "0")}`
}

/** The SDK finds transcripts by the project's path in a folder of the user's home, or in `CLAUDE_CONFIG_DIR`. */
function place(folder: string): { readonly project: string; readonly files: string } {
  process.env["CLAUDE_CONFIG_DIR"] = home
  const project = `/${folder.replaceAll(/\W/g, "")}`
  const files = join(home, "projects", project.replaceAll("/", "-"))
  mkdirSync(files, { recursive: true })
  return { project, files }
}
