/**
 * opencode itself as the judge: it imports written documents, exports them as they were and as its database is read, and sends their
 * conversation to a model on loopback. Runs if `OPENCODE_BIN` names its program, of the npm package `opencode-ai`.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import type { ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type ModelMessage, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { connect } from "@sessions/sqlite/driver"
import { expect, test } from "vitest"
import { opencode, opencodeDocument, opencodeIdOf } from "../src/opencode/index.ts"
import { fixture } from "./fixtures.ts"
import { importText, written } from "./laws.ts"
import { startModel } from "./loopback.ts"
import { MARKS, marksOf, oddSession } from "./odd-sessions.ts"
import { runAgent } from "./run-agent.ts"

const program = process.env["OPENCODE_BIN"]
if (program === undefined) console.info("Skipped: opencode as the judge. OPENCODE_BIN names no program.")

const say = (role: "user" | "assistant", value: string) =>
  ({
    type: "message",
    message: {
      role,
      content: [{ type: "text", text: value }],
      ...(role === "assistant" ? { provider: "fake", model: "m" } : {}),
    },
  }) as const

test.skipIf(program === undefined)(
  "opencode imports a session of another origin, exports the same document and resumes it",
  { timeout: 300_000 },
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
    await session.append(say("user", "q3"))
    for (const [id, isError] of [
      ["c1", false],
      ["c2", true],
    ] as const) {
      const call = { type: "toolCall", id, name: "bash", arguments: { command: "ls" } } as const
      const content = [{ type: "text", text: `out ${id}` }] as const
      await session.append([
        { type: "message", message: { role: "assistant", content: [call], provider: "fake", model: "m" } },
        { type: "message", message: { role: "toolResult", toolCallId: id, isError, content } },
      ])
    }
    await session.append(say("assistant", "a3"))
    const { document, exported, sent } = await judged(session, await opencodeIdOf(session.header))
    expect(exported.messages).toEqual(document.messages)
    expect(sent).toEqual([
      expect.stringContaining("user "),
      "assistant SUM",
      "user q2",
      "assistant a2",
      "user q3",
      'call c1 {"command":"ls"}',
      "result c1 out c1",
      'call c2 {"command":"ls"}',
      "result c2 out c2",
      "assistant a3",
      "user NEXT",
    ])
  },
)

test.skipIf(program === undefined)(
  "opencode resumes its own session with ours appended",
  { timeout: 300_000 },
  async () => {
    const { session } = await importText(opencode, { text: fixture("opencode/tools.json") })
    await session.append([say("user", "one more"), say("assistant", "yes")])
    const { document, exported, sent } = await judged(session, session.header.origin?.id ?? "")
    expect(exported.messages).toEqual(document.messages)
    expect(sent.slice(-3)).toEqual(["user one more", "assistant yes", "user NEXT"])
    expect(sent.some((line) => line.startsWith("result call_1 7"))).toBe(true)
  },
)

test.skipIf(program === undefined)(
  "opencode sends each message of a session with odd content",
  { timeout: 300_000 },
  async () => {
    const session = await oddSession()
    const { document, exported, sent } = await judged(session, await opencodeIdOf(session.header))
    expect(exported.messages).toHaveLength(document.messages.length)
    expect(marksOf(sent)).toEqual(MARKS)
  },
)

test.skipIf(program === undefined)(
  "opencode sends the last summary alone, if its compaction keeps what an earlier one kept",
  { timeout: 300_000 },
  async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    await session.append([say("user", "q1"), say("assistant", "a1")])
    const { ids } = await session.append([say("user", "q2"), say("assistant", "a2")])
    const files = { readFiles: [], modifiedFiles: [] }
    for (const [i, summary] of ["SUM1", "SUM2"].entries()) {
      await session.append({ type: "compaction", summary, firstKeptEntryId: ids[i] ?? "", tokensBefore: 1, ...files })
      await session.append([say("user", `q${i + 3}`), say("assistant", `a${i + 3}`)])
    }
    const { sent } = await judged(session, await opencodeIdOf(session.header))
    expect(sent.slice(1)).toEqual([
      "assistant SUM2",
      "assistant a2",
      "user q3",
      "assistant a3",
      "user q4",
      "assistant a4",
      "user NEXT",
    ])
  },
)

const said = (role: string, id: string, parts: readonly object[], fields: object = {}) => {
  const made =
    role === "user"
      ? { agent: "build", model: { providerID: "fake", modelID: "m" } }
      : {
          mode: "build",
          agent: "build",
          providerID: "fake",
          modelID: "m",
          path: { cwd: "/", root: "/" },
          cost: 0,
          tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
        }
  return {
    info: { id, role, sessionID: "ses_1", time: { created: 1_795_347_673_596 }, ...made, ...fields },
    parts: parts.map((part, i) => ({ id: `prt_${id}_${i}`, sessionID: "ses_1", messageID: id, ...part })),
  }
}
const text = (value: string) => ({ type: "text", text: value })
const failed = { error: { name: "MessageAbortedError", data: { message: "Aborted" } } }
const start = { type: "step-start" }
const summarized = (tail: string) => [
  said("user", "msg_4", [{ type: "compaction", auto: false, tail_start_id: tail }]),
  said("assistant", "msg_5", [start, text("SUM")], { parentID: "msg_4", summary: true, finish: "stop" }),
]
const task = {
  type: "tool",
  tool: "task",
  callID: "c1",
  state: {
    status: "completed",
    input: { prompt: "Count." },
    output: "Two.",
    title: "",
    metadata: {},
    time: { start: 1, end: 2 },
  },
}

const DOCUMENTS: Readonly<Record<string, readonly object[]>> = {
  "a command of a subagent": [
    said("user", "msg_1", [
      { type: "subtask", agent: "general", description: "count", command: "count", prompt: "Count." },
    ]),
    said("assistant", "msg_2", [task], { parentID: "msg_1", finish: "tool-calls" }),
    said("assistant", "msg_3", [start, text("There are two.")], { parentID: "msg_1", finish: "stop" }),
  ],
  "a compaction that was stopped": [
    said("user", "msg_1", [text("q1")]),
    said("user", "msg_2", [{ type: "compaction", auto: false }]),
    said("assistant", "msg_3", [start, text("Half")], { parentID: "msg_2", summary: true, ...failed }),
    said("user", "msg_4", [text("q2")]),
    said("assistant", "msg_5", [start, text("a2")], { parentID: "msg_4", finish: "stop" }),
  ],
  "a tail that begins with an answer that was stopped": [
    said("user", "msg_1", [text("q1")]),
    said("assistant", "msg_2", [start], { parentID: "msg_1", ...failed }),
    said("user", "msg_3", [text("q2")]),
    ...summarized("msg_2"),
  ],
  "a session that goes on before a compaction": [
    said("user", "msg_1", [text("q1")]),
    said("assistant", "msg_2", [start, text("a1")], { parentID: "msg_1", finish: "stop" }),
    said("user", "msg_3", [text("q2")]),
    ...summarized("msg_3"),
  ],
  "a session that goes on while its summary is written": [
    said("user", "msg_1", [text("q1")]),
    said("assistant", "msg_2", [start, text("a1")], { parentID: "msg_1", finish: "stop" }),
    said("user", "msg_3", [{ type: "compaction", auto: false }]),
    said("assistant", "msg_4", [start, text("Half")], { parentID: "msg_3", summary: true }),
  ],
}
/** Where such a session goes on; null: at its end. */
const GOES_ON: Readonly<Record<string, string | null>> = {
  "a session that goes on before a compaction": "msg_2",
  "a session that goes on while its summary is written": null,
}

test.skipIf(program === undefined).each(Object.entries(DOCUMENTS))(
  "opencode sends what the context has of %s",
  { timeout: 300_000 },
  async (name, messages) => {
    const info = { id: "ses_1", slug: "s", projectID: "global", directory: "/", title: "T", version: "1.18.33" }
    const time = { created: 1_795_347_673_596, updated: 1_795_347_673_596 }
    const { session } = await importText(opencode, { text: JSON.stringify({ info: { ...info, time }, messages }) })
    const leaf = GOES_ON[name]
    if (leaf !== undefined) {
      if (leaf !== null) await session.branch(leaf)
      await session.append([say("user", "q3"), say("assistant", "a3")])
    }
    const { sent } = await judged(session, "ses_1")
    const rows = (await session.context({ repair: "none" })).messages.flatMap(({ message }) => rowsOf(message))
    expect(rows.slice(1)).toEqual(sent.slice(1, -1))
    expect(sent.at(-1)).toBe("user NEXT")
  },
)

/** As {@link shown}. The first rows may be the words around a summary, of core and of opencode. */
function rowsOf({ role, content, ...more }: ModelMessage): readonly string[] {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []))
  if (role === "toolResult") return [`result ${String(more["toolCallId"])} ${texts.join("")}`]
  const calls = content.flatMap((block) => (block.type === "toolCall" ? [block] : []))
  return [
    ...texts.map((value) => `${role} ${value}`),
    ...calls.map((call) => `call ${call.id} ${JSON.stringify(call.arguments)}`),
  ]
}

interface Document {
  readonly messages: readonly object[]
}

interface Judged {
  readonly document: Document
  /** What opencode exports after it imported the document. */
  readonly exported: Document
  /** The conversation that opencode sends when it resumes the session. */
  readonly sent: readonly string[]
}

async function judged(session: Session, id: string): Promise<Judged> {
  const folder = await mkdtemp(join(tmpdir(), "opencode-judge-"))
  const model = await startModel(/./, answer)
  try {
    const file = join(folder, "session.json")
    const text = await written(opencode, session, { cwd: folder })
    await writeFile(file, text)
    const run = (...args: readonly string[]) => runProgram(folder, `${model.url}/v1`, args)
    await run("import", file)
    const out = await run("export", id)
    const exported = JSON.parse(out.slice(out.indexOf("{"))) as Document
    expect(JSON.parse(await databaseText(folder, id))).toEqual(exported)
    await run("run", "--session", id, "--model", "fake/m", "NEXT")
    const request = model.requests.findLast(({ messages }) => JSON.stringify(messages).includes("NEXT"))
    return {
      document: JSON.parse(text) as Document,
      exported,
      sent: ((request?.["messages"] ?? []) as readonly ChatMessage[]).flatMap(shown),
    }
  } finally {
    model.close()
    await rm(folder, { recursive: true, force: true })
  }
}

async function databaseText(folder: string, id: string): Promise<string> {
  const db = connect(join(folder, "DATA", "opencode", "opencode.db"))
  try {
    let text = ""
    for await (const piece of opencodeDocument(db, id)) text += piece
    return text
  } finally {
    db.close()
  }
}

interface ChatMessage {
  readonly role: string
  readonly content?: string | readonly { readonly text?: string }[] | null
  readonly tool_call_id?: string
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
}

function shown({ role, content, tool_call_id: id, tool_calls: calls = [] }: ChatMessage): readonly string[] {
  if (role === "system") return []
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("")
  if (role === "tool") return [`result ${id} ${text}`]
  return [
    ...(text === "" ? [] : [`${role} ${text}`]),
    ...calls.map((call) => `call ${call.id} ${call.function.arguments}`),
  ]
}

async function runProgram(folder: string, url: string, args: readonly string[]): Promise<string> {
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    name: "fake",
    options: { baseURL: url, apiKey: "none" },
    models: { m: { name: "m", limit: { context: 100_000, output: 1000 } } },
  }
  const config = {
    provider: { fake: provider },
    model: "fake/m",
    small_model: "fake/m",
    autoupdate: false,
    share: "disabled",
  }
  const places = Object.fromEntries(
    ["DATA", "CONFIG", "STATE", "CACHE"].map((name) => [`XDG_${name}_HOME`, join(folder, name)]),
  )
  const env = {
    HOME: folder,
    ...places,
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
  }
  return runAgent({ name: `opencode ${args[0]}`, program, args, cwd: folder, env })
}

function answer(response: ServerResponse): void {
  const chunk = (delta: object, finish: string | null, more: object = {}) => {
    const choices = [{ index: 0, delta, finish_reason: finish }]
    response.write(
      `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`,
    )
  }
  chunk({ role: "assistant", content: "ok" }, null)
  chunk({}, "stop", { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })
  response.end("data: [DONE]\n\n")
}
