/**
 * Codex itself as the judge: it resumes written files against a model on loopback, whose requests have the conversation. Runs if
 * `CODEX_BIN` names its program, of the npm package `@openai/codex`.
 */
import { spawn } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createSessions, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codex, codexPathOf } from "../src/codex/index.ts"
import { fixture } from "./fixtures.ts"
import { importText, written } from "./laws.ts"
import { startModel } from "./loopback.ts"
import { MARKS, marksOf, oddSession } from "./odd-sessions.ts"

const program = process.env["CODEX_BIN"]
if (program === undefined) console.info("Skipped: Codex as the judge. CODEX_BIN names no program.")

const ID = "01a2030c-fea7-7193-9a6e-fdda384b770f"

test.skipIf(program === undefined)("Codex resumes a session of another origin", { timeout: 120_000 }, async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  const text = (value: string) => [{ type: "text", text: value }] as const
  const say = (role: "user" | "assistant", value: string) =>
    session.append({ type: "message", message: { role, content: text(value) } })
  await say("user", "q1")
  await say("assistant", "a1")
  const { ids } = await say("user", "q2")
  const summary = { summary: "S", firstKeptEntryId: ids[0] ?? "", tokensBefore: 1, readFiles: [], modifiedFiles: [] }
  await session.append({ type: "compaction", ...summary })
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } } as const
  await session.append({ type: "message", message: { role: "assistant", content: [call] } })
  const result = { role: "toolResult", toolCallId: "c1", isError: false, content: text("a.ts") } as const
  await session.append({ type: "message", message: result })
  const sent = (await resumed(session)).filter((line) => !line.startsWith("developer"))
  expect(sent[0]).toContain("<summary>\nS\n</summary>")
  expect(sent.slice(1)).toEqual(["user q2", 'call c1 {"command":"ls"}', "output c1 a.ts", "user NEXT"])
})

test.skipIf(program === undefined)(
  "Codex resumes its own session with ours appended",
  { timeout: 120_000 },
  async () => {
    const { session } = await importText(codex, { text: fixture("codex/tools.jsonl") })
    await session.append({ type: "message", message: { role: "user", content: "one more" } })
    const sent = (await resumed(session)).filter((line) => !line.startsWith("developer"))
    const [use, ...rest] = sent.slice(sent.findIndex((line) => line === "user What is in stock?"))
    expect(use).toBe("user What is in stock?")
    expect(rest[0]).toBe('call call_1 {"cmd":"ls"}')
    expect(rest[1]).toContain("pears")
    expect(rest.slice(2, 4)).toEqual(["assistant Pears.", "user one more"])
    expect(rest.at(-1)).toBe("user NEXT")
  },
)

test.skipIf(program === undefined)("Codex resumes the path of its edited session", { timeout: 120_000 }, async () => {
  const { session, entries } = await importText(codex, { text: fixture("codex/tools.jsonl") })
  const answer = entries.findLast(({ type }) => type === "message")
  const replacement = { content: [{ type: "text", text: "new answer" }] } as const
  await session.append({ type: "context_edit", targetId: answer?.id ?? "", replacement })
  const sent = await resumed(session)
  expect(sent).toContain("assistant new answer")
  expect(sent).not.toContain("assistant Pears.")
})

test.skipIf(program === undefined)(
  "Codex sends each message of a session with odd content",
  { timeout: 120_000 },
  async () => {
    expect(marksOf(await resumed(await oddSession()))).toEqual(MARKS)
  },
)

/** The conversation that Codex sends when it resumes the written session, the context that it adds itself left out. */
async function resumed(session: Session): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), "codex-judge-"))
  const model = await startModel(/\/responses$/, answer)
  try {
    const path = join(folder, codexPathOf(ID, session.header.timestamp))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, await written(codex, session, { id: ID, cwd: folder }))
    // The provider that the file of the fixture names: Codex does not resume a session whose provider it does not know.
    const provider = `model_providers.acme={name="acme",base_url="${model.url}/v1",wire_api="responses",env_key="FAKE_KEY"}`
    const settings = [provider, 'model_provider="acme"', 'model="any"'].flatMap((setting) => ["-c", setting])
    const args = ["exec", "resume", ID, "--json", "--skip-git-repo-check", ...settings, "NEXT"]
    const env = { PATH: process.env["PATH"], HOME: folder, CODEX_HOME: folder, FAKE_KEY: "none" }
    const child = spawn(program as string, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] })
    await new Promise((resolve) => child.once("exit", resolve))
    return ((model.requests[0]?.["input"] ?? []) as readonly Item[]).flatMap(lineOf)
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

type Item = Readonly<Record<string, unknown>>

function lineOf(item: Item): string[] {
  const text = (content: unknown) =>
    typeof content === "string"
      ? content
      : ((content ?? []) as { text?: string }[]).map((part) => part.text ?? "").join("|")
  if (item["type"] === "reasoning") return []
  if (item["type"] === "function_call") return [`call ${String(item["call_id"])} ${String(item["arguments"])}`]
  if (item["type"] === "function_call_output") return [`output ${String(item["call_id"])} ${text(item["output"])}`]
  const line = `${String(item["role"])} ${text(item["content"])}`
  return line.includes("<environment_context>") ? [] : [line]
}

function answer(response: ServerResponse): void {
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const item = { type: "message", role: "assistant", id: "m", content: [{ type: "output_text", text: "ok" }] }
  for (const event of [
    { type: "response.created", response: { id: "r" } },
    { type: "response.output_item.done", item },
    { type: "response.completed", response: { id: "r", usage } },
  ])
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  response.end()
}
