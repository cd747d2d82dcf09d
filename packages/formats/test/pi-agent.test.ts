/**
 * pi itself as the judge: it resumes written logs against a model on loopback, whose requests have the conversation. Runs if `PI_BIN` names its
 * program, of the npm package `@earendil-works/pi-coding-agent`.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Session } from "@sessions/core"
import { expect, test } from "vitest"
import { fieldsOf } from "../src/base/values.ts"
import { pi } from "../src/pi/index.ts"
import { startModel } from "./loopback.ts"
import { call, MARKS, marksOf, oddSession, result, say, sessionWith } from "./odd-sessions.ts"
import { runAgent } from "./run-agent.ts"

const program = process.env["PI_BIN"]
if (program === undefined) console.info("Skipped: pi as the judge. PI_BIN names no program.")

test.skipIf(program === undefined)("pi resumes a session of another origin", { timeout: 120_000 }, async () => {
  const session = await sessionWith(say("user", "q1"), say("assistant", "a1"))
  const { ids } = await session.append(say("user", "q2"))
  const files = { readFiles: [], modifiedFiles: [] }
  await session.append({
    type: "compaction",
    summary: "SUM",
    firstKeptEntryId: ids[0] ?? "",
    tokensBefore: 1,
    ...files,
  })
  await session.append([call({ id: "c1", command: "ls" }), result("c1", "a.ts"), say("assistant", "a2")])
  const [first, ...rest] = await resumed(session)
  expect(first).toContain("SUM")
  expect(rest).toEqual(["user q2", 'assistant  c1 {"command":"ls"}', "tool a.ts", "assistant a2", "user NEXT"])
})

test.skipIf(program === undefined)(
  "pi sends each message of a session with odd content",
  { timeout: 120_000 },
  async () => {
    expect(marksOf(await resumed(await oddSession()))).toEqual(MARKS)
  },
)

test.skipIf(program === undefined)(
  "pi sends the results of calls that other messages come between, each behind its call",
  { timeout: 120_000 },
  async () => {
    const calls = ["c1", "c2"].map((id) => call({ id, command: id }))
    const session = await sessionWith(
      say("user", "q"),
      ...calls,
      say("user", "wait"),
      result("c2", "out c2"),
      result("c1", "out c1"),
      call({ id: "c3", command: "interrupted" }, { id: "c4", command: "ran" }),
      result("c4", "out c4"),
    )
    expect(await resumed(session)).toEqual([
      "user q",
      'assistant  c1 {"command":"c1"}',
      "tool out c1",
      'assistant  c2 {"command":"c2"}',
      "tool out c2",
      "user wait",
      'assistant  c3 {"command":"interrupted"} c4 {"command":"ran"}',
      "tool out c4",
      "tool No result provided",
      "user NEXT",
    ])
  },
)

/** The conversation that pi sends when it resumes the written log, without its system message. */
async function resumed(session: Session): Promise<readonly string[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "pi-judge-")))
  const model = await startModel(/\/chat\/completions$/, answer)
  try {
    const file = join(folder, "session.jsonl")
    let text = ""
    for await (const piece of pi.write(session, { cwd: folder })) text += piece
    await writeFile(file, text)
    const provider = {
      baseUrl: `${model.url}/v1`,
      apiKey: "none",
      api: "openai-completions",
      models: [
        { id: "m", name: "m", reasoning: false, input: ["text", "image"], contextWindow: 100_000, maxTokens: 1000 },
      ],
    }
    await mkdir(join(folder, "agent"))
    await writeFile(join(folder, "agent", "models.json"), JSON.stringify({ providers: { fake: provider } }))
    const env = {
      HOME: folder,
      PI_CODING_AGENT_DIR: join(folder, "agent"),
      PI_OFFLINE: "1",
    }
    const args = ["--print", "--session", file, "--provider", "fake", "--model", "m", "--no-tools", "--offline", "NEXT"]
    await runAgent({ name: "pi", program, args, cwd: folder, env })
    const request = model.requests.findLast(({ messages }) => JSON.stringify(messages).includes("NEXT"))
    return ((request?.["messages"] ?? []) as readonly unknown[]).flatMap(rowsOf)
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function rowsOf(message: unknown): readonly string[] {
  const { role, content, tool_calls: calls } = fieldsOf(message)
  if (role === "system" || role === "developer") return []
  const parts = Array.isArray(content) ? (content as readonly unknown[]).map(fieldsOf) : [{ text: content ?? "" }]
  const called = ((calls ?? []) as readonly unknown[]).map((one) => {
    const { id, function: made } = fieldsOf(one)
    return ` ${String(id)} ${String(fieldsOf(made)["arguments"])}`
  })
  return [`${String(role)} ${parts.map(({ text }) => String(text)).join("|")}${called.join("")}`]
}

function answer(response: ServerResponse): void {
  const chunk = (delta: object, more: object = {}) =>
    response.write(
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta, ...more }] })}\n\n`,
    )
  chunk({ role: "assistant", content: "ok" })
  chunk({}, { finish_reason: "stop" })
  response.end("data: [DONE]\n\n")
}
