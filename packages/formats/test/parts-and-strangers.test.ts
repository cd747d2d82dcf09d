import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { codex } from "../src/codex/index.ts"
import { formats } from "../src/formats.ts"
import { importFile } from "../src/import-file.ts"
import { opencode } from "../src/opencode/index.ts"
import { type Golden, importText, recordsOf, written } from "./laws.ts"

const TIME = "2026-09-01T10:00:00.000Z"
const jsonl = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const line = (ordinal: number, type: string, payload: object) => ({ timestamp: TIME, ordinal, type, payload })
const meta = (id: string, more: object = {}) => ({ id, timestamp: TIME, cwd: "/work", ...more })
const said = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
const answered = (text: string) => ({ type: "message", role: "assistant", content: [{ type: "output_text", text }] })

const parent = jsonl(
  line(0, "session_meta", meta("p1")),
  line(1, "response_item", said("before the fork")),
  line(2, "response_item", answered("an answer")),
  line(3, "response_item", said("after the fork")),
)
const fork: Golden = {
  text: jsonl(
    line(
      3,
      "session_meta",
      meta("f1", { forked_from_id: "p1", history_base: { thread_id: "p1", end_ordinal_exclusive: 3 } }),
    ),
    line(4, "response_item", said("in the fork")),
  ),
  beside: { "codex-rollout:p1": parent },
}

async function textsOf(golden: Golden, format = codex) {
  const imported = await importText(format, golden)
  const { messages, diagnostics } = await imported.session.context()
  const texts = messages.flatMap(({ message }) =>
    (message.content as readonly { readonly text?: string }[]).map((b) => b.text),
  )
  return { ...imported, texts, codes: diagnostics.map(({ code }) => code) }
}

test("a fork of Codex has the history of its parent up to its end there, and a file that is resumed has all of it", async () => {
  const { session, texts } = await textsOf(fork)
  expect(texts).toEqual(["before the fork", "an answer", "in the fork"])
  expect(recordsOf(await written(codex, session))).toEqual(recordsOf(fork.text))
  const resumed = await written(codex, session, { id: "01a22103-3904-7da3-9dd9-000000000000" })
  expect(resumed).toContain("before the fork")
  expect(resumed).not.toContain("history_base")
})

test("a fork whose parent is not there says so, in the import, in the context and in every written file", async () => {
  const { session, diagnostics, texts, codes } = await textsOf({ text: fork.text })
  expect(diagnostics.map(({ code }) => code)).toEqual(["missing_parent"])
  expect([texts, codes]).toEqual([["in the fork"], ["left_out"]])
  for (const writer of [claudeCode, codex]) {
    const losses: Loss[] = []
    await written(writer, session, { id: "01a22103-3904-7da3-9dd9-000000000000", note: (loss) => losses.push(loss) })
    expect(losses.find(({ what }) => what === "history")?.message).toContain("was not found")
  }
})

test("an encrypted history is named with the number of its records", async () => {
  const text = jsonl(
    line(0, "session_meta", meta("e1")),
    line(1, "response_item", said("long ago")),
    line(2, "compacted", { message: "", replacement_history: [{ type: "compaction", encrypted_content: "gAAA" }] }),
  )
  const { session } = await textsOf({ text })
  const losses: Loss[] = []
  await written(claudeCode, session, { note: (loss) => losses.push(loss) })
  expect(losses.find(({ what }) => what === "history")?.message).toContain("3 records, is encrypted")
})

test("rollouts of 2025 are read: lines without an envelope, and one document", async () => {
  const flat = jsonl(
    { id: "o1", timestamp: TIME, instructions: null },
    { record_type: "state" },
    said("Q"),
    answered("A"),
  )
  const { session, texts } = await textsOf({ text: flat })
  expect(texts).toEqual(["Q", "A"])
  expect(recordsOf(await written(codex, session))).toEqual(recordsOf(flat))
  const document = { session: { id: "o2", timestamp: TIME, instructions: "" }, items: [said("Q"), answered("A")] }
  for (const indent of [0, 2]) {
    const found = await textsOf({ text: JSON.stringify(document, null, indent) })
    expect(found.texts).toEqual(["Q", "A"])
  }
})

test.each([
  "<environment_context>\n  <cwd>/work</cwd>\n  <shell>zsh</shell>\n</environment_context>",
  "<environment_context>\nCurrent working directory: /work\nApproval policy: on-request\n</environment_context>",
])("the folder of an older rollout is the one that Codex told the model", async (context) => {
  const header = { id: "o1", timestamp: TIME, instructions: null }
  const text = jsonl(header, { record_type: "state" }, said(context), said("Q"), answered("A"))
  const { session } = await textsOf({ text })
  expect(session.header.cwd).toBe("/work")
  expect(recordsOf(await written(codex, session))).toEqual(recordsOf(text))
  const { session: other } = await textsOf({ text: jsonl(header, said("<cwd>/no</cwd>")) })
  expect(other.header.cwd).toBeUndefined()
})

test("a rollout for Codex to resume has no line that Codex refuses, and the export says what was rebuilt", async () => {
  const text = jsonl(
    { timestamp: TIME, ordinal: 0, type: "event_msg", payload: { type: "task_started" } },
    line(1, "session_meta", meta("r1")),
    {
      timestamp: 1_788_256_800,
      ordinal: 2,
      type: "response_item",
      payload: { type: "message", role: "user", content: "plain" },
    },
    { timestamp: TIME, type: "response_item", payload: answered("no number") },
  )
  const { session } = await textsOf({ text })
  const losses: Loss[] = []
  const file = await written(codex, session, {
    id: "01a22103-3904-7da3-9dd9-000000000000",
    note: (loss) => losses.push(loss),
  })
  const records = recordsOf(file) as readonly {
    type: string
    ordinal: number
    timestamp: unknown
    payload: { content?: unknown }
  }[]
  expect(records[0]?.type).toBe("session_meta")
  expect(records.every(({ ordinal, timestamp }) => Number.isInteger(ordinal) && typeof timestamp === "string")).toBe(
    true,
  )
  expect(records.map(({ ordinal }) => ordinal)).toEqual(records.map(({ ordinal }) => ordinal).toSorted((a, b) => a - b))
  expect(records[2]?.payload.content).toEqual([{ type: "input_text", text: "plain" }])
  expect(losses.map(({ what }) => what)).toContain("rebuilt")
})

test.each([
  ["of lines", jsonl({ id: "r1", timestamp: TIME, instructions: null }, said("<cwd>/work</cwd>"), said("Q"))],
  [
    "that is one document",
    JSON.stringify({ session: { id: "r1", timestamp: TIME, instructions: "" }, items: [said("Q")] }),
  ],
  ["without a folder", jsonl(line(0, "session_meta", { id: "r1" }), line(1, "response_item", said("Q")))],
])("a rollout of 2025 %s has for Codex to resume all that it requires of a header", async (_, text) => {
  const { session } = await textsOf({ text })
  const file = await written(codex, session, { id: "01a22103-3904-7da3-9dd9-000000000000", cwd: "/moved" })
  const [header] = recordsOf(file) as readonly { type: string; payload: Record<string, unknown> }[]
  expect(header).toMatchObject({
    type: "session_meta",
    payload: { id: "01a22103-3904-7da3-9dd9-000000000000", cwd: "/moved" },
  })
  const required = ["id", "timestamp", "cwd", "originator", "cli_version"]
  expect(required.filter((name) => typeof header?.payload[name] !== "string")).toEqual([])
})

test("the records of a rollout whose history is paginated are numbered for Codex to resume, also if none is in the file", async () => {
  const lines = [meta("r1", { history_mode: "paginated" }), said("Q"), answered("A")]
  const text = jsonl(
    ...lines.map((payload, i) => ({ timestamp: TIME, type: i === 0 ? "session_meta" : "response_item", payload })),
  )
  const { session } = await textsOf({ text })
  const ordinalsOf = async (o: object): Promise<readonly unknown[]> =>
    (recordsOf(await written(codex, session, o)) as readonly { ordinal?: unknown }[]).map(({ ordinal }) => ordinal)
  expect(await ordinalsOf({ id: "01a22103-3904-7da3-9dd9-000000000000" })).toEqual([0, 1, 2])
  expect(await ordinalsOf({})).toEqual([undefined, undefined, undefined])
})

test("times in seconds are times of today", async () => {
  const text = jsonl(
    { timestamp: 1_788_256_800, type: "session_meta", payload: { id: "t1", cwd: "/work" } },
    { timestamp: 1_788_256_801, type: "response_item", payload: said("Q") },
  )
  const { entries } = await textsOf({ text })
  expect(entries.at(-1)?.timestamp).toBe("2026-09-01T10:00:01.000Z")
})

const strangers: readonly (readonly [name: string, text: string])[] = [
  [
    "stream-json",
    jsonl(
      { type: "system", subtype: "init", session_id: "s", uuid: "u", tools: [] },
      { type: "assistant", message: { role: "assistant", content: [] }, session_id: "s", uuid: "v" },
    ),
  ],
  [
    "checkpoint",
    JSON.stringify([
      { role: "user", parts: [{ text: "Q" }] },
      { role: "model", parts: [{ text: "A" }] },
    ]),
  ],
  ["Kimi", jsonl({ timestamp: 1_790_000_000, message: { type: "TurnBegin", payload: { user_input: "Q" } } })],
  [
    "goose",
    jsonl({ working_dir: "/w", description: "d", message_count: 1 }, { role: "user", created: 1, content: [] }),
  ],
  ["codex exec", jsonl({ type: "thread.started", thread_id: "t" }, { type: "turn.started" })],
  ["droid", jsonl({ type: "session_start", id: "s", title: "T", cwd: "/w" })],
  ["Cursor", jsonl({ role: "user", message: { content: [{ type: "text", text: "Q" }] } })],
  ["history of prompts", jsonl({ display: "Q", pastedContents: {}, timestamp: 1, project: "/w", sessionId: "s" })],
  [
    "list of the sessions",
    JSON.stringify({ version: 1, entries: [{ sessionId: "s", fullPath: "/s.jsonl", firstPrompt: "Q" }] }),
  ],
  ["log of prompts", JSON.stringify([{ sessionId: "s", messageId: 0, type: "user", message: "Q", timestamp: TIME }])],
  ["ChatGPT", JSON.stringify([{ title: "T", mapping: { a: { id: "a", message: null, children: [] } } }])],
  ["claude.ai", JSON.stringify([{ uuid: "u", name: "T", chat_messages: [{ sender: "human", text: "Q" }] }])],
  ["Cline", JSON.stringify([{ ts: 1_790_000_000_000, type: "say", say: "text", text: "Q" }])],
  [
    "UTF-16",
    new TextDecoder().decode(new Uint8Array(Buffer.from(jsonl({ type: "user", sessionId: "s" }).repeat(3), "utf16le"))),
  ],
  // The beginning of a program on Linux.
  ["no text", `\x7fELF\x02\x01\x01${"\0".repeat(9)}\x02\0>\0\x01${"\0".repeat(3)}0${"\0".repeat(40)}`],
]

test.each(strangers)("a file of %s is refused by its name", async (name, text) => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const source = async function* () {
    yield text
  }
  const refused = importFile(sessions, source, { from: formats })
  await expect(refused).rejects.toMatchObject({
    code: "not_a_session",
    message: expect.stringContaining(name) as string,
  })
})

test("a file whose messages all come out empty is refused, and says what was looked for", async () => {
  const text = jsonl({
    type: "user",
    uuid: "u1",
    parentUuid: null,
    sessionId: "s1",
    cwd: "/w",
    timestamp: TIME,
    message: { role: "user", content: "" },
  })
  await expect(importText(claudeCode, { text })).rejects.toMatchObject({
    code: "not_a_session",
    message: expect.stringContaining("empty") as string,
  })
})

test("the folder of a session that was moved is the last one, and a folder of Windows is one folder", async () => {
  const user = {
    type: "user",
    uuid: "u1",
    parentUuid: null,
    sessionId: "s1",
    timestamp: TIME,
    message: { role: "user", content: "Q" },
  }
  const moved = jsonl({ ...user, cwd: "/work" }, { type: "relocated", relocatedCwd: "/moved", sessionId: "s1" })
  const { session } = await importText(claudeCode, { text: moved })
  expect((await session.info()).cwd).toBe("/moved")
  expect(recordsOf(await written(claudeCode, session))).toEqual(recordsOf(moved))
  for (const cwd of ["C:\\Users\\Ana", "c:\\Users\\Ana", "C:/Users/Ana"]) {
    const found = await importText(claudeCode, { text: jsonl({ ...user, cwd }) })
    expect(found.session.header.cwd).toBe("C:\\Users\\Ana")
  }
})

test("text that opencode prints before its document is passed over", async () => {
  const info = { id: "ses_1", projectID: "global", directory: "/work", time: { created: 1_790_000_000_000 } }
  const message = {
    info: { id: "msg_1", role: "user", time: { created: 1_790_000_000_000 } },
    parts: [{ type: "text", text: "Q", id: "prt_1" }],
  }
  const text = `Exporting session: ses_1${JSON.stringify({ info, messages: [message] }, null, 2)}`
  expect(opencode.identify(text)).toBe(true)
  expect((await textsOf({ text }, opencode)).texts).toEqual(["Q"])
})

test("a copy of a message that was there is not paid again", async () => {
  const place = { sessionId: "s1", cwd: "/w", timestamp: TIME }
  const user = (uuid: string, parentUuid: string | null) => ({
    ...place,
    type: "user",
    uuid,
    parentUuid,
    message: { role: "user", content: "Q" },
  })
  const answer = (uuid: string, parentUuid: string) => ({
    ...place,
    type: "assistant",
    uuid,
    parentUuid,
    message: {
      id: "m1",
      role: "assistant",
      content: [{ type: "text", text: "A" }],
      usage: { input_tokens: 10, output_tokens: 5 },
    },
  })
  const text = jsonl(user("u1", null), answer("a1", "u1"), user("u2", "a1"), answer("a2", "u1"), user("u3", "a2"))
  const { session } = await importText(claudeCode, { text })
  expect((await session.info()).metrics).toMatchObject({ input: 10, output: 5 })
  expect(recordsOf(await written(claudeCode, session))).toEqual(recordsOf(text))
})
