/** Importers of the caller, shown by one for a small format: questions and answers as text, with pictures and a title in files beside. */
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, contextTexts, storedLines } from "../../../test/writers.ts"
import { toBase64 } from "../../format/base64.ts"
import type { Entry } from "../../format/entry.ts"
import { SessionError } from "../../format/errors.ts"
import { FORMAT, type Header, VERSION } from "../../format/header.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import { infoBeside } from "../../info/store.ts"
import { createSessions } from "../../session/repository.ts"
import type { Importer, ImportOptions } from "../types.ts"
import type { SessionsOptions } from "../../session/repository-types.ts"
import type { HeadInfo } from "../../storage/contract.ts"
import { importSession, verifySession } from "../index.ts"

const AT = Date.parse("2026-01-31T09:30:00.000Z")

/** `#chat 2` and a name, then lines: `> question`, `< answer`, `! picture.png`, `^ n` (back to the n-th entry), others. */
const CHAT: Importer = {
  format: "chat",
  identify: (start) => start.startsWith("#chat "),
  async *read({ main, beside }, { note }) {
    const lines = (await joined(main)).split("\n")
    const [, version, id] = (lines[0] ?? "").split(" ")
    const origin = { format: "chat", version: Number(version), ...(id === undefined ? {} : { id }) }
    const timestamp = new Date(AT).toISOString()
    yield { type: "session", format: FORMAT, version: VERSION, id: "any", timestamp, origin } satisfies Header
    const ids: string[] = []
    let parentId: string | null = null
    const next = (payload: object): Entry => {
      const entry = { ...payload, id: ulidAt(AT, ids.length), parentId, seq: 0, timestamp } as unknown as Entry
      ids.push(entry.id)
      parentId = entry.id
      return entry
    }
    const title = beside("title.txt")
    if (title !== undefined) {
      yield next({ type: "title_change", title: new TextDecoder().decode(await bytesOf(title)), source: "auto" })
    }
    for (const line of lines.slice(1)) {
      const text = line.slice(2)
      if (line.startsWith("> ")) yield next(message({ role: "user", content: [{ type: "text", text }] }))
      else if (line.startsWith("< ")) yield next(message({ role: "assistant", content: [{ type: "text", text }] }))
      else if (line.startsWith("^ ")) parentId = ids[Number(text)] ?? null
      else if (line.startsWith("! ")) {
        const picture = beside(text)
        if (picture === undefined) note({ code: "missing_blob", message: `The picture ${text} is not there.` })
        else {
          const data = toBase64(await bytesOf(picture))
          yield next(message({ role: "user", content: [{ type: "image", mimeType: "image/png", data }] }))
        }
      } else if (line !== "") yield next({ type: "custom", customType: "chat/line", data: line })
    }
  },
}

const FILE = "#chat 2 c1\n> hello\n< hi\n! a.png\n^ 1\n> again\n"

test("a file whose session fits one batch is read once for its entries, a larger one twice; its diagnostics come once", async () => {
  const readings = async (limits: object) => {
    let count = 0
    const source = () => {
      count++
      return inPieces(FILE)
    }
    const sessions = createSessions({ storage: createMemoryStorage({ limits }) })
    const { lines, diagnostics } = await importSession(sessions, source, { id: "s", from: CHAT })
    expect({ lines, codes: diagnostics.map(({ code }) => code) }).toEqual({ lines: 4, codes: ["missing_blob"] })
    return count
  }
  const once = await readings({})
  expect(await readings({ maxBatchBytes: 500, maxLineBytes: 499 })).toBe(once + 1)
})

test("with `hold`, a log of several batches is read once and written as without it; one with blobs is read twice", async () => {
  const limits = { maxBatchBytes: 500, maxLineBytes: 499 }
  const imported = async (textUnits: number, isHeld: boolean) => {
    let readings = 0
    const held: string[] = []
    const hold = () => ({ push: (line: string) => void held.push(line), lines: () => inOrder(held) })
    const source = () => {
      readings++
      return inPieces(FILE)
    }
    const storage = createMemoryStorage({ limits })
    const sessions = createSessions({ storage, blobs: { textUnits } })
    const { diagnostics } = await importSession(sessions, source, { id: "s", from: isHeld ? { ...CHAT, hold } : CHAT })
    return { readings, held: held.length, lines: await storedLines(storage, "s"), diagnostics }
  }
  const [without, held] = [await imported(500, false), await imported(500, true)]
  expect(held.lines).toEqual(without.lines)
  expect(held.diagnostics).toEqual(without.diagnostics)
  expect([held.readings, held.held]).toEqual([without.readings - 1, 3])
  const [before, after] = [await imported(4, false), await imported(4, true)]
  expect(after.lines).toEqual(before.lines)
  expect(after.readings).toBe(before.readings)
})

test("the session information of an imported log has the start of a prompt that is in the blob store, in one reading and in two", async () => {
  const text = "a question ".repeat(40)
  for (const limits of [{}, { maxBatchBytes: 700, maxLineBytes: 699 }]) {
    const storage = createMemoryStorage({ limits })
    const sessions = createSessions({ storage, blobs: { textUnits: 200 } })
    await importSession(sessions, `#chat 2 c1\n> ${text}\n< yes\n< so it is\n`, { id: "s", from: CHAT })
    const head = (await storage.head("s")) as HeadInfo
    expect(infoBeside(head)?.firstPrompt).toEqual({ id: expect.any(String) as string, text: text.slice(0, 200) })
  }
})

test("the text of a file does not depend on its pieces, also if it is not UTF-8", async () => {
  const bytes = Uint8Array.from([
    ...new TextEncoder().encode("\uFEFF#chat 2 c1\n> aé€😀\uFFFD\uFEFFz"),
    0x80,
    0xe2,
    0x82,
    0x41,
    0xf0,
    0x9f,
    0x98,
    0xc3,
    0xe0,
    0x80,
    0x80,
    0xff,
    0xed,
    0xa0,
    0x80,
    0xf4,
    0x90,
    0x80,
    0xc0,
    ...new TextEncoder().encode("\n< ü"),
    0xf0,
    0x9f,
  ])
  const text = new TextDecoder().decode(bytes)
  for (let size = 1; size <= bytes.length; size++) {
    const { sessions } = fresh()
    const source = () =>
      one(...Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.slice(n * size, (n + 1) * size)))
    const { diagnostics } = await importSession(sessions, source, { id: "s", from: CHAT })
    const lines = await contextTexts(await sessions.open("s"))
    expect([size, ...lines]).toEqual([
      size,
      ...text
        .split("\n")
        .slice(1)
        .map((line) => line.slice(2)),
    ])
    expect(diagnostics.map(({ code }) => code)).toEqual(["unparsable_line"])
  }
})

test("an importer's records become a session, with its files beside and its images in the blob store", async () => {
  const { sessions, storage } = fresh()
  const picture = new Uint8Array(5_000).fill(7)
  const files = new Map([
    ["a.png", picture],
    ["title.txt", new TextEncoder().encode("A chat")],
  ])
  const result = await importSession(sessions, inPieces(FILE), { id: "s", from: CHAT, beside: besideOf(files) })
  expect(result).toEqual({ id: "s", lines: 6, from: { format: "chat", version: 2 }, diagnostics: [] })
  const session = await sessions.open("s")
  expect(session.header).toMatchObject({
    id: "s",
    origin: { format: "chat", version: 2, id: "c1", lines: 6, settled: 6 },
  })
  expect(await session.info()).toMatchObject({ title: "A chat", messageCount: 4, openTips: { tips: [] } })
  expect(await contextTexts(session)).toEqual(["hello", "again"])
  const lines = await storedLines(storage)
  expect(lines.map((line) => (JSON.parse(line) as { seq?: number }).seq)).toEqual([undefined, 1, 2, 3, 4, 5])
  expect(lines[4]).toContain("blob:sha256:")
  const { id } = JSON.parse(lines[4] ?? "") as Entry
  expect(await session.entry(id)).toMatchObject({ message: { content: [{ data: toBase64(picture) }] } })
  expect((await verifySession(sessions, "s")).diagnostics).toEqual([])
})

test("a source that can be read once, bytes with a BOM, and characters that are cut by pieces give the same session", async () => {
  const text = "#chat 2 c1\n> h\u00e9llo \u{1F600}\n"
  const bytes = new TextEncoder().encode(`\uFEFF${text}`)
  const forms = [
    text,
    bytes,
    inPieces(text),
    () => inPieces(`\uFEFF${text}`),
    one(...Array.from(bytes, (_, n) => bytes.subarray(n, n + 1))),
  ]
  for (const source of forms) {
    const { sessions } = fresh()
    const { diagnostics } = await importSession(sessions, source, { id: "s", from: CHAT })
    expect(diagnostics).toEqual([])
    expect(await contextTexts(await sessions.open("s"))).toEqual(["h\u00e9llo \u{1F600}"])
  }
})

test("diagnostics of an importer, and bytes that are not UTF-8, are reported once each", async () => {
  const { sessions } = fresh()
  const bytes = new TextEncoder().encode("#chat 2\n> bad ?\n! gone.png\n")
  bytes[bytes.indexOf(63)] = 0xff
  const { diagnostics, lines } = await importSession(sessions, bytes, { id: "s", from: CHAT })
  expect(diagnostics.map(({ code }) => code)).toEqual(["unparsable_line", "missing_blob"])
  expect(lines).toBe(2)
  expect(await contextTexts(await sessions.open("s"))).toEqual(["bad \uFFFD"])
})

test("`identify` gets the first 65,536 units, and a file of another format is `not_a_session`", async () => {
  const { sessions, storage } = fresh()
  const starts: string[] = []
  const importer: Importer = { ...CHAT, identify: (start) => starts.push(start) === 0 }
  expect(await codeOf(importSession(sessions, inPieces("x".repeat(200_000)), { id: "s", from: importer }))).toBe(
    "not_a_session",
  )
  expect(await codeOf(importSession(sessions, "", { id: "s", from: importer }))).toBe("not_a_session")
  expect(starts.map(({ length }) => length)).toEqual([65_536, 0])
  expect(await storage.head("s")).toBeUndefined()
})

test("an error of the importer, of the file or of a file beside rejects the import unchanged, and nothing is written", async () => {
  const failing: [string, Importer, ImportOptions["beside"]][] = [
    ["in identify", { ...CHAT, identify: () => fail() }, undefined],
    ["before the header", reading(() => fail()), undefined],
    ["after some records", reading((records) => [...records.slice(0, 3), fail()] as never), undefined],
    ["beside", CHAT, () => ({ [Symbol.asyncIterator]: fail })],
  ]
  for (const [what, from, beside] of failing) {
    const { sessions, storage } = fresh()
    const imported = importSession(sessions, FILE, { id: "s", from, ...(beside === undefined ? {} : { beside }) })
    await expect(imported, what).rejects.toBe(FAILURE)
    expect(await storage.head("s"), what).toBeUndefined()
  }
  const { sessions } = fresh()
  await expect(importSession(sessions, () => ({ [Symbol.asyncIterator]: fail }), { from: CHAT })).rejects.toBe(FAILURE)
  const refusing = reading(() => {
    throw new SessionError("newer_version", "It is of version 9.")
  })
  expect(await codeOf(importSession(sessions, FILE, { from: refusing }))).toBe("newer_version")
})

test("wrong records and wrong importers are `invalid`, with the number of the record, and nothing is written", async () => {
  const change = (at: number, fields: object) =>
    reading((records) => records.map((record, n) => (n === at ? { ...record, ...fields } : record)) as never)
  const wrong: [Importer, RegExp][] = [
    [reading(() => []), /first record must be the header/],
    [reading((records) => records.slice(1)), /first record must be the header/],
    [change(0, { origin: undefined }), /origin.format must be "chat"/],
    [change(0, { origin: { format: "pi", version: 3 } }), /origin.format must be "chat"/],
    [change(0, { timestamp: 5 }), /number 0.*timestamp must be a string/],
    [change(2, { type: "session" }), /number 2.*header's/],
    [change(2, { id: "" }), /number 2.*id must be/],
    [change(2, { message: { role: "assistant", content: 7 } }), /number 2.*message.content/],
    [reading((records) => [records[0], null] as never), /number 1/],
    [{ ...CHAT, format: "" }, /needs `format`/],
    [{ format: "chat", identify: () => true } as unknown as Importer, /needs `format`/],
  ]
  for (const [from, message] of wrong) {
    const { sessions, storage } = fresh()
    const error = await importSession(sessions, FILE, { id: "s", from }).catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: "invalid", message: expect.stringMatching(message) })
    expect(await storage.head("s")).toBeUndefined()
  }
  const { sessions } = fresh()
  expect(await codeOf(importSession(sessions, FILE, { beside: () => undefined }))).toBe("invalid")
})

test("an abort ends the import, also in an importer that ignores the signal, and ends its reading", async () => {
  const controller = new AbortController()
  let isEnded = false
  async function* endless() {
    try {
      yield FILE
      for (;;) {
        controller.abort()
        yield "> more\n"
      }
    } finally {
      isEnded = true
    }
  }
  const { sessions, storage } = fresh()
  const imported = importSession(sessions, () => endless(), { id: "s", from: CHAT, signal: controller.signal })
  expect(await codeOf(imported)).toBe("aborted")
  expect(isEnded).toBe(true)
  expect(await storage.head("s")).toBeUndefined()
  const signals: unknown[] = []
  const asking: Importer = {
    ...CHAT,
    async *read(source, o) {
      signals.push(o.signal)
      yield* CHAT.read(source, o)
    },
  }
  const { signal } = new AbortController()
  await importSession(sessions, FILE, { from: asking, signal })
  expect(new Set(signals)).toEqual(new Set([signal]))
})

test("an interrupted import is incomplete, and the same call completes it", async () => {
  const location = createMemoryLocation()
  const controller = new AbortController()
  const file = `#chat 2\n${"> a question of some length\n".repeat(200)}`
  const limits = { maxBatchBytes: 10_000, maxLineBytes: 9_000 }
  const sessions = createSessions({ storage: createMemoryStorage({ location, limits }) })
  const o = { id: "s", from: CHAT }
  const stop = (): void => controller.abort()
  expect(await codeOf(importSession(sessions, file, { ...o, signal: controller.signal, onProgress: stop }))).toBe(
    "aborted",
  )
  expect((await sessions.info("s")).incomplete).toBe(true)
  expect(await importSession(sessions, file, o)).toMatchObject({ lines: 201 })
  expect(await sessions.info("s")).not.toHaveProperty("incomplete")
  expect((await sessions.open("s")).header.origin).toMatchObject({ lines: 201, settled: 201 })
  expect(await codeOf(importSession(sessions, file, o))).toBe("exists")
})

test("the append hooks filter the records, and an importer that writes its own branches keeps its horizon", async () => {
  const { sessions } = fresh({
    hooks: {
      append: (entry) =>
        entry.type === "message" ? { ...entry, message: { role: "user", content: "redacted" } } : undefined,
    },
  })
  const own = reading(
    (records) =>
      records.map((record) =>
        record.type === "session" ? { ...record, origin: { ...record.origin, settled: 0 } } : record,
      ) as never,
  )
  await importSession(sessions, FILE, { id: "s", from: own })
  const session = await sessions.open("s")
  expect(await contextTexts(session)).toEqual(["redacted", "redacted", "redacted"])
  expect(session.header.origin).toMatchObject({ lines: 4, settled: 0 })
})

test("a reference to another session's blob does not come in through an importer", async () => {
  const { sessions, storage } = fresh()
  const hash = await storage.blobs.put(new TextEncoder().encode("secret"))
  const naming = reading(
    (records) =>
      records.map((record, n) =>
        n === 1
          ? {
              ...record,
              message: { role: "user", content: [{ type: "text", text: `blob:sha256:${hash}` }] },
              blobs: { "/message/content/0/text": "utf8" },
            }
          : record,
      ) as never,
  )
  const { diagnostics } = await importSession(sessions, FILE, { id: "s", from: naming })
  expect(diagnostics.map(({ code }) => code)).toContain("missing_blob")
  expect(JSON.stringify(await contextTexts(await sessions.open("s")))).not.toContain("secret")
})

test("records may come several at a time, and give the log that they give one at a time, also in several batches", async () => {
  const text = `#chat 2 c1\n${`> ${"hello ".repeat(100)}\n! a.png\n< hi\n`.repeat(40)}`
  const files = new Map([["a.png", new Uint8Array(2000)]])
  const inGroups = (size: number): Importer => ({
    ...CHAT,
    async *read(source, o) {
      let some: (Header | Entry)[] = []
      for await (const record of CHAT.read(source, o)) {
        some.push(...[record].flat())
        if (some.length < size) continue
        yield some
        some = []
      }
      yield some
    },
  })
  const logOf = async (from: Importer, limits: object) => {
    const storage = createMemoryStorage({ limits })
    const sessions = createSessions({ storage })
    await importSession(sessions, text, { id: "s", from, beside: besideOf(files) })
    return storedLines(storage, "s")
  }
  for (const limits of [{}, { maxBatchBytes: 10_000, maxLineBytes: 9_999 }]) {
    const alone = await logOf(CHAT, limits)
    expect(alone).toHaveLength(121)
    for (const size of [2, 50, 1000]) expect(await logOf(inGroups(size), limits)).toEqual(alone)
  }
})

test("a wrong record among several is refused with its number", async () => {
  const importer: Importer = {
    ...CHAT,
    async *read(source, o) {
      const records: (Header | Entry)[] = []
      for await (const some of CHAT.read(source, o)) records.push(...[some].flat())
      yield [...records, { type: "message" } as never]
    },
  }
  const { sessions } = fresh()
  await expect(importSession(sessions, FILE, { from: importer })).rejects.toThrow("number 4")
})

const FAILURE = new Error("It failed.")

function fail(): never {
  throw FAILURE
}

/** An importer that yields other records in place of those of `CHAT`; one that throws does so at its place. */
function reading(change: (records: readonly (Header | Entry)[]) => readonly (Header | Entry)[]): Importer {
  return {
    ...CHAT,
    async *read(source, o) {
      const records: (Header | Entry)[] = []
      for await (const some of CHAT.read(source, o)) records.push(...[some].flat())
      yield* change(records)
    },
  }
}

function fresh(o: Omit<SessionsOptions, "storage"> = {}) {
  const storage = createMemoryStorage()
  return { storage, sessions: createSessions({ storage, ...o }) }
}

function besideOf(files: ReadonlyMap<string, Uint8Array>): NonNullable<ImportOptions["beside"]> {
  return (name) => {
    const bytes = files.get(name)
    return bytes && one(bytes.subarray(0, 3), bytes.subarray(3))
  }
}

async function* one<T>(...items: readonly T[]): AsyncGenerator<T> {
  yield* items
}

async function* inPieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7)
}

async function joined(pieces: AsyncIterable<string>): Promise<string> {
  let text = ""
  for await (const piece of pieces) text += piece
  return text
}

async function bytesOf(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const bytes: number[] = []
  for await (const piece of pieces) bytes.push(...piece)
  return Uint8Array.from(bytes)
}

function message(value: object): object {
  return { type: "message", message: value }
}

async function* inOrder(lines: readonly string[]): AsyncGenerator<readonly string[], void, undefined> {
  for (let at = 0; at < lines.length; at += 2) yield lines.slice(at, at + 2)
}
