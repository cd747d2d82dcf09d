/** Redaction must reach every text of a log, whatever field it is in. */
import { createSessions, type NewEntry, type Sessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { sessionPage } from "../src/index.ts"
import { dataOf, textOf } from "./page-data.ts"

const SECRET = "sk-0123456789abcdef"
const redact = (text: string): string => text.replaceAll(SECRET, "[key]")

function page(sessions: Sessions, id: string): Promise<string> {
  return textOf(sessionPage(sessions, id, { redact, subagents: true }))
}

test("texts that moved to the blob store are redacted, in the entry, in its line and in the names of its fields", async () => {
  const sessions = createSessions({ storage: createMemoryStorage(), blobs: { textUnits: 1_000, imageChars: 1_000 } })
  const session = await sessions.create({ id: "s" })
  const long = `${"word ".repeat(1_000)} ${SECRET} ${"word ".repeat(1_000)}`
  await session.append([
    { type: "message", message: { role: "user", content: long } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "c", name: "write", arguments: { [`${SECRET}.txt`]: long } }],
      },
    },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: long } },
  ])
  await session.close()
  const stored = await textOf(exportSession(sessions, "s"))
  expect(stored).toContain("blob:sha256:")
  const html = await page(sessions, "s")
  expect(html.includes(SECRET)).toBe(false)
  expect([...(dataOf(html).get("s")?.entries.values() ?? [])].length).toBe(3)
})

test("a field of an extension is redacted, also one that has the name of a field of the format", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const session = await sessions.create({ id: "s", kind: SECRET, systemPromptOverride: SECRET })
  const names = ["format", "targetId", "fromId", "firstKeptEntryId", "messageId", "settles", "data", "content", "usage"]
  await session.append(
    names.map((name): NewEntry => ({ type: "acme:entry", [name]: name === "settles" ? [SECRET] : SECRET })),
  )
  await session.append([
    { type: "message", message: { role: "acme:note", usage: { note: SECRET }, content: SECRET } as never },
    { type: "usage", kind: SECRET, provider: "x", model: "y", usage: { input: 1, [SECRET]: SECRET } } as never,
  ])
  await session.close()
  expect((await page(sessions, "s")).includes(SECRET)).toBe(false)
})

test("sessions of subagents are redacted: title, messages, metadata, header; and so is a line with escapes", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "s", parentSession: { ref: `/home/${SECRET}.jsonl` } })
  await session.append({ type: "message", message: { role: "user", content: "x" } })
  const child = await sessions.create({
    id: "agent",
    kind: "subagent",
    title: `look at ${SECRET}`,
    parentSession: { id: "s" },
    metadata: { note: SECRET },
  })
  await child.append([
    { type: "message", message: { role: "user", content: SECRET } },
    {
      type: "message",
      message: { role: "assistant", content: "x", stopReason: "error", errorMessage: SECRET } as never,
    },
  ])
  await child.close()
  await session.close()
  const escaped = JSON.stringify({
    type: "message",
    id: "01J00000000000000000000000",
    parentId: null,
    timestamp: "2026-01-05T09:30:00.000Z",
    message: { role: "user", content: [{ type: "text", text: SECRET }] },
  }).replace("sk-", String.raw`\u0073k-`)
  const head = await storage.head("s")
  await storage.append("s", [escaped], { expect: { log: head?.log as string, next: head?.next as number } })
  const html = await page(sessions, "s")
  expect([...dataOf(html).keys()]).toEqual(["s", "agent"])
  expect(html.includes(SECRET)).toBe(false)
  expect(html.includes(SECRET.slice(3))).toBe(false)
})
