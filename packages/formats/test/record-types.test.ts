import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { codex } from "../src/codex/index.ts"
import { writers } from "../src/formats.ts"
import { importText, recordsOf, written } from "./laws.ts"

const place = { sessionId: "s1", cwd: "/work", isSidechain: false, timestamp: "2026-09-01T10:00:00.000Z" }
const jsonl = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const user = (uuid: string, parentUuid: string | null, content: unknown) => ({
  ...place,
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
})
const assistant = (uuid: string, parentUuid: string, content: string) => ({
  ...place,
  type: "assistant",
  uuid,
  parentUuid,
  message: { id: uuid, role: "assistant", content: [{ type: "text", text: content }] },
})
const attachment = (uuid: string, parentUuid: string, fields: object) => ({
  ...place,
  type: "attachment",
  uuid,
  parentUuid,
  attachment: fields,
})
const queue = (operation: string, content?: string, reason?: string) => ({
  type: "queue-operation",
  operation,
  timestamp: place.timestamp,
  sessionId: "s1",
  ...(content === undefined ? {} : { content }),
  ...(reason === undefined ? {} : { reason }),
})

async function contextOf(text: string) {
  const { session, entries } = await importText(claudeCode, { text })
  expect(recordsOf(await written(claudeCode, session))).toEqual(recordsOf(text))
  const { messages } = await session.context()
  const rows = messages.map(({ message: { role, synthetic, content } }) => {
    const texts = (content as readonly { readonly type: string; readonly text?: string }[]).map((b) => b.text ?? b.type)
    return `${role}${synthetic === true ? "*" : ""} ${texts.join(" ")}`
  })
  return { session, entries, rows }
}

test("what a person typed while Claude Code worked is a message of the person, once", async () => {
  const { rows } = await contextOf(
    jsonl(
      user("u1", null, "go"),
      queue("enqueue", "stop at once"),
      assistant("a1", "u1", "working"),
      queue("remove", "stop at once", "absorbed_mid_turn"),
      attachment("q1", "a1", { type: "queued_command", prompt: "stop at once", commandMode: "prompt" }),
      assistant("a2", "q1", "stopped"),
      // Older files have no attachment.
      queue("enqueue", "and go on"),
      queue("remove", "and go on", "absorbed_mid_turn"),
      assistant("a3", "a2", "going on"),
    ),
  )
  expect(rows).toEqual([
    "user go",
    "assistant working",
    "user stop at once",
    "assistant stopped",
    "user and go on",
    "assistant going on",
  ])
})

test("files, hooks, notifications and commands that Claude Code sends are synthetic messages; its instructions are none", async () => {
  const { rows } = await contextOf(
    jsonl(
      {
        ...place,
        type: "system",
        subtype: "local_command",
        uuid: "s1",
        parentUuid: null,
        content: "<command-name>/model</command-name>",
      },
      user("u1", "s1", "look at @a.ts"),
      attachment("f1", "u1", {
        type: "file",
        filename: "a.ts",
        content: { type: "text", file: { content: "const A = 1" } },
      }),
      attachment("h1", "f1", { type: "hook_additional_context", hookName: "Prompt", content: ["KIWI"] }),
      attachment("n1", "h1", {
        type: "queued_command",
        prompt: "<task-notification>done</task-notification>",
        commandMode: "task-notification",
      }),
      attachment("p1", "n1", { type: "todo_reminder", content: "a list of things to do" }),
      assistant("a1", "p1", "seen"),
    ),
  )
  expect(rows).toEqual([
    "user* <command-name>/model</command-name>",
    "user look at @a.ts",
    "user* a.ts:\nconst A = 1",
    "user* Prompt:\nKIWI",
    "user* <task-notification>done</task-notification>",
    "assistant seen",
  ])
})

test("a record of an unknown kind is shown, is in no context, and a loss says how much text it has", async () => {
  const text = jsonl(
    user("u1", null, "go"),
    attachment("x1", "u1", { type: "thought_of_tomorrow", words: "nobody knows what this means" }),
    assistant("a1", "x1", "done"),
  )
  const { session, rows } = await contextOf(text)
  expect(rows).toEqual(["user go", "assistant done"])
  const { messages } = await session.messages({ limit: 10 })
  expect(messages[1]?.message).toMatchObject({ role: "claude-code/attachment", output: "nobody knows what this means" })
  for (const writer of writers.filter(({ format }) => format !== "claude-code")) {
    const losses: Loss[] = []
    const file = await written(writer, session, { note: (loss) => losses.push(loss) })
    expect(file).not.toContain("nobody knows")
    expect(
      losses.find(({ what }) => what === "unknown"),
      writer.format,
    ).toMatchObject({
      count: 1,
      characters: "nobody knows what this means".length,
    })
  }
})

test("an unknown record whose text was edited is in no written file with its old text", async () => {
  const text = jsonl(user("u1", null, "go"), attachment("x1", "u1", { type: "new", words: "the secret word" }))
  const { session } = await importText(claudeCode, { text })
  await session.edit("x1", { content: [{ type: "text", text: "nothing" }] })
  await session.refresh()
  for (const writer of writers) expect(await written(writer, session), writer.format).not.toContain("secret")
})

test("an edit of an unknown record on another branch, or a deleted one, is in no written file", async () => {
  const text = jsonl(
    user("u1", null, "go"),
    attachment("x1", "u1", { type: "new", words: "a word" }),
    assistant("a1", "x1", "done"),
  )
  const imported = await importText(claudeCode, { text })
  await imported.session.edit("x1", { content: [{ type: "text", text: "elsewhere" }] })
  await imported.session.branch("x1")
  const other = await importText(claudeCode, { text })
  const { ids } = await other.session.edit("x1", { content: [{ type: "text", text: "elsewhere" }] })
  await other.session.tombstone(ids[0] as string)
  for (const { session } of [imported, other])
    for (const writer of writers) {
      const file = await written(writer, session, { branches: "path" })
      expect(file, writer.format).not.toContain("elsewhere")
      const { messages } = await session.context()
      expect(JSON.stringify(messages)).not.toContain("elsewhere")
    }
})

test("a web search of Codex is content that no model of ours gets: it is shown", async () => {
  const line = (type: string, payload: object) => ({ timestamp: place.timestamp, type, payload })
  const text = jsonl(
    line("session_meta", { id: "01a2", timestamp: place.timestamp, cwd: "/work" }),
    line("response_item", { type: "web_search_call", action: { type: "search", query: "weather in Oslo" } }),
    line("event_msg", { type: "tomorrow", words: "an event that nobody knows" }),
    line("event_msg", { type: "agent_reasoning", text: "thinking about it" }),
  )
  const { session } = await importText(codex, { text })
  const { messages } = await session.messages({ limit: 10 })
  expect(messages.map(({ message }) => (message as unknown as { output: string }).output)).toEqual([
    "weather in Oslo",
    "an event that nobody knows",
  ])
})

test("the lists of Claude Code's sessions show a prompt without its tags, and so do ours", async () => {
  const titleOf = async (...records: readonly object[]) => {
    const { session } = await importText(claudeCode, { text: jsonl(...records) })
    const { title, firstPrompt } = await session.info()
    return title ?? firstPrompt
  }
  const clear = user("u1", null, "<command-name>/clear</command-name>\n<command-args></command-args>")
  const review = user("u1", null, "<command-message>review</command-message>\n<command-name>/review</command-name>")
  expect(await titleOf(clear, user("u2", "u1", "fix it"), assistant("a1", "u2", "ok"))).toBe("fix it")
  expect(await titleOf(review, assistant("a1", "u1", "ok"))).toBe("/review")
  expect(await titleOf(user("u1", null, "<bash-input>ls -la</bash-input>"))).toBe("! ls -la")
  expect(await titleOf(user("u1", null, "[Request interrupted by user]"), user("u2", "u1", "again"))).toBe("again")
})
