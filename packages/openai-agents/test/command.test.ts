/** The command and other programs see a session of the SDK as a conversation. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run } from "@sessions/cli"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createAgentSession, deleteAgentSession, listAgentSessions, logIdOf } from "@sessions/openai-agents"
import { afterEach, beforeEach, expect, test } from "vitest"

const TURN = [
  { type: "message", role: "user", content: "Where is Paris?" },
  { type: "reasoning", content: [{ type: "input_text", text: "A city." }] },
  { type: "function_call", callId: "c1", name: "look_up", arguments: '{"place":"Paris"}' },
  { type: "function_call", callId: "c2", name: "look_up", arguments: '{"place":"Lyon"}' },
  {
    type: "function_call_result",
    callId: "c1",
    name: "look_up",
    status: "completed",
    output: { type: "text", text: "found" },
  },
  { type: "function_call_result", callId: "c2", name: "look_up", status: "completed", output: "found too" },
  { type: "hosted_tool_call", name: "web_search", status: "completed" },
  {
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: "Paris is in France." }],
  },
]

let root = ""
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "openai-agents-"))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function command(...argv: string[]): Promise<string> {
  let text = ""
  const sink = { isTerminal: false, write: async (piece: string) => void (text += piece) }
  const none = (async function* () {})()
  const io = { stdout: sink, stderr: sink, stdin: none, cwd: root, env: {}, now: Date.now }
  const status = await run([...argv, "--store", root], io)
  expect(status, text).toBe(0)
  return text
}

test("list, show and grep have the conversation, and its title is the first question", async () => {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  await createAgentSession({ sessions, sessionId: "chat-42" }).addItems(TURN)
  await sessions.close()
  const id = await logIdOf("chat-42")
  expect(id).toBe("openai-agents.chat-42")
  const list = await command("list")
  expect(list).toContain("openai-agents")
  expect(list).toContain("Where is Paris?")
  const shown = await command("show", id)
  for (const text of ["Where is Paris?", "look_up", "found too", "Paris is in France."]) expect(shown).toContain(text)
  expect(shown).not.toContain("frame")
  expect(await command("grep", "France")).toContain("Paris is in France.")
})

test("the context has the messages alone, and needs no repair but the order of parallel calls", async () => {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  await createAgentSession({ sessions, sessionId: "s" }).addItems(TURN)
  const session = await sessions.open(await logIdOf("s"))
  const { messages } = await session.context()
  expect(messages.map(({ message }) => message.role)).toEqual([
    "user",
    "assistant",
    "assistant",
    "toolResult",
    "assistant",
    "toolResult",
    "assistant",
  ])
  expect(JSON.stringify(messages)).not.toContain("frame")
  await sessions.close()
})

test("lists have the sessions of this SDK alone, with their ids, whatever their characters", async () => {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const other = await sessions.create({ kind: "langgraph", id: "openai-agents.other" })
  await other.append({ type: "message", message: { role: "user", content: "other" } })
  await sessions.create({ entries: [{ type: "message", message: { role: "user", content: "a person's" } }] })
  const odd = ["__proto__", ".", "..", "a..b", ".a", "a-", " "]
  const ids = ["plain-1", "with / and ü", "x".repeat(300), "sha256-abc", ...odd]
  for (const sessionId of ids) {
    const session = createAgentSession({
      sessions,
      sessionId,
      metadata: { user: sessionId.length > 10 || odd.includes(sessionId) ? "ada" : "bob" },
    })
    expect(await session.getSessionId()).toBe(sessionId)
    await session.addItems([TURN[0] as object])
  }
  const { sessions: all } = await listAgentSessions(sessions)
  expect(all.map(({ sessionId }) => sessionId).sort()).toEqual([...ids].sort())
  const { sessions: found } = await listAgentSessions(sessions, { metadata: { user: "bob" } })
  expect(found.map(({ sessionId }) => sessionId).sort()).toEqual(["plain-1", "sha256-abc"])
  await expect(createAgentSession({ sessions, sessionId: "other" }).getItems()).rejects.toMatchObject({
    code: "invalid",
  })
  expect(await deleteAgentSession(sessions, "plain-1")).toBe(true)
  expect(await deleteAgentSession(sessions, "plain-1")).toBe(false)
  await sessions.close()
})
