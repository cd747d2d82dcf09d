/**
 * Qwen Code itself as the judge: it resumes chats against a model on loopback, whose requests have what a model gets of them: so has our
 * context. Runs if `QWEN_CODE_BIN` names `cli-entry.js` of the npm package `@qwen-code/qwen-code`.
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fieldsOf } from "../src/base/values.ts"
import { qwenCode } from "../src/qwen-code/index.ts"
import { fixture } from "./fixtures.ts"
import { importText } from "./laws.ts"
import { startModel } from "./loopback.ts"
import { runAgent } from "./run-agent.ts"

const program = process.env["QWEN_CODE_BIN"]
if (program === undefined) console.info("Skipped: Qwen Code as the judge. QWEN_CODE_BIN names no program.")

test.skipIf(program === undefined).each(["tools", "compacted-and-rewound"])(
  "Qwen Code sends of %s what our context has",
  { timeout: 120_000 },
  async (name) => {
    const text = fixture(`qwen-code/${name}.jsonl`)
    const { session } = await importText(qwenCode, { text })
    const { messages } = await session.context({ repair: "none" })
    const rows = messages.flatMap(({ message }) => {
      const blocks = message.content as readonly Readonly<Record<string, unknown>>[]
      const result = message.role === "toolResult" ? `result ${message.toolCallId} ` : `${message.role} `
      return blocks.flatMap((block) => {
        if (block["type"] === "toolCall") return [`call ${String(block["id"])} ${JSON.stringify(block["arguments"])}`]
        return block["type"] === "text" ? [`${result}${String(block["text"])}`] : []
      })
    })
    expect(await resumed(text)).toEqual([...rows, "user NEXT"])
  },
)

/** The rows of the request with which the agent goes on, without its own instructions and reminders. */
async function resumed(text: string): Promise<readonly string[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "qwen-judge-")))
  const model = await startModel(/\/chat\/completions$/, answer)
  try {
    const { sessionId } = JSON.parse(text.split("\n")[0] ?? "") as { readonly sessionId: string }
    const chats = join(folder, ".qwen", "projects", folder.replaceAll(/[^a-zA-Z0-9]/g, "-"), "chats")
    await mkdir(chats, { recursive: true })
    await writeFile(join(chats, `${sessionId}.jsonl`), text.replaceAll("/home/dev/orchard", folder))
    await runAgent({
      name: "Qwen Code",
      program: process.execPath,
      args: [program as string, "--auth-type", "openai", "--resume", sessionId, "-p", "NEXT"],
      cwd: folder,
      env: {
        HOME: folder,
        OPENAI_API_KEY: "none",
        OPENAI_BASE_URL: `${model.url}/v1`,
        OPENAI_MODEL: "any",
        QWEN_TELEMETRY_ENABLED: "false",
      },
    })
    const request = model.requests.find((one) => JSON.stringify(one).includes("NEXT"))
    return ((request?.["messages"] ?? []) as readonly Sent[]).flatMap(rowsOf)
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Sent {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
}

function rowsOf({ role, content, tool_call_id: id, tool_calls: calls = [] }: Sent): readonly string[] {
  if (role === "system") return []
  const texts = typeof content === "string" ? [content] : ((content ?? []) as readonly object[]).map(textOf)
  const said = texts.filter((text) => text !== "" && !text.startsWith("<system-reminder>"))
  const name = id === undefined ? role : `result ${id}`
  return [
    ...said.map((text) => `${name} ${text}`),
    ...calls.map((call) => `call ${call.id} ${JSON.stringify(JSON.parse(call.function.arguments))}`),
  ]
}

function textOf(part: object): string {
  return String(fieldsOf(part)["text"] ?? "")
}

function answer(response: ServerResponse): void {
  const chunk = (delta: object, finish: string | null) =>
    response.write(
      `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "any", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
    )
  chunk({ role: "assistant", content: "ok" }, null)
  chunk({}, "stop")
  response.end("data: [DONE]\n\n")
}
