import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { slotsOf, validLog } from "../../../test/logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import * as fc from "fast-check"
import { bytesOf, codeOf, linesIn, sessionsIn, smallBatches, textOf } from "../../../test/transfer.ts"
import { buildSessionContext } from "../../context/build.ts"
import { parseLine } from "../../format/line.ts"
import { exportSession, type ImportSource, importSession, verifySession } from "../index.ts"

const HEADER = '{"type":"session","format":"@sessions","version":4,"id":"was","timestamp":"2026-01-31T09:30:00.000Z"}'

function entry(seq: number, text = "hello"): string {
  const parentId = seq === 1 ? null : `e${seq - 1}`
  const message = { role: "user", content: [{ type: "text", text }] }
  return JSON.stringify({
    type: "message",
    id: `e${seq}`,
    parentId,
    seq,
    timestamp: "2026-01-31T09:30:00.000Z",
    message,
  })
}

/** Imports, and returns what is stored then. */
async function imported(source: ImportSource) {
  const sessions = sessionsIn()
  const result = await importSession(sessions, source, { id: "new" })
  return { sessions, result, lines: await linesIn(sessions.storage, "new") }
}

const exported = (sessions: ReturnType<typeof sessionsIn>, id: string) => textOf(exportSession(sessions, id))

test("export, import and export give the same log, byte for byte except for the id", async () => {
  await holdsAsync(
    fc.asyncProperty(validLog, async (log) => {
      const text = `${log.join("\n")}\n`
      const { sessions, result } = await imported(text)
      expect(result).toEqual({
        id: "new",
        lines: log.length,
        from: { format: "@sessions", version: 4 },
        diagnostics: [],
      })
      expect(await exported(sessions, "new")).toBe(text.replace("01ARZ3NDEKTSV4RRFFQ69G5FAV", "new"))
    }),
    40,
  )
})

test("only the header's own id changes, in any spelling of the header", async () => {
  const header =
    '{ "parentSession" : {"id":"was","x":1}, "x_id":"was", "id" : "was","type":"session","format":"@sessions", "version":4,"timestamp":"t"}'
  const { lines } = await imported(`${header}\n`)
  expect(JSON.parse(lines[0] as string)).toEqual({ ...JSON.parse(header), id: "new" })
  const plain = await imported(`${HEADER.replace('"id":"was"', '"id" : "was"')}\n`)
  expect(plain.lines[0]).toBe(HEADER.replace('"id":"was"', '"id" : "new"'))
})

test("a text, bytes, a stream and a repeatable source give the same session", async () => {
  const text = `${HEADER}\n${entry(1, "é\u2028𝄞")}\n${entry(2)}\n`
  const bytes = bytesOf(text)
  const chunks = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, index) =>
    bytes.subarray(index * 7, index * 7 + 7),
  )
  async function* once() {
    yield* chunks
  }
  const sources = [text, bytes, once(), () => once()]
  for (const source of sources) expect((await imported(source)).lines.slice(1)).toEqual(text.split("\n").slice(1, 3))
})

test("a repeatable source is not buffered: at most one batch is in memory", async () => {
  const storage = smallBatches(10_000)
  let most = 0
  const written = { lines: 0 }
  async function* source() {
    yield bytesOf(`${HEADER}\n`)
    for (let seq = 1; seq <= 1_000; seq++) {
      if (written.lines > 0) most = Math.max(most, seq - written.lines)
      yield bytesOf(`${entry(seq, "x".repeat(100))}\n`)
    }
  }
  const sessions = sessionsIn(storage)
  await importSession(sessions, () => source(), { id: "new", onProgress: ({ lines }) => (written.lines = lines) })
  expect(await linesIn(storage, "new")).toHaveLength(1_001)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThan(100)
})

test("a BOM and CRLF are accepted", async () => {
  const { sessions, lines, result } = await imported(`\uFEFF${HEADER}\r\n${entry(1)}\r\n${entry(2)}\r\n`)
  expect(result.diagnostics).toEqual([])
  expect(lines.map((line) => parseLine(line).record?.["id"])).toEqual(["new", "e1", "e2"])
  const session = await sessions.open("new")
  expect((await session.context()).messages.map(({ entryId }) => entryId)).toEqual(["e1", "e2"])
})

test("blank lines are dropped and reported; lines that are not records stay", async () => {
  const { lines, result } = await imported(`\n${HEADER}\n\n${entry(1)}\nnot json\n\r\n${entry(3)}`)
  expect(lines.slice(1)).toEqual([entry(1), "not json", entry(3)])
  expect(result.diagnostics.map(({ code, seq }) => [code, seq])).toEqual([
    ["unparsable_line", 2],
    ["unparsable_line", undefined],
  ])
  expect(result.diagnostics[1]?.message).toBe("3 blank lines were left out, at byte 0 of the file and after it.")
})

test("lines before the header follow it", async () => {
  const { lines } = await imported(`stray\n${HEADER}\n${entry(2)}\n`)
  expect(lines.map((line) => line.slice(0, 5))).toEqual(['{"typ', "stray", '{"typ'])
})

test("a line that is not UTF-8 is kept in an entry, and the branch continues past it", async () => {
  const source = bytesOf(`${HEADER}\n${entry(1)}\n`, [0x7b, 0xff, 0x7d], `\n${entry(3).replace('"e2"', '"e1"')}\n`)
  const { sessions, lines, result } = await imported(source)
  const at = HEADER.length + entry(1).length + 2
  expect(result.diagnostics).toEqual([expect.objectContaining({ code: "unparsable_line", seq: 2 })])
  expect(JSON.parse(lines[2] as string)).toMatchObject({
    type: "custom",
    parentId: "e1",
    seq: 2,
    customType: "unreadable_line",
    data: { base64: "e/99", at },
  })
  const context = await (await sessions.open("new")).context()
  expect(context.messages.map(({ entryId }) => entryId)).toEqual(["e1", "e3"])
  expect((await verifySession(sessions, "new")).diagnostics).toEqual([])
})

test("a torn tail is kept at every byte offset of the last record, and the context is the one before it", async () => {
  const whole = bytesOf(`${HEADER}\n${entry(1)}\n`)
  const last = bytesOf(entry(2, "é𝄞"))
  for (let cut = 1; cut < last.length; cut++) {
    const { sessions, lines, result } = await imported(Uint8Array.from([...whole, ...last.subarray(0, cut)]))
    expect(result.diagnostics).toEqual([expect.objectContaining({ code: "torn_tail", seq: 2, bytes: cut })])
    const { data } = JSON.parse(lines[2] as string) as { data: { base64: string } }
    expect(Uint8Array.from(atob(data.base64), (c) => c.charCodeAt(0))).toEqual(last.subarray(0, cut))
    const context = buildSessionContext(slotsOf(lines))
    expect(context.messages.map(({ entryId }) => entryId)).toEqual(["e1"])
    expect((await verifySession(sessions, "new")).damaged).toBe(false)
  }
  const { lines } = await imported(Uint8Array.from([...whole, ...last]))
  expect(lines[2]).toBe(entry(2, "é𝄞"))
})

test.each([
  ["nothing", "", "not_a_session"],
  ["blank lines", "\n\n", "not_a_session"],
  ["prose", "Dear diary\nToday\n", "not_a_session"],
  ["an entry without a header", `${entry(1)}\n`, "not_a_session"],
  ["a newer version", HEADER.replace('"version":4', '"version":99'), "newer_version"],
  ["another system's fourth version", '{"v":4,"kind":"header","id":"x"}\n', "newer_version"],
  ["version 4 of somebody else", '{"type":"session","version":4,"id":"x"}\n', "newer_version"],
  ["a cut header", '{"type":"session","format":"@sess', "not_a_session"],
  ["bytes", new Uint8Array([0xff, 0xfe, 0x00, 0x0a]), "not_a_session"],
])("%s is refused, and nothing is written", async (_, source, code) => {
  const storage = createMemoryStorage()
  expect(await codeOf(importSession(sessionsIn(storage), source, { id: "new" }))).toBe(code)
  expect(await storage.head("new")).toBeUndefined()
})

test("a given format must be the file's", async () => {
  const sessions = sessionsIn()
  const pi = '{"type":"session","version":3,"id":"x","timestamp":"2025-01-01T00:00:00.000Z","provider":"p"}\n'
  expect(await codeOf(importSession(sessions, HEADER, { from: "pi" }))).toBe("not_a_session")
  expect(await codeOf(importSession(sessions, pi, { from: "sessions" }))).toBe("not_a_session")
  expect(await codeOf(importSession(sessions, pi, { from: "oh-my-pi" }))).toBe("not_a_session")
  expect((await importSession(sessions, pi, { from: "pi" })).from).toEqual({ format: "pi", version: 3 })
  expect((await importSession(sessions, HEADER, { from: "sessions" })).from).toEqual({
    format: "@sessions",
    version: 4,
  })
})

test("a source that has another header when it is read again is a conflict, and nothing is written", async () => {
  for (const later of [`${HEADER.replace("was", "other")}\n${entry(1)}\n`, `${entry(1)}\n`]) {
    const storage = createMemoryStorage()
    const readings = [`${HEADER}\n${entry(1)}\n`]
    async function* source() {
      yield readings.shift() ?? later
    }
    expect(await codeOf(importSession(sessionsIn(storage), source, { id: "new" }))).toBe("conflict")
    expect(await storage.head("new")).toBeUndefined()
  }
})

test("a taken id is `exists`; importing a file twice without an id makes two sessions", async () => {
  const sessions = sessionsIn()
  await importSession(sessions, HEADER, { id: "new" })
  expect(await codeOf(importSession(sessions, HEADER, { id: "new" }))).toBe("exists")
  expect(await codeOf(importSession(sessions, HEADER, { id: "../x" }))).toBe("invalid")
  expect((await importSession(sessions, HEADER)).id).not.toBe((await importSession(sessions, HEADER)).id)
})

test("a line longer than the storage's limit moves large strings to the blob store; if that is not enough, the error names the line", async () => {
  const storage = smallBatches(5_000)
  const sessions = sessionsIn(storage, { blobs: { textUnits: 1_000 } })
  const long = entry(1, "x".repeat(10_000))
  await importSession(sessions, `${HEADER}\n${long}\n`, { id: "new" })
  const [, stored] = await linesIn(storage, "new")
  expect(stored?.length).toBeLessThan(500)
  const { messages } = await (await sessions.open("new")).context()
  expect(messages[0]?.message.content).toEqual([{ type: "text", text: "x".repeat(10_000) }])
  const wide = JSON.stringify({ ...JSON.parse(entry(1)), x: Array.from({ length: 2_000 }, () => 1_000) })
  await expect(importSession(sessions, `${HEADER}\n${wide}\n`, { id: "no" })).rejects.toThrow(
    /Line 1 of the log has \d+ bytes/,
  )
  expect(await storage.head("no")).toBeUndefined()
})

test("an interrupted import is incomplete, is never the most recent session, and the same call completes it", async () => {
  const storage = smallBatches()
  const sessions = sessionsIn(storage)
  const text = `${[HEADER, ...Array.from({ length: 20 }, (_, index) => entry(index + 1, "x".repeat(100)))].join("\n")}\n`
  const abort = new AbortController()
  const cut = importSession(sessions, text, { id: "new", signal: abort.signal, onProgress: () => abort.abort() })
  expect(await codeOf(cut)).toBe("aborted")
  expect((await sessions.info("new")).incomplete).toBe(true)
  expect((await sessions.open("new")).diagnostics.map(({ code }) => code)).toContain("incomplete")
  expect(await importSession(sessions, text, { id: "new" })).toMatchObject({ lines: 21 })
  const lines = await linesIn(storage, "new")
  expect(lines.slice(1)).toEqual(text.split("\n").slice(1, -1))
  expect(parseLine(lines[0] as string).record?.["origin"]).toEqual({
    format: "@sessions",
    version: 4,
    id: "was",
    lines: 21,
  })
})

test("a session larger than its limit is rejected before anything is written", async () => {
  const storage = createMemoryStorage()
  const sessions = sessionsIn(storage, { maxSessionBytes: 1_000 })
  const entries = [1, 2, 3].map((seq) => entry(seq, "x".repeat(400_000)))
  const text = `${[HEADER, ...entries].join("\n")}\n`
  expect(await codeOf(importSession(sessions, text, { id: "new" }))).toBe("too_large")
  expect(await storage.head("new")).toBeUndefined()
})

test("a text that only looks like a reference is restored as it was", async () => {
  const text = `blob:sha256:${"a".repeat(64)}`
  const { sessions } = await imported(`${HEADER}\n${entry(1, text)}\n`)
  const { messages } = await (await sessions.open("new")).context()
  expect(messages[0]?.message.content).toEqual([{ type: "text", text }])
})

test("inline images and long texts go to the blob store, as in an append", async () => {
  const image = { type: "image" as const, mimeType: "image/png", data: btoa("x".repeat(3_000)) }
  const source = sessionsIn()
  const session = await source.create({ id: "s" })
  await session.append({
    type: "message",
    message: { role: "user", content: [image, { type: "text", text: "é".repeat(600_000) }] },
  })
  const { sessions } = await imported(await textOf(exportSession(source, "s", { selfContained: true })))
  expect((await linesIn(sessions.storage, "new")).slice(1)).toEqual((await linesIn(source.storage, "s")).slice(1))
  const { messages } = await (await sessions.open("new")).context()
  expect(messages).toEqual((await session.context()).messages)
})

test("moving a value out of a line leaves the rest of the line as written", async () => {
  const data = btoa("x".repeat(3_000))
  const odd = entry(1)
    .replace("{", '{ "n" : 12345678901234567890, ')
    .replace('{"type":"text","text":"hello"}', `{"data":"${data}", "mimeType":"image/png" , "type" : "image", "z":1.0}`)
  const { lines } = await imported(`${HEADER}\n${odd}\n`)
  const ref = /blob:sha256:[0-9a-f]{64}/.exec(lines[1] as string)?.[0] as string
  const blobs = ',"blobs":{"/message/content/0/data":"base64"}}'
  expect(lines[1]).toBe(odd.replace(data, ref).replace(/\}$/, blobs))
})

const text = (value: string): Uint8Array => new TextEncoder().encode(value)

/** A storage with another session's blob, and a file that names it wherever a record can. */
async function fileThatNamesOthers() {
  const sessions = sessionsIn()
  const other = await sessions.storage.blobs.put(text("another session's secret"))
  const own = await sessions.storage.blobs.put(text("came with the file"))
  const record = (seq: number, fields: object): string =>
    JSON.stringify({ ...JSON.parse(entry(seq)), message: undefined, ...fields })
  const block = (type: string, field: string, hash: string): object => ({ type, [field]: `blob:sha256:${hash}` })
  const lines = [
    JSON.stringify({
      ...JSON.parse(HEADER),
      origin: { format: "pi", version: 3, backup: { blobs: [other], bytes: 1 } },
    }),
    record(1, {
      message: {
        role: "user",
        content: [block("text", "text", other), block("text", "text", own), block("image", "data", other)],
      },
      blobs: {
        "/message/content/0/text": "utf8",
        "/message/content/1/text": "utf8",
        "/message/content/2/data": "base64",
      },
    }),
    record(2, { type: "custom", customType: "x", data: { a: `blob:sha256:${other}` }, blobs: { "/data/a": "utf8" } })
      .replaceAll("blob", "\\u0062lob")
      .replace('"seq":2', '"seq":2, "n":12345678901234567890'),
    record(3, {
      type: "file_snapshot",
      messageId: "e1",
      files: {
        a: { blob: `sha256:${other}`, version: 1 },
        b: { blob: `sha256:${own}`, version: 1 },
        c: { blob: null, version: 2 },
      },
    }),
  ]
  return { sessions, other, own, file: `${lines.join("\n")}\n` }
}

test("a reference to a blob that did not come with the file is removed and reported", async () => {
  const { sessions, other, own, file } = await fileThatNamesOthers()
  const { diagnostics } = await importSession(sessions, file, { id: "new", blobs: [own] })
  const lines = await linesIn(sessions.storage, "new")
  expect(lines.join("\n")).not.toContain(other)
  expect(JSON.parse(lines[0] as string).origin).toEqual({ format: "pi", version: 3 })
  const missing = "[This content is missing: it is not in the blob store any more.]"
  expect(JSON.parse(lines[1] as string)).toMatchObject({
    message: {
      content: [{ type: "text", text: missing }, { text: `blob:sha256:${own}` }, { type: "text", text: missing }],
    },
    blobs: { "/message/content/1/text": "utf8" },
  })
  expect(lines[2]).toContain('"n":12345678901234567890')
  expect(JSON.parse(lines[2] as string).data).toEqual({ a: missing })
  expect(Object.keys(JSON.parse(lines[3] as string).files)).toEqual(["b", "c"])
  expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([0, 1, 2, 3].map((seq) => ["missing_blob", seq]))
  const { messages } = await (await sessions.open("new")).context()
  expect(messages[0]?.message.content).toEqual([
    { type: "text", text: missing },
    { type: "text", text: "came with the file" },
    { type: "text", text: missing },
  ])
  expect(await textOf(exportSession(sessions, "new", { selfContained: true }))).not.toContain("secret")
  expect(await codeOf(textOf(exportSession(sessions, "new", { backup: true })))).toBe("not_found")
})

test('with `blobs: "any"` every reference of the file is kept', async () => {
  const { sessions, file } = await fileThatNamesOthers()
  const { diagnostics } = await importSession(sessions, file, { id: "new", blobs: "any" })
  expect(diagnostics).toEqual([])
  expect((await linesIn(sessions.storage, "new")).join("\n")).toBe(file.trimEnd().replace('"was"', '"new"'))
})

test("`append` hooks do not see a blob that did not come with the file", async () => {
  const seen: string[] = []
  const { sessions, file } = await fileThatNamesOthers()
  const hooked = sessionsIn(sessions.storage, { hooks: { append: (one) => void seen.push(JSON.stringify(one)) } })
  await importSession(hooked, file, { id: "new" })
  expect(seen).toHaveLength(3)
  expect(seen.join("\n")).not.toContain("secret")
})
