/** One storage with the sessions of all bridges for agent SDKs, and with those that a person works in. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { emptyCheckpoint, uuid6 } from "@langchain/langgraph-checkpoint"
import { createChatStore, createChatStreams } from "@sessions/ai-sdk"
import { createClaudeStore } from "@sessions/claude-agent"
import { run } from "@sessions/cli"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { createAgentSession, listAgentSessions } from "@sessions/openai-agents"
import { readUIMessageStream, type UIMessage } from "ai"
import { afterAll, beforeAll, expect, test } from "vitest"

/** One id for all that take any. */
const ID = "11111111-1111-4111-8111-111111111111"
const PROJECT = "-home-ada-work"
const root = mkdtempSync(join(tmpdir(), "sessions-bridges-"))
const sessions = createSessions({ storage: createFileStorage({ root, durability: "os" }) })
const claude = createClaudeStore({ sessions })
const chats = createChatStore<UIMessage>(sessions)
const saver = new SessionsSaver({ sessions })

/** The sessions in which a person and an agent talk, by their kind. */
const TALKS = { person: ID, "claude-agent": "claude.", "openai-agents": `openai-agents.${ID}`, "ai-sdk": `chat-${ID}` }
type Talk = keyof typeof TALKS

beforeAll(async () => {
  const question = (kind: Talk): string => `Where does ${kind} live?`
  const answer = (kind: Talk): string => `${kind} lives in Paris.`
  const session = await sessions.create({ id: ID, cwd: root })
  await session.append({ type: "message", message: { role: "user", content: question("person") } })
  await session.append({ type: "message", message: { role: "assistant", content: answer("person") } })
  const line = (n: number, message: { readonly role: string; readonly content: string }) => ({
    type: message.role,
    uuid: `00000000-0000-4000-8000-00000000000${n}`,
    parentUuid: n === 1 ? null : `00000000-0000-4000-8000-00000000000${n - 1}`,
    timestamp: `2026-01-31T09:30:0${n}.000Z`,
    sessionId: ID,
    cwd: root,
    version: "2.1.330",
    isSidechain: false,
    message,
  })
  for (const subpath of [undefined, "subagents/agent-1"])
    await claude.append({ projectKey: PROJECT, sessionId: ID, ...(subpath === undefined ? {} : { subpath }) }, [
      line(1, { role: "user", content: question("claude-agent") }),
      line(2, { role: "assistant", content: answer("claude-agent") }),
    ])
  await createAgentSession({ sessions, sessionId: ID }).addItems([
    { type: "message", role: "user", content: question("openai-agents") },
    {
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: answer("openai-agents") }],
    },
  ])
  const messages: UIMessage[] = [
    { id: "m1", role: "user", parts: [{ type: "text", text: question("ai-sdk") }] },
    { id: "m2", role: "assistant", parts: [{ type: "text", text: answer("ai-sdk") }] },
  ]
  await chats.saveChat({ chatId: TALKS["ai-sdk"], messages })
  // The chunks of a run are a session too.
  const streams = createChatStreams<UIMessage>(sessions, { readUIMessageStream })
  const started = await streams.start({ chatId: TALKS["ai-sdk"], messages })
  await started.consumeSseStream({ stream: new ReadableStream({ start: (controller) => controller.close() }) })
  const checkpoint = { ...emptyCheckpoint(), id: uuid6(1), channel_values: { city: "Paris" } }
  const metadata = { source: "loop", step: 0, parents: {} } as const
  await saver.put({ configurable: { thread_id: ID, checkpoint_ns: "" } }, checkpoint, metadata, {})
})

afterAll(async () => {
  await claude.close()
  await saver.close()
  await sessions.close()
  rmSync(root, { recursive: true })
})

async function threadsOf(): Promise<unknown[]> {
  const threads: unknown[] = []
  for await (const { config } of saver.list({})) threads.push(config.configurable?.["thread_id"])
  return threads
}

async function idsOf(kind: string | null): Promise<readonly string[]> {
  return (await sessions.list({ kind })).sessions.map(({ id }) => id)
}

test("each bridge lists its own sessions alone, and a list without a kind those of a person", async () => {
  expect((await claude.listSessions(PROJECT)).map(({ sessionId }) => sessionId)).toEqual([ID])
  expect((await listAgentSessions(sessions)).sessions.map(({ sessionId }) => sessionId)).toEqual([ID])
  expect((await chats.listChats()).chats.map(({ id }) => id)).toEqual([TALKS["ai-sdk"]])
  expect(await threadsOf()).toEqual([ID])
  expect(await idsOf(null)).toEqual([ID])
})

test("a bridge does not take the session of another one, or of a person, for its own", async () => {
  const [main = ""] = await idsOf("claude-agent")
  for (const id of [ID, main, TALKS["openai-agents"], `langgraph.${ID}`]) {
    await expect(chats.loadChat(id)).rejects.toMatchObject({ code: "not_found" })
    await expect(chats.saveChat({ chatId: id, messages: [] })).rejects.toMatchObject({ code: "exists" })
    await chats.deleteChat(id)
  }
  for (const taken of [`openai-agents.${ID}x`, `langgraph.${ID.replace("1", "2")}`])
    await (
      await sessions.create({ id: taken, metadata: { sessionId: `${ID}x`, thread_id: ID.replace("1", "2") } })
    ).close()
  await expect(createAgentSession({ sessions, sessionId: `${ID}x` }).getItems()).rejects.toMatchObject({
    code: "invalid",
  })
  expect((await listAgentSessions(sessions)).sessions).toHaveLength(1)
  const config = { configurable: { thread_id: ID.replace("1", "2"), checkpoint_ns: "" } }
  await expect(
    saver.put(config, emptyCheckpoint(), { source: "loop", step: 0, parents: {} }, {}),
  ).rejects.toMatchObject({ code: "invalid" })
  expect(await threadsOf()).toEqual([ID])
  for (const id of [`openai-agents.${ID}x`, `langgraph.${ID.replace("1", "2")}`]) await sessions.delete(id)
  expect((await sessions.list()).sessions).toHaveLength(7)
})

async function command(...argv: string[]): Promise<string> {
  let text = ""
  const sink = { isTerminal: false, write: async (piece: string) => void (text += piece) }
  const none = (async function* () {})()
  const io = { stdout: sink, stderr: sink, stdin: none, cwd: root, env: { HOME: root }, now: Date.now }
  const status = await run([...argv, "--store", root], io)
  expect(status, text).toBe(0)
  return text
}

test("`sessions list` shows of which SDK each is, and `--kind` lists those of one", async () => {
  const list = await command("list")
  for (const kind of ["claude-agent", "openai-agents", "ai-sdk", "ai-sdk-stream", "langgraph"]) {
    expect(list).toContain(` ${kind} `)
    expect((await command("list", "--kind", kind)).trim().split("\n").length).toBe(kind === "claude-agent" ? 3 : 2)
  }
})

test.each(Object.keys(TALKS) as Talk[])("show, export, grep and handoff have the conversation of %s", async (kind) => {
  const id = kind === "claude-agent" ? await mainOf() : TALKS[kind]
  for (const text of [await command("show", id), await command("export", id, "--format", "markdown")]) {
    expect(text).toContain(`Where does ${kind} live?`)
    expect(text).toContain(`${kind} lives in Paris.`)
  }
  expect(await command("grep", kind, "lives")).toContain("Paris")
  const { hits } = JSON.parse(await command("grep", kind, "lives", "--role", "assistant", "--json")) as {
    readonly hits: readonly { readonly session: string }[]
  }
  expect(hits.map(({ session }) => session)).toContain(id)
  for (const to of ["claude-code", "codex"])
    expect(await command("handoff", id, "--to", to, "--cwd", root, "--dry-run")).toContain("would write")
})

async function mainOf(): Promise<string> {
  const found = await sessions.list({ kind: "claude-agent" })
  return found.sessions.find(({ metadata }) => metadata["subpath"] === undefined)?.id ?? ""
}
