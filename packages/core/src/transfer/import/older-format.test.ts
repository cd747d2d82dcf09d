import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { CONTEXT_MESSAGES, firstVersionLines, LINES } from "../../../test/first-version.ts"
import { damagedLines, titleSlotLines } from "../../../test/older-logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { bytesOf, linesIn, sessionsIn, smallBatches } from "../../../test/transfer.ts"
import { headerProblem } from "../../format/header.ts"
import { entryProblem } from "../../format/entry-problems.ts"
import { parseLine } from "../../format/line.ts"
import { importSession, verifySession } from "../index.ts"

const AT = "2025-01-01T00:00:00.000Z"
const HEADER = JSON.stringify({
  type: "session",
  version: 3,
  id: "old",
  timestamp: AT,
  cwd: "/p",
  provider: "p",
  modelId: "m",
})
const PNG = btoa("x".repeat(3_000))

function entry(id: string, parentId: string | null, content: unknown): string {
  return JSON.stringify({ type: "message", id, parentId, timestamp: AT, message: { role: "user", content } })
}

test("a long version 1 log has the context that its own program builds, and an entry for every message", async () => {
  const sessions = sessionsIn()
  const result = await importSession(sessions, bytesOf(firstVersionLines().join("\n")))
  expect(result).toMatchObject({ lines: LINES, from: { format: "pi", version: 1 }, diagnostics: [] })
  const session = await sessions.open(result.id)
  const { messages, model } = await session.context({ repair: "none" })
  expect(messages).toHaveLength(CONTEXT_MESSAGES)
  expect(messages.every(({ entryId }) => typeof entryId === "string" && entryId !== "")).toBe(true)
  expect(model).toEqual({ provider: "anthropic", model: "claude-opus-4-5" })
  expect(session.header.origin).toMatchObject({ format: "pi", version: 1, lines: LINES })
  expect(await verifySession(sessions, result.id)).toMatchObject({ diagnostics: [], damaged: false })
})

test("a log that ends in a reset boundary has an empty context, and the title of its title slot", async () => {
  const sessions = sessionsIn()
  const { id, from } = await importSession(sessions, bytesOf(titleSlotLines().join("\n")))
  expect(from).toEqual({ format: "oh-my-pi", version: 3 })
  expect((await (await sessions.open(id)).context()).messages).toEqual([])
  expect((await sessions.info(id)).title).toBe("Letters")
})

test("an older log becomes complete entries under a header that names its origin", async () => {
  const storage = createMemoryStorage()
  const source = [HEADER, entry("a", null, "hi"), entry("b", "a", "ho")].join("\n")
  const result = await importSession(sessionsIn(storage), source, { id: "new" })
  expect(result).toEqual({ id: "new", lines: 3, from: { format: "pi", version: 3 }, diagnostics: [] })
  const [header, ...entries] = (await linesIn(storage, "new")).map((line) => parseLine(line).record)
  expect(headerProblem(header)).toBeUndefined()
  expect(header).toMatchObject({ id: "new", origin: { format: "pi", version: 3, id: "old", lines: 3 } })
  expect(entries.map(entryProblem)).toEqual([undefined, undefined])
})

test("images and long strings go to the blob store as in an append, and are restored", async () => {
  const storage = createMemoryStorage()
  const sessions = sessionsIn(storage, { blobs: { textUnits: 2_000 } })
  const image = { type: "image", mimeType: "image/png", data: PNG }
  const long = { type: "text", text: "é".repeat(2_500) }
  await importSession(sessions, [HEADER, entry("a", null, [image, long])].join("\n"), { id: "new" })
  const [, line] = await linesIn(storage, "new")
  expect(JSON.parse(line as string).blobs).toEqual({
    "/message/content/0/data": "base64",
    "/message/content/1/text": "utf8",
  })
  const { messages } = await (await sessions.open("new")).context()
  expect(messages[0]?.message.content).toEqual([image, long])
})

test("a line too long for the storage first moves blobs to the store, and is rejected only if that is not enough", async () => {
  const storage = smallBatches(3_000)
  const sessions = sessionsIn(storage)
  const image = { type: "image", mimeType: "image/png", data: PNG }
  await importSession(sessions, [HEADER, entry("a", null, [image])].join("\n"), { id: "new" })
  expect(await linesIn(storage, "new")).toHaveLength(2)
  const source = [HEADER, entry("a", null, "x".repeat(4_000))].join("\n")
  await expect(importSession(sessions, source, { id: "no" })).rejects.toThrow(/Line 1 of the log has 4\d\d\d bytes/)
  expect(await storage.head("no")).toBeUndefined()
})

test("other programs' references to their own blobs are left as they are", async () => {
  const storage = createMemoryStorage()
  const data = `blob:sha256:${"a".repeat(64)}`
  const image = { type: "image", mimeType: "image/png", data }
  await importSession(sessionsIn(storage), [HEADER, entry("a", null, [image])].join("\n"), { id: "new" })
  const [, line] = await linesIn(storage, "new")
  expect(JSON.parse(line as string)).not.toHaveProperty("blobs")
  expect(JSON.parse(line as string).message.content).toEqual([image])
})

test("invalid records, invalid UTF-8 and torn lines keep their position; record indexes do not count them", async () => {
  const v1 = (record: object) => JSON.stringify({ timestamp: AT, ...record })
  const say = (text: string) => v1({ type: "message", message: { role: "user", content: text } })
  const compaction = v1({ type: "compaction", summary: "so far", firstKeptEntryIndex: 2, tokensBefore: 1 })
  const torn = say("three").slice(0, -5)
  const source = bytesOf(
    `${v1({ type: "session", id: "old" })}\n${say("one")}\n`,
    [0xff, 0x0a],
    `\nnot json\n${say("two")}\n${compaction}\n${torn}`,
  )
  const storage = createMemoryStorage()
  const sessions = sessionsIn(storage)
  const { diagnostics } = await importSession(sessions, source, { id: "new" })
  expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([
    ["unparsable_line", undefined],
    ["unparsable_line", 2],
    ["unparsable_line", 3],
    ["torn_tail", 6],
  ])
  const lines = await linesIn(storage, "new")
  expect(lines[3]).toBe("not json")
  const entries = [2, 6].map((seq) => JSON.parse(lines[seq] as string))
  expect(entries.map(({ data }) => atob(data.base64))).toEqual(["\xff", torn])
  const ids = lines.map((line) => parseLine(line).record?.["id"])
  expect(entries.map(({ parentId }) => parentId)).toEqual([ids[1], ids[5]])
  const { messages } = await (await sessions.open("new")).context()
  expect(messages.map(({ kind, message }) => [kind, JSON.stringify(message.content).includes("two")])).toEqual([
    ["compaction", false],
    ["message", true],
  ])
})

test("an import of an older log in several batches resumes after an interruption", async () => {
  const storage = smallBatches()
  const sessions = sessionsIn(storage)
  const source = [
    HEADER,
    ...Array.from({ length: 30 }, (_, i) => entry(`e${i}`, i === 0 ? null : `e${i - 1}`, `say ${i}`)),
  ].join("\n")
  const abort = new AbortController()
  const cut = importSession(sessions, source, { id: "new", signal: abort.signal, onProgress: () => abort.abort() })
  await expect(cut).rejects.toMatchObject({ code: "aborted" })
  await importSession(sessions, source, { id: "new" })
  expect(await linesIn(storage, "new")).toHaveLength(31)
  const whole = sessionsIn()
  await importSession(whole, source, { id: "new" })
  expect(await linesIn(storage, "new")).toEqual(await linesIn(whole.storage, "new"))
})

test("every line of a damaged file is kept, or the file is rejected with a code", async () => {
  const wound = fc.tuple(fc.nat(), fc.nat({ max: 255 }))
  await holdsAsync(
    fc.asyncProperty(damagedLines, fc.array(wound, { maxLength: 4 }), fc.boolean(), async (log, wounds, ended) => {
      const file = bytesOf(log.join("\n") + (ended ? "\n" : ""))
      for (const [at, byte] of wounds) if (file.length > 0) file[at % file.length] = byte
      const sessions = sessionsIn()
      const result = await importSession(sessions, file, { id: "new" }).catch((error: { code?: string }) => error.code)
      expect(["object", "not_a_session", "newer_version"]).toContain(typeof result === "object" ? "object" : result)
      if (typeof result !== "object") return
      const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(file).split("\n")
      const kept = text.filter((line) => line.trim() !== "").length
      // The header stays one line; a title slot is removed, and a title entry and the annotations in force may be added.
      const stored = await linesIn(sessions.storage, "new")
      const inForce = stored.filter((line) => /"type":"(?:title_change|label|metadata)"/.test(line)).length
      expect(stored.length).toBeGreaterThanOrEqual(kept - 1)
      expect(stored.length).toBeLessThanOrEqual(kept + 1 + inForce)
      expect(result.lines).toBe(stored.length)
      const session = await sessions.open("new")
      await session.context()
      expect((await verifySession(sessions, "new")).lines).toBe(stored.length)
    }),
    80,
  )
})

test("an older log with a field `blobs` does not read the blob of another session", async () => {
  const storage = createMemoryStorage()
  const hash = await storage.blobs.put(new TextEncoder().encode("another session's secret"))
  const line = entry("a", null, [{ type: "text", text: `blob:sha256:${hash}` }])
  const claim = line.replace("{", '{"blobs":{"/message/content/0/text":"utf8"},')
  const sessions = sessionsIn(storage)
  const { diagnostics } = await importSession(sessions, [HEADER, claim].join("\n"), { id: "new" })
  expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([["missing_blob", 1]])
  expect((await linesIn(storage, "new")).join("\n")).not.toContain(hash)
})
