/**
 * Claude Code itself as the judge: it resumes written files against a model on loopback, whose requests have the conversation. Runs if
 * `CLAUDE_CODE_BIN` names its program, of the npm package `@anthropic-ai/claude-code` or of the Agent SDK.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { fieldsOf } from "../src/base/values.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { fixture } from "./fixtures.ts"
import { importText, written } from "./laws.ts"
import { startModel } from "./loopback.ts"
import { MARKS, marksOf, oddSession } from "./odd-sessions.ts"
import { runAgent } from "./run-agent.ts"

const program = process.env["CLAUDE_CODE_BIN"]
if (program === undefined) console.info("Skipped: Claude Code as the judge. CLAUDE_CODE_BIN names no program.")

const ID = "01a2030c-fea7-4193-9a6e-fdda384b770f"

const say = (role: "user" | "assistant", text: string): NewEntry => ({
  type: "message",
  message: {
    role,
    content: [{ type: "text", text }],
    ...(role === "assistant" ? { provider: "anthropic", model: "claude-sonnet-4-5" } : {}),
  },
})

test.skipIf(program === undefined)(
  "Claude Code resumes a session of another origin",
  { timeout: 120_000 },
  async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    await session.append([say("user", "q1"), say("assistant", "a1")])
    const { ids } = await session.append([say("user", "q2"), say("assistant", "a2")])
    const files = { readFiles: [], modifiedFiles: [] }
    await session.append({
      type: "compaction",
      summary: "SUM",
      firstKeptEntryId: ids[0] ?? "",
      tokensBefore: 1,
      ...files,
    })
    const calls = ["c1", "c2"].map(
      (id) => ({ type: "toolCall", id, name: "Bash", arguments: { command: "ls" } }) as const,
    )
    const thinking = { type: "thinking", thinking: "hm", signature: "of another" } as const
    await session.append({
      type: "message",
      message: { role: "assistant", provider: "openai", model: "m", content: [thinking, ...calls] },
    })
    for (const toolCallId of ["c1", "c2"]) {
      const content = [{ type: "text", text: `out ${toolCallId}` }] as const
      await session.append({
        type: "message",
        message: { role: "toolResult", toolCallId, isError: toolCallId === "c2", content },
      })
    }
    await session.append([say("assistant", "a3")])
    const leaf = session.leafId
    await session.append([say("user", "other branch")])
    await session.branch(leaf ?? "")
    expect(await resumed(session)).toEqual([
      expect.stringContaining("SUM"),
      "user q2",
      "assistant a2",
      "call c1 ls",
      "call c2 ls",
      "result c1 out c1",
      "error c2 out c2",
      "assistant a3",
      "user NEXT",
    ])
  },
)

test.skipIf(program === undefined).each(["compacted", "by-rule/parallel-tools", "by-rule/compact-keeps-suffix"])(
  "Claude Code resumes its own session %s with ours appended",
  { timeout: 120_000 },
  async (name) => {
    const { session } = await importText(claudeCode, { text: fixture(`claude-code/${name}.jsonl`) })
    await session.append([say("user", "one more"), say("assistant", "yes")])
    const context = await contextOf(session)
    expect(await resumed(session)).toEqual([...context, "user NEXT"])
  },
)

test.skipIf(program === undefined)(
  "Claude Code sends each message of a session with odd content",
  { timeout: 120_000 },
  async () => {
    expect(marksOf(await resumed(await oddSession()))).toEqual(MARKS)
  },
)

test.skipIf(program === undefined)(
  "Claude Code sends nothing before a reset at the end",
  { timeout: 120_000 },
  async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    await session.append([say("user", "q1"), say("assistant", "a1"), { type: "reset_boundary" }])
    const sent = await resumed(session)
    expect(sent.slice(0, 1)).toEqual(["user The conversation begins anew here."])
    expect(sent.filter((line) => /q1|a1/.test(line))).toEqual([])
  },
)

/** What the agent should send, without the frame that core puts round a summary. */
async function contextOf(session: Session): Promise<readonly string[]> {
  const { messages } = await session.context({ repair: "none" })
  return messages.flatMap(({ message }) =>
    message.content.map((block) => {
      if (message.role === "toolResult") return `result ${message.toolCallId} ${String(block["text"])}`
      if (block.type === "toolCall") return `call ${block.id} ${String(block.arguments["command"])}`
      const text = String(block["text"])
      return `${message.role} ${(/<summary>\n([^]*)\n<\/summary>/.exec(text)?.[1] ?? text).trim()}`
    }),
  )
}

/** The conversation that Claude Code sends when it resumes the written session, without what it adds itself. */
async function resumed(session: Session): Promise<readonly string[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "claude-judge-")))
  const model = await startModel(/^\/v1\/messages\?|^\/v1\/messages$/, (response) => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage,
    }
    for (const event of [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "ok" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  })
  try {
    const projects = join(folder, "config", "projects", folder.replaceAll(/[^a-zA-Z0-9]/g, "-"))
    await mkdir(projects, { recursive: true })
    await writeFile(
      join(projects, `${ID}.jsonl`),
      await written(claudeCode, session, { id: ID, cwd: folder, branches: "path" }),
    )
    await run(folder, model.url)
    const request = model.requests.findLast(({ messages }) => JSON.stringify(messages).includes("NEXT"))
    return ((request?.["messages"] ?? []) as readonly unknown[]).flatMap(rowsOf)
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function run(folder: string, url: string): Promise<void> {
  const env = {
    HOME: folder,
    CLAUDE_CONFIG_DIR: join(folder, "config"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "none",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  }
  const args = ["--print", "NEXT", "--resume", ID, "--output-format", "json", "--tools", ""]
  await runAgent({ name: "Claude Code", program, args, cwd: folder, env })
}

function rowsOf(message: unknown): readonly string[] {
  const { role, content } = fieldsOf(message)
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : (content as readonly unknown[])
  return blocks.flatMap((block) => {
    const { type, text, id, input, tool_use_id: result, content: output, is_error: isError } = fieldsOf(block)
    if (type === "tool_use") return [`call ${String(id)} ${String(fieldsOf(input)["command"])}`]
    if (type === "tool_result") {
      const shown =
        typeof output === "string" ? output : (output as { text?: string }[]).map((one) => one.text).join("")
      return [`${isError === true ? "error" : "result"} ${String(result)} ${shown}`]
    }
    if (type !== "text") return [`${String(role)} (${String(type)})`]
    return String(text).startsWith("<system-reminder>") ? [] : [`${String(role)} ${String(text).trim()}`]
  })
}
