import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, linesIn, sessionsIn, textOf } from "../../../test/transfer.ts"
import { user } from "../../../test/writers.ts"
import { exportSession, importSession } from "../index.ts"

const HEADER = '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:00.000Z"}'
const IMAGE = { type: "image" as const, mimeType: "image/png", data: btoa("x".repeat(3_000)) }

test("an export is the stored lines, valid or not, in chunks", async () => {
  const storage = createMemoryStorage()
  const lines = [`\uFEFF${HEADER}\r`, "not json", " ", '{"a":"\u2028"}', "x".repeat(300_000), "end"]
  await storage.append("s", lines, { expect: 0 })
  const pieces: string[] = []
  for await (const piece of exportSession(sessionsIn(storage), "s")) pieces.push(piece)
  expect(pieces.join("")).toBe(`${lines.join("\n")}\n`)
  expect(pieces.length).toBeGreaterThan(1)
})

test("entries that are not yet acknowledged are exported too", async () => {
  const sessions = sessionsIn()
  const session = await sessions.create({ id: "s" })
  void session.append(user("queued"))
  expect(await textOf(exportSession(sessions, "s"))).toContain("queued")
})

test("a self-contained export has its blobs inline, every other line as stored, and imports into any storage", async () => {
  const sessions = sessionsIn(undefined, { blobs: { textUnits: 1_000 } })
  const session = await sessions.create({ id: "s" })
  const long = "é".repeat(2_000)
  await session.append([
    { type: "message", message: { role: "user", content: [IMAGE, { type: "text", text: long }] } },
    user(`blob:sha256:${"a".repeat(64)}`),
  ])
  const stored = await linesIn(sessions.storage, "s")
  const text = await textOf(exportSession(sessions, "s", { selfContained: true }))
  const lines = text.split("\n")
  expect([lines[0], lines[2]]).toEqual([stored[0], stored[2]])
  expect(JSON.parse(lines[1] as string)).not.toHaveProperty("blobs")

  const elsewhere = sessionsIn()
  await importSession(elsewhere, text, { id: "s" })
  const { messages } = await (await elsewhere.open("s")).context()
  expect(messages).toEqual((await session.context()).messages)
  expect(messages[0]?.message.content).toEqual([IMAGE, { type: "text", text: long }])
})

test("restoring a line's blobs leaves the rest of the line as written", async () => {
  const storage = createMemoryStorage()
  const hash = await storage.blobs.put(new TextEncoder().encode("the text"))
  const line = `{"seq":1, "n":12345678901234567890,"type":"custom","id":"a","parentId":null, "timestamp":"2026-01-31T09:30:00.000Z","blobs":{"/data":"utf8"}, "data":"blob:sha256:${hash}" }`
  await storage.append("s", [HEADER, line], { expect: 0 })
  const text = await textOf(exportSession(sessionsIn(storage), "s", { selfContained: true }))
  const expected = line.replace('"blobs":{"/data":"utf8"}, ', "").replace(`blob:sha256:${hash}`, "the text")
  expect(text).toBe(`${HEADER}\n${expected}\n`)
})

test("if a blob is missing, a self-contained export keeps the reference with its name", async () => {
  const storage = createMemoryStorage()
  const entry = JSON.stringify({
    type: "custom",
    id: "a",
    parentId: null,
    seq: 1,
    timestamp: "2026-01-31T09:30:00.000Z",
    customType: "x",
    data: `blob:sha256:${"a".repeat(64)}`,
    blobs: { "/data": "utf8" },
  })
  await storage.append("s", [HEADER, entry], { expect: 0 })
  expect(await textOf(exportSession(sessionsIn(storage), "s", { selfContained: true }))).toBe(`${HEADER}\n${entry}\n`)
})

test("an older log's images are restored by the references of its own format", async () => {
  const storage = createMemoryStorage()
  const hash = await storage.blobs.put(new TextEncoder().encode("x".repeat(3_000)))
  const old = '{"type":"session","version":3,"id":"s","timestamp":"2025-01-01T00:00:00.000Z"}'
  const message = { role: "user", content: [{ ...IMAGE, data: `blob:sha256:${hash}` }] }
  await storage.append("s", [old, JSON.stringify({ type: "message", id: "a", parentId: null, message })], { expect: 0 })
  expect(await textOf(exportSession(sessionsIn(storage), "s", { selfContained: true }))).toContain(IMAGE.data)
})

test("an unknown session is `not_found`, and so is a backup that does not exist; wrong combinations are `invalid`", async () => {
  const sessions = sessionsIn()
  await sessions.create({ id: "s" })
  expect(await codeOf(textOf(exportSession(sessions, "nobody")))).toBe("not_found")
  expect(await codeOf(textOf(exportSession(sessions, "nobody", { format: "markdown" })))).toBe("not_found")
  expect(await codeOf(textOf(exportSession(sessions, "s", { backup: true })))).toBe("not_found")
  expect(await codeOf(textOf(exportSession(sessions, "s", { format: "markdown", selfContained: true })))).toBe(
    "invalid",
  )
  expect(await codeOf(textOf(exportSession(sessions, "s", { backup: true, selfContained: true })))).toBe("invalid")
})
