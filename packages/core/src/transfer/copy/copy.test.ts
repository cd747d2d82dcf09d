import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, linesIn, sessionsIn, smallBatches } from "../../../test/transfer.ts"
import { parseLine } from "../../format/line.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { collectBlobs } from "../../storage/collect-blobs.ts"
import { sha256Hex } from "../../storage/hash.ts"
import { copySession, verifySession } from "../index.ts"
import { copyStored } from "./copy.ts"

const HEADER = '{ "type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:00.000Z"}\r'
const bytes = (text: string) => new TextEncoder().encode(text)

function entry(seq: number, more: Record<string, unknown> = {}): string {
  const parentId = seq === 1 ? null : `e${seq - 1}`
  const base = { type: "custom", id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z", customType: "x" }
  return JSON.stringify({ ...base, data: "x".repeat(60), ...more })
}

async function stored(lines: readonly string[], storage = createMemoryStorage()): Promise<SessionStorage> {
  await storage.append("s", lines, { expect: 0 })
  return storage
}

test("a copy has the same lines, byte for byte, valid or not", async () => {
  const lines = [HEADER, entry(1), "not json", " ", entry(9).replace('"seq":9', '"seq": 7')]
  const from = await stored(lines)
  const to = createMemoryStorage()
  const result = await copySession(sessionsIn(from), "s", to)
  expect(result).toEqual({ id: "s", lines: 5, from: { format: "@sessions", version: 4 }, diagnostics: [] })
  expect(await linesIn(to, "s")).toEqual(lines)
  expect((await to.head("s"))?.info?.next).toBe(5)
})

test("a copy in several batches states its line count, resumes after an interruption, and catches up with its source", async () => {
  const lines = [HEADER, ...Array.from({ length: 20 }, (_, index) => entry(index + 1))]
  const from = await stored(lines)
  const to = smallBatches()
  const whole = smallBatches()
  await copyStored(from, "s", whole)
  const copied = await linesIn(whole, "s")
  expect(parseLine(copied[0] as string).record?.["origin"]).toEqual({
    format: "@sessions",
    version: 4,
    id: "s",
    lines: 21,
  })
  await to.append("s", copied.slice(0, 5), { expect: 0 })
  expect((await sessionsIn(to).info("s")).incomplete).toBe(true)
  await copyStored(from, "s", to)
  expect(await linesIn(to, "s")).toEqual(copied)
  expect(copied.slice(1)).toEqual(lines.slice(1))

  const head = await from.head("s")
  await from.append("s", [entry(21)], { expect: { next: head?.next ?? 0, log: head?.log ?? "" } })
  await copyStored(from, "s", to)
  await copyStored(from, "s", to)
  expect((await linesIn(to, "s")).slice(1)).toEqual([...lines.slice(1), entry(21)])
})

test("another session with the same id is `exists` and is left alone", async () => {
  const from = await stored([HEADER, entry(1), entry(2)])
  for (const other of [
    [HEADER, entry(1), entry(3)],
    [HEADER, entry(1), entry(2), entry(3)],
    [HEADER.replace("2026", "2025")],
  ]) {
    const to = await stored(other)
    expect(await codeOf(copyStored(from, "s", to))).toBe("exists")
    expect(await linesIn(to, "s")).toEqual(other)
  }
})

test("the blobs of lines are copied before the lines, including those of file snapshots and backups", async () => {
  const from = createMemoryStorage()
  const [image, file, backup] = await Promise.all(
    ["image", "file", "backup"].map((text) => from.blobs.put(bytes(text))),
  )
  const header = JSON.stringify({
    ...JSON.parse(HEADER),
    origin: { format: "pi", version: 3, backup: { blobs: [`sha256:${backup}`], bytes: 6 } },
  })
  const lines = [
    header,
    entry(1, { data: `blob:sha256:${image}`, blobs: { "/data": "base64" } }),
    entry(2, { type: "file_snapshot", messageId: "e1", files: { a: { blob: `sha256:${file}`, version: 1 } } }),
  ]
  await stored(lines, from)
  const to = createMemoryStorage()
  const seen: unknown[] = []
  const watched: SessionStorage = {
    ...to,
    append: async (session, batch, o) => {
      for (const hash of [image, file, backup]) seen.push(await to.blobs.has(hash as string))
      return to.append(session, batch, o)
    },
  }
  await copyStored(from, "s", watched)
  expect(seen).toEqual([true, true, true])
  expect(await linesIn(to, "s")).toEqual(lines)
})

test("a hash that is written with escapes, or without its prefix, names its blob too", async () => {
  const from = createMemoryStorage()
  const [image, file] = await Promise.all(["image", "file"].map((text) => from.blobs.put(bytes(text))))
  const escaped = `b\\u006Cob:\\u0073ha256\\u003a${image?.slice(0, 9)}\\u00${image?.charCodeAt(9).toString(16)}${image?.slice(10)}`
  const lines = [
    HEADER,
    entry(1, { data: "ESCAPED", blobs: { "/data": "base64" } }).replace("ESCAPED", escaped),
    entry(2, { type: "file_snapshot", messageId: "e1", files: { a: { blob: file, version: 1 } } }),
  ]
  await stored(lines, from)
  const to = createMemoryStorage()
  await copyStored(from, "s", to)
  expect(await linesIn(to, "s")).toEqual(lines)
  expect((await verifySession(sessionsIn(to), "s")).diagnostics).toEqual([])
  expect(await collectBlobs(from, { olderThan: 0 })).toEqual({ removed: 0, bytes: 0 })
})

test("a blob missing in the source is reported if a line refers to it, not if a text looks like a reference", async () => {
  const hash = await sha256Hex("nowhere")
  const text = `blob:sha256:${hash}`
  const file = { blob: `sha256:${await sha256Hex("lost")}`, version: 1 }
  const from = await stored([
    HEADER,
    entry(1, { data: text }),
    entry(2, { data: text, blobs: { "/data": "utf8" } }),
    entry(3, { type: "file_snapshot", messageId: "e1", files: { a: file } }),
  ])
  const { diagnostics } = await copyStored(from, "s", createMemoryStorage())
  expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([
    ["missing_blob", 2],
    ["missing_blob", 3],
  ])
})

test("an older or newer log is copied as it is; a log that is not a session is rejected", async () => {
  const pi = [
    '{"type":"session","version":3,"id":"old","timestamp":"t","provider":"p"}',
    '{"type":"message","id":"a","parentId":null}',
  ]
  const newer = ['{"type":"session","format":"@sessions","version":99,"id":"s"}', '{"what":1}']
  for (const [lines, from] of [
    [pi, { format: "pi", version: 3 }],
    [newer, { format: "unknown", version: 99 }],
  ] as const) {
    const to = createMemoryStorage()
    expect(await copyStored(await stored(lines), "s", to)).toMatchObject({ from })
    expect(await linesIn(to, "s")).toEqual(lines)
    // Information of a log in another format must not pass for information in this version's format.
    expect((await to.head("s"))?.info).toBeUndefined()
  }
  const to = createMemoryStorage()
  expect(await codeOf(copyStored(await stored(["hello", "world"]), "s", to))).toBe("not_a_session")
  expect(await to.head("s")).toBeUndefined()
})

test("an unknown id is `not_found`; a log that exceeds the other storage's limits is `too_large`, and nothing is written", async () => {
  const from = await stored([HEADER, entry(1, { data: "x".repeat(2_000) })])
  expect(await codeOf(copyStored(createMemoryStorage(), "s", from))).toBe("not_found")
  const to = smallBatches()
  expect(await codeOf(copyStored(from, "s", to))).toBe("too_large")
  expect(await to.head("s")).toBeUndefined()
})
