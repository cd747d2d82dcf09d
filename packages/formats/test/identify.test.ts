/** The formats tell their files from those of all others. */
import { expect, test } from "vitest"
import type { Format } from "../src/base/format.ts"
import { formats } from "../src/formats.ts"
import { identify } from "../src/identify.ts"
import { SessionError } from "@sessions/core"
import { anthropic } from "../src/anthropic/index.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { gemini } from "../src/gemini/index.ts"
import { opencode } from "../src/opencode/index.ts"
import { fixture, fixturesOf } from "./fixtures.ts"
import { importText } from "./laws.ts"

test("every fixture is of its own format only", () => {
  const files = fixturesOf(formats.map(({ format }) => format))
  const found = files.map(({ name, golden }) => [
    name,
    formats.filter((format) => format.identify(golden.text)).map(({ format }) => format),
  ])
  expect(found).toEqual(files.map(({ name, expected }) => [name, [expected.format]]))
})

test("no format takes a log that core reads for its own", () => {
  for (const { name, golden } of fixturesOf(["pi", "oh-my-pi"])) {
    const taken = formats.filter((format) => format.identify(golden.text)).map(({ format }) => format)
    expect(taken, name).toEqual([])
  }
})

test("a file of no format is rejected by each with a reason", () => {
  for (const text of ["", "hello", "{}", "[]", '{"type":"session","version":3}\n']) {
    const { format, rejected } = { format: undefined, rejected: [], ...identify(text, formats) }
    expect([format, rejected.length]).toEqual([undefined, formats.length])
  }
})

test("a file whose first lines are longer than what is looked at is identified by their beginnings", async () => {
  const line = (more: object) => `${JSON.stringify({ sessionId: "s", cwd: "/w", ...more })}\n`
  const data = "A".repeat(100_000)
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data } }
  const said = line({
    type: "user",
    message: { role: "user", content: [{ type: "text", text: 'a ", [b' }, image] },
    uuid: "u",
  })
  const snapshot = `${JSON.stringify({ type: "file-history-snapshot", messageId: "m", snapshot: {} })}\n`
  const queued = line({ type: "queue-operation", operation: "enqueue", content: data })
  const meta = { type: "session_meta", payload: { id: "c", base_instructions: { text: data } } }
  for (const text of [said, snapshot + said, queued + said]) {
    expect(identify(text, formats).format?.format).toBe("claude-code")
    const { session } = await importText(claudeCode, { text })
    expect((await session.context()).messages).toHaveLength(1)
  }
  expect(identify(JSON.stringify(meta), formats).format?.format).toBe("codex")
  const first = { parentUuid: null, isSidechain: false, type: "user", message: { role: "user", content: data } }
  const typed = `${JSON.stringify({ ...first, uuid: "u", sessionId: "s" })}\n`
  expect(identify(typed, formats).format?.format).toBe("claude-code")
  expect(identify(line({ says: "hello", data }), formats).format).toBeUndefined()
})

test("a document whose first message is longer than what is looked at is of the same format as with a short one", () => {
  const documents = (content: string) => [
    [{ role: "user", content }],
    { system: "Be brief.", messages: [{ role: "user", content }] },
    [{ id: "m", role: "user", parts: [{ type: "text", text: content }] }],
    [{ type: "message", role: "user", content: [{ type: "input_text", text: content }] }],
  ]
  const found = (content: string) =>
    documents(content).map((document) => identify(JSON.stringify(document), formats).format?.format)
  expect(found(`${"A".repeat(100_000)}"`)).toEqual(found("A"))
  expect(found("A")).not.toContain(undefined)
})

test("a format that was asked for reads a document whose beginning does not show it, and refuses one of another shape", async () => {
  const system = "A".repeat(100_000)
  const read = (document: object) => importText(anthropic, { text: JSON.stringify(document) })
  const { session } = await read({ system, messages: [{ role: "user", content: "hi" }] })
  expect((await session.context()).messages).toHaveLength(2)
  await expect(read({ system, other: [] })).rejects.toMatchObject({ code: "not_a_session" })
  await expect(read({ other: 1 })).rejects.toMatchObject({ code: "not_a_session" })
})

test.each(["codex/tools.jsonl", "openai-messages/chat.json", "openai-responses/items.json"])(
  "arguments of a call in %s that are nested deeper than the stack give a session or a SessionError",
  async (name) => {
    // An object with a number as its key: without one, newer engines write any depth.
    const deep = `{\\"a\\":${"[".repeat(50_000)}{\\"0\\":0}${"]".repeat(50_000)}}`
    const text = fixture(name).replace(/(?<="arguments": ?")(?:[^"\\]|\\.)*/, deep)
    const [format] = formats.filter((one) => one.identify(fixture(name)))
    const error = await importText(format as Format, { text }).catch((error: unknown) => error)
    expect(error instanceof SessionError ? "a SessionError" : error).not.toBeInstanceOf(Error)
  },
)

test.each([
  [
    claudeCode,
    (deep: unknown) => ({ type: "user", uuid: "u", sessionId: "s", message: { role: "user", content: deep } }),
  ],
  [gemini, (deep: unknown) => ({ id: "m", type: "user", content: deep })],
  [
    gemini,
    (deep: unknown) => ({ id: "m", type: "gemini", content: [{ functionCall: {} }], toolCalls: [{ result: deep }] }),
  ],
  [opencode, (deep: unknown) => ({ info: { id: "o" }, messages: [{ info: { id: deep, role: "user" }, parts: [] }] })],
])("%s with values nested deeper than the stack gives a session or a SessionError", async (format, recordOf) => {
  // Put into the text, because JSON.stringify is recursive.
  const text = JSON.stringify(recordOf("DEEP")).replace('"DEEP"', "[".repeat(20_000) + "]".repeat(20_000))
  const header = format === gemini ? '{"sessionId":"g","projectHash":"p"}\n' : ""
  const error = await importText(format, { text: `${header}${text}\n` }).catch((error: unknown) => error)
  expect(error instanceof SessionError ? "a SessionError" : error).not.toBeInstanceOf(Error)
})
