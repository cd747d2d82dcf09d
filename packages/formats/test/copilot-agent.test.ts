/**
 * GitHub Copilot CLI itself as the judge: it resumes written sessions against a model on loopback, whose requests have the conversation. Runs
 * if `COPILOT_BIN` names its program, of the npm package `@github/copilot`, whose licence permits to run it. It needs no account.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createSessions, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { fieldsOf } from "../src/base/values.ts"
import { copilot, copilotPathOf } from "../src/copilot/index.ts"
import { fixture } from "./fixtures.ts"
import { importText, written } from "./laws.ts"
import { startModel } from "./loopback.ts"
import { MARKS, marksOf, oddSession } from "./odd-sessions.ts"
import { runAgent } from "./run-agent.ts"

const program = process.env["COPILOT_BIN"]
if (program === undefined) console.info("Skipped: Copilot CLI as the judge. COPILOT_BIN names no program.")

const ID = "7e0a1246-d538-4993-8d6f-3495aafcdd92"
const say = (role: "user" | "assistant", text: string) =>
  ({ type: "message", message: { role, content: text } }) as const

test.skipIf(program === undefined)(
  "Copilot CLI resumes a session of another origin",
  { timeout: 120_000 },
  async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    await session.append([say("user", "q1"), say("assistant", "a1")])
    const { ids } = await session.append(say("user", "q2\u2028"))
    const summary = { summary: "S", firstKeptEntryId: ids[0] ?? "", tokensBefore: 1, readFiles: [], modifiedFiles: [] }
    await session.append({ type: "compaction", ...summary })
    const image = { type: "image", mimeType: "image/png", data: PIXEL } as const
    const calls = ["c1", "c2"].map(
      (id) => ({ type: "toolCall", id, name: "bash", arguments: { command: "ls" } }) as const,
    )
    await session.append({ type: "message", message: { role: "assistant", content: calls } })
    const result = (toolCallId: string, text: string, isError: boolean) =>
      ({
        type: "message",
        message: { role: "toolResult", toolCallId, isError, content: [{ type: "text", text }] },
      }) as const
    await session.append([result("c1", "a.ts", false), result("c2", "boom", true)])
    await session.append({
      type: "message",
      message: { role: "user", content: [{ type: "text", text: "look" }, image] },
    })
    const [first = "", ...rest] = await resumed(session)
    expect(first).toContain("S")
    expect(rest).toEqual([
      "user q2\u2028",
      'assistant  c1 {"command":"ls"} c2 {"command":"ls"}',
      "tool a.ts",
      "tool boom",
      "user look|image|image_url",
      "user NEXT",
    ])
  },
)

test.skipIf(program === undefined)("Copilot CLI begins behind a reset", { timeout: 120_000 }, async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.append([say("user", "q1"), say("assistant", "a1"), { type: "reset_boundary" }, say("user", "q2")])
  expect(await resumed(session)).toEqual(["user q2", "user NEXT"])
})

test.skipIf(program === undefined)(
  "Copilot CLI resumes its own session with ours appended",
  { timeout: 120_000 },
  async () => {
    const { session } = await importText(copilot, { text: fixture("copilot/tools-and-resume.jsonl") })
    await session.append([say("user", "one more"), say("assistant", "yes")])
    expect((await resumed(session)).slice(-4)).toEqual([
      "assistant None.",
      "user one more",
      "assistant yes",
      "user NEXT",
    ])
  },
)

test.skipIf(program === undefined)(
  "Copilot CLI sends each message of a session with odd content",
  { timeout: 120_000 },
  async () => {
    expect(marksOf(await resumed(await oddSession()))).toEqual(MARKS)
  },
)

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

/** The conversation that Copilot CLI sends when it resumes the written session, without its system message and dates. */
async function resumed(session: Session): Promise<readonly string[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "copilot-judge-")))
  const model = await startModel(/\/chat\/completions$/, answer)
  try {
    const file = join(folder, copilotPathOf(ID))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, await written(copilot, session, { id: ID, cwd: folder, branches: "path" }))
    const env = {
      HOME: folder,
      COPILOT_HOME: folder,
      COPILOT_OFFLINE: "true",
      COPILOT_AUTO_UPDATE: "false",
      COPILOT_PROVIDER_BASE_URL: `${model.url}/v1`,
      COPILOT_PROVIDER_API_KEY: "none",
      COPILOT_MODEL: "any",
    }
    const args = ["--prompt", "NEXT", `--resume=${ID}`, "--allow-all-tools", "--disable-builtin-mcps"]
    await runAgent({ name: "Copilot CLI", program, args, cwd: folder, env })
    const request = model.requests.findLast(({ messages }) => JSON.stringify(messages).includes("NEXT"))
    return ((request?.["messages"] ?? []) as readonly unknown[]).flatMap(rowsOf)
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function rowsOf(message: unknown): readonly string[] {
  const { role, content, tool_calls: calls } = fieldsOf(message)
  if (role === "system") return []
  const parts = Array.isArray(content) ? (content as readonly unknown[]).map(fieldsOf) : [{ text: content ?? "" }]
  const texts = parts.map((part) => String(part["text"] ?? fieldsOf(part)["type"]))
  const shown = texts.join("|").replace(/^<current_datetime>.*?<\/current_datetime>\s*/, "")
  const called = ((calls ?? []) as readonly unknown[]).map((call) => {
    const { id, function: called } = fieldsOf(call)
    return ` ${String(id)} ${String(fieldsOf(called)["arguments"])}`
  })
  return [`${String(role)} ${shown}${called.join("")}`]
}

function answer(response: ServerResponse): void {
  const chunk = (delta: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "any", choices: [{ index: 0, delta, ...more }] })}\n\n`,
    )
  chunk({ role: "assistant", content: "ok" })
  chunk({}, { finish_reason: "stop" })
  response.end("data: [DONE]\n\n")
}
