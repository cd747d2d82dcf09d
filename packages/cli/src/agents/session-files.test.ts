import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe as group, expect, test } from "vitest"
import { claudeCodeAgent } from "./claude-code.ts"
import { codexAgent } from "./codex.ts"
import { geminiAgent } from "./gemini.ts"
import type { Agent } from "./agent.ts"
import { describe } from "./session-files.ts"

const folder = mkdtempSync(join(tmpdir(), "described-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const timestamp = "2026-01-01T00:00:00.000Z"
const long = "a word ".repeat(20_000)

function described(agent: Agent, name: string, text: string) {
  const file = join(folder, name)
  writeFileSync(file, text)
  return describe(agent.format, { file, bytes: text.length, modifiedAt: timestamp })
}

const jsonl = (...records: readonly object[]): string => records.map((record) => `${JSON.stringify(record)}\n`).join("")

group("the beginning of a session file is in whole lines, however long they are", () => {
  test("long instructions in the first line of Codex", async () => {
    const text = jsonl(
      {
        timestamp,
        type: "session_meta",
        payload: { id: "s", timestamp, cwd: "/w", base_instructions: { text: long } },
      },
      {
        timestamp,
        type: "response_item",
        payload: { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
      },
      {
        timestamp,
        type: "response_item",
        payload: { type: "message", role: "assistant", content: [{ type: "output_text", text: long }] },
      },
    )
    expect(await described(codexAgent, "rollout-s.jsonl", text)).toEqual({ id: "s", cwd: "/w", title: "hello" })
  })

  test("a first prompt of Claude Code, which its queue has before", async () => {
    const line = { timestamp, sessionId: "s", cwd: "/w", isSidechain: false }
    const text = jsonl(
      { type: "queue-operation", operation: "enqueue", timestamp, sessionId: "s", content: long },
      { ...line, type: "user", uuid: "u", parentUuid: null, message: { role: "user", content: long } },
      {
        ...line,
        type: "assistant",
        uuid: "a",
        parentUuid: "u",
        message: { id: "m", role: "assistant", content: [{ type: "text", text: long }] },
      },
    )
    expect(await described(claudeCodeAgent, "s.jsonl", text)).toEqual({ id: "s", cwd: "/w", title: long })
  })

  test("a title in the last lines is found behind a middle that is not read", async () => {
    const line = { timestamp, sessionId: "s", cwd: "/w", isSidechain: false }
    const said = (uuid: string, parentUuid: string | null) => ({
      ...line,
      type: "user",
      uuid,
      parentUuid,
      message: { role: "user", content: "a word ".repeat(2000) },
    })
    const turns = Array.from({ length: 100 }, (_, i) => said(`u${i}`, i === 0 ? null : `u${i - 1}`))
    const text = jsonl(...turns, { type: "ai-title", aiTitle: "a title", sessionId: "s" })
    expect(await described(claudeCodeAgent, "titled.jsonl", text)).toMatchObject({ id: "s", title: "a title" })
  })
})

test("a chat of Gemini CLI that is one document is read whole", async () => {
  const messages = Array.from({ length: 40 }, (_, i) => ({
    id: `m${i}`,
    timestamp,
    type: i % 2 === 0 ? "user" : "gemini",
    content: i === 0 ? "hello" : "a word ".repeat(4000),
  }))
  const chat = { sessionId: "s", projectHash: "h", startTime: timestamp, lastUpdated: timestamp, messages }
  const text = JSON.stringify(chat, null, 2)
  expect(text.length).toBeGreaterThan(1_000_000)
  expect(await described(geminiAgent, "session-s.json", text)).toEqual({ id: "s", title: "hello" })
})
