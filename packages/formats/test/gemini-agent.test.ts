/**
 * Gemini CLI itself as the judge: it resumes written chats against a model on loopback, whose requests have the conversation. Runs if
 * `GEMINI_BIN` names its program, of the npm package `@google/gemini-cli`.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { fieldsOf } from "../src/base/values.ts"
import { gemini, geminiPathOf, PROJECT_ROOT } from "../src/gemini/index.ts"
import { fixture } from "./fixtures.ts"
import { importText, written } from "./laws.ts"
import { startModel } from "./loopback.ts"
import { MARKS, marksOf, oddSession } from "./odd-sessions.ts"
import { runAgent } from "./run-agent.ts"

const program = process.env["GEMINI_BIN"]
if (program === undefined) console.info("Skipped: Gemini CLI as the judge. GEMINI_BIN names no program.")

const ID = "01a2030c-fea7-4193-9a6e-fdda384b770f"

const say = (role: "user" | "assistant", text: string): NewEntry => ({
  type: "message",
  message: { role, content: [{ type: "text", text }] },
})

test.skipIf(program === undefined)("Gemini CLI resumes a session of another origin", { timeout: 120_000 }, async () => {
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
  const calls = ["c1", "c2"].map((id) => ({ type: "toolCall", id, name: "ls", arguments: { path: id } }) as const)
  await session.append({ type: "message", message: { role: "assistant", content: calls } })
  for (const toolCallId of ["c1", "c2"]) {
    const content = [{ type: "text", text: `out ${toolCallId}` }] as const
    await session.append({ type: "message", message: { role: "toolResult", toolCallId, isError: false, content } })
  }
  await session.append([say("assistant", "a3")])
  const sent = await resumed(session)
  expect(sent[0]).toContain("SUM")
  expect(sent.slice(1)).toEqual([
    "user q2",
    "model a2",
    'call ls {"path":"c1"}',
    'call ls {"path":"c2"}',
    'response ls {"output":"out c1"}',
    'response ls {"output":"out c2"}',
    "model a3",
    "user NEXT",
  ])
})

test.skipIf(program === undefined)(
  "Gemini CLI resumes its own session with ours appended",
  { timeout: 120_000 },
  async () => {
    const { session } = await importText(gemini, { text: fixture("gemini/tools.jsonl") })
    await session.append([say("user", "one more"), say("assistant", "yes")])
    expect((await resumed(session)).slice(-4)).toEqual(["model Seeds grow.", "user one more", "model yes", "user NEXT"])
  },
)

test.skipIf(program === undefined)(
  "Gemini CLI sends each message of a session with odd content",
  { timeout: 120_000 },
  async () => {
    expect(marksOf(await resumed(await oddSession()))).toEqual(MARKS)
  },
)

/** The conversation that Gemini CLI sends when it resumes the written chat, without what it adds itself. */
async function resumed(session: Session): Promise<readonly string[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "gemini-judge-")))
  const model = await startModel(/:streamGenerateContent/, (response) => {
    const candidates = [{ content: { role: "model", parts: [{ text: "ok" }] }, finishReason: "STOP", index: 0 }]
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    response.end(`data: ${JSON.stringify({ candidates, usageMetadata })}\n\n`)
  })
  try {
    const file = join(folder, ".gemini", geminiPathOf("judge", ID, session.header.timestamp))
    await mkdir(dirname(file), { recursive: true })
    await writeFile(join(folder, ".gemini", "tmp", "judge", PROJECT_ROOT), folder)
    await writeFile(file, await written(gemini, session, { id: ID, cwd: folder, branches: "path" }))
    const env = {
      HOME: folder,
      GEMINI_CLI_HOME: folder,
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: model.url,
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    }
    const settings = {
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: "gemini-api-key" } },
    }
    await writeFile(join(folder, ".gemini", "settings.json"), JSON.stringify(settings))
    const args = ["--resume", ID, "--prompt", "NEXT", "--model", "gemini-2.5-pro", "--output-format", "json"]
    await runAgent({ name: "Gemini CLI", program, args, cwd: folder, env })
    const request = model.requests.findLast(({ contents }) => JSON.stringify(contents).includes("NEXT"))
    return ((request?.["contents"] ?? []) as readonly unknown[]).flatMap(rowsOf)
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function rowsOf(content: unknown): readonly string[] {
  const { role, parts } = fieldsOf(content)
  return (parts as readonly unknown[]).flatMap((part) => {
    const { text, functionCall, functionResponse } = fieldsOf(part)
    if (functionCall !== undefined)
      return [`call ${String(fieldsOf(functionCall)["name"])} ${JSON.stringify(fieldsOf(functionCall)["args"])}`]
    if (functionResponse !== undefined)
      return [
        `response ${String(fieldsOf(functionResponse)["name"])} ${JSON.stringify(fieldsOf(functionResponse)["response"])}`,
      ]
    return String(text).startsWith("<session_context>") ? [] : [`${String(role)} ${String(text)}`]
  })
}
