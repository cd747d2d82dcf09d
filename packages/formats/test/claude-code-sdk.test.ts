/**
 * The reader of Claude Code's own SDK as the judge: a session that was imported, or written, has the context that it reads from the file. Runs
 * if `CLAUDE_AGENT_SDK` names a folder with the npm package `@anthropic-ai/claude-agent-sdk` in its `node_modules`.
 */
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createSessions, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { claudeCode } from "../src/claude-code/index.ts"
import { fieldsOf } from "../src/base/values.ts"
import { goldens, id as uuid } from "./claude-code-files.ts"
import { fixture } from "./fixtures.ts"
import { importText, recordsOf, written } from "./laws.ts"

const folder = process.env["CLAUDE_AGENT_SDK"]
if (folder === undefined)
  console.info("Skipped: the SDK of Claude Code as the judge. CLAUDE_AGENT_SDK names no folder.")

/** Files in which the SDK and the rules differ on purpose, with the reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "the file of a subagent": "the SDK reads it by another call",
  "results with an image, with a text, and two on one line":
    "a text before a result follows it here: providers want results first",
  "blocks that are none, or not as they should be": "malformed blocks are wrapped",
  "missing parents, repeated uuids, lines without a uuid, a cut last line":
    "the SDK begins behind a missing parent; the agent, when it resumes, does not",
}

const judged = Object.entries(goldens).filter(([name]) => EXCEPTIONS[name] === undefined)

test.skipIf(folder === undefined).each(judged)("%s: the same context", { timeout: 60_000 }, async (_, { text }) => {
  const { session } = await importText(claudeCode, { text })
  expect(await contextOf(session)).toEqual(await readBySdk(text))
})

const FIXTURES = ["chain", "fork", "tools", "compacted", "by-rule/compact-keeps-suffix", "by-rule/parallel-tools"]

test.skipIf(folder === undefined).each(FIXTURES)(
  "fixture %s: the same context, also of a written copy with entries of ours",
  { timeout: 60_000 },
  async (name) => {
    const text = fixture(`claude-code/${name}.jsonl`)
    const { session } = await importText(claudeCode, { text })
    expect(await contextOf(session)).toEqual(await readBySdk(text))
    await appendTo(session)
    expect(await readBySdk(await written(claudeCode, session))).toEqual(await contextOf(session))
    const copy = await written(claudeCode, session, { id: uuid(99), branches: "path" })
    expect(await readBySdk(copy)).toEqual(await contextOf(session))
  },
)

test.skipIf(folder === undefined)(
  "a session of ours with a compaction that keeps messages",
  { timeout: 60_000 },
  async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    await session.append({ type: "message", message: { role: "user", content: "q1" } })
    await session.append({ type: "message", message: { role: "assistant", content: "a1" } })
    await appendTo(session)
    expect(await readBySdk(await written(claudeCode, session))).toEqual(await contextOf(session))
  },
)

/** A question, a compaction that keeps it, a call with its result, and an answer. */
async function appendTo(session: Session): Promise<void> {
  const { ids } = await session.append({ type: "message", message: { role: "user", content: "ours" } })
  const summary = { summary: "OUR SUMMARY", firstKeptEntryId: ids[0] ?? "", tokensBefore: 1 }
  await session.append({ type: "compaction", ...summary, readFiles: [], modifiedFiles: [] })
  const calls = ["o1", "o2"].map((id) => ({ type: "toolCall", id, name: "Read", arguments: {} }) as const)
  await session.append({
    type: "message",
    message: { role: "assistant", content: calls, provider: "anthropic", model: "m" },
  })
  for (const toolCallId of ["o1", "o2"]) {
    await session.append({
      type: "message",
      message: { role: "toolResult", toolCallId, isError: false, content: `r ${toolCallId}` },
    })
  }
  await session.append({
    type: "message",
    message: { role: "assistant", content: "done", provider: "anthropic", model: "m" },
  })
}

/** Roles with texts and ids of calls, without messages of the program, which the SDK hides. */
async function contextOf(session: Session): Promise<readonly string[]> {
  const { messages } = await session.context({ repair: "none" })
  return messages.flatMap(({ kind, message }) => {
    if (message.synthetic === true && kind === "message" && message.role === "user") return []
    if (message.role === "toolResult") return [`user result ${message.toolCallId}`]
    return message.content.map((block) => {
      if (block.type === "toolCall") return `assistant call ${block.id}`
      const words = block.type === "text" ? textIn(block.text) : block.type
      return `${message.role} ${words}`
    })
  })
}

/** The text inside the frame that core puts round a summary. */
function textIn(text: string): string {
  return /<summary>\n([^]*)\n<\/summary>/.exec(text)?.[1] ?? text
}

async function readBySdk(text: string): Promise<readonly string[]> {
  const home = mkdtempSync(join(tmpdir(), "sessions-sdk-"))
  try {
    const sessionId = (recordsOf(text) as readonly { readonly sessionId?: string }[]).find(
      (line) => line.sessionId,
    )?.sessionId
    mkdirSync(join(home, "projects", "-w"), { recursive: true })
    writeFileSync(join(home, "projects", "-w", `${sessionId}.jsonl`), text)
    const main = pathToFileURL(join(folder ?? "", "node_modules", "@anthropic-ai", "claude-agent-sdk", "sdk.mjs")).href
    const script = `import { getSessionMessages } from ${JSON.stringify(main)}; console.log(JSON.stringify(await getSessionMessages(${JSON.stringify(sessionId)})))`
    const output = await new Promise<string>((resolve, reject) => {
      const env = { ...process.env, CLAUDE_CONFIG_DIR: home }
      execFile("node", ["--input-type=module", "-e", script], { env, maxBuffer: 64e6 }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      )
    })
    return (JSON.parse(output) as readonly { readonly message: unknown }[]).flatMap(({ message }) => rowsOf(message))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

function rowsOf(message: unknown): readonly string[] {
  const { role, content } = fieldsOf(message)
  const blocks = typeof content === "string" ? (content === "" ? [] : [{ type: "text", text: content }]) : content
  return (Array.isArray(blocks) ? blocks : []).map((block) => {
    const { type, text, id, tool_use_id: result } = fieldsOf(block)
    if (type === "tool_use" && typeof id === "string") return `assistant call ${id}`
    if (type === "tool_result") return `user result ${String(result)}`
    return `${String(role)} ${type === "text" && typeof text === "string" ? text : String(type)}`
  })
}
