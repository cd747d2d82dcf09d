import { afterEach, describe, expect, test, vi } from "vitest"
import { compaction, user } from "../../test/chain.ts"
import { HEADER } from "../../test/logs.ts"
import { createMadeStorage, type MadeStorage, type Stretch } from "../../test/made-storage.ts"
import { STORED_ID } from "../../test/stored.ts"
import { type CompactionPlace, startProjection } from "../info/projection.ts"
import { encodeProjection } from "../info/projection-text.ts"
import type { HeadInfo } from "../storage/contract.ts"
import { createSessions } from "./repository.ts"

type Fields = Readonly<Record<string, unknown>>

const MB = 1_000_000
const STATE = { thinkingLevel: "off", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }

afterEach(() => {
  vi.restoreAllMocks()
})

function lineOf(seq: number, payload: Fields): string {
  const parentId = seq === 1 ? null : `e${seq - 1}`
  return JSON.stringify({ id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z", ...payload })
}

const header: Stretch = { lines: 1, lineBytes: 300, lineAt: () => JSON.stringify(HEADER) }
const talk = (lines: number, lineBytes: number): Stretch => ({
  lines,
  lineBytes,
  lineAt: (seq) => lineOf(seq, user(`said ${seq}`)),
})
const entry = (payload: (seq: number) => Fields): Stretch => ({
  lines: 1,
  lineBytes: 1_000,
  lineAt: (seq) => lineOf(seq, payload(seq)),
})
/** Keeps the `kept` lines before it. */
const compacted = (kept: number): Stretch =>
  entry((seq) => compaction(`e${seq - kept}`, { state: STATE, firstKeptSeq: seq - kept }))

/** Histories of 200 MB, by the length of their lines. */
const HISTORIES: Readonly<Record<string, readonly Stretch[]>> = {
  "lines of 2 KB": [talk(100_000, 2_000)],
  "lines of 200 bytes": [talk(1_000_000, 200)],
  "lines of 440 KB": [talk(460, 440_000)],
  "long lines, then short ones": [talk(115, 440_000), talk(750_000, 200)],
  "short lines, then long ones": [talk(750_000, 200), talk(115, 440_000)],
}

async function opened(storage: MadeStorage) {
  expect(storage.bytes).toBeGreaterThan(198 * MB)
  const parse = vi.spyOn(JSON, "parse")
  const session = await createSessions({ storage }).open(STORED_ID)
  return { session, parsed: () => parse.mock.calls.length }
}

describe.each(Object.entries(HISTORIES))("after 200 MB of %s", (_, history) => {
  test("opening a live context of 100 KB reads less than 2 MB, and parses little more than the context", async () => {
    const storage = createMadeStorage([header, ...history, talk(25, 2_000), compacted(25), talk(25, 2_000)])
    const { session, parsed } = await opened(storage)
    const { messages } = await session.context()
    expect(messages).toHaveLength(51)
    expect(storage.counted.bytes).toBeLessThan(2 * MB)
    expect(storage.counted.reads).toBeLessThan(12)
    expect(parsed()).toBeLessThan(500)
  })

  test("the last 50 messages without a compaction are read from less than 2 MB", async () => {
    const storage = createMadeStorage([header, ...history, talk(50, 2_000)])
    const { session, parsed } = await opened(storage)
    const page = await session.messages({ limit: 50 })
    expect(page.messages).toHaveLength(50)
    expect(page.messages.at(-1)?.message.content).toEqual([{ type: "text", text: `said ${page.messages.at(-1)?.seq}` }])
    expect(storage.counted.bytes).toBeLessThan(2 * MB)
    expect(parsed()).toBeLessThan(500)
  })

  test("the last 50 entries of the path are read from less than 2 MB", async () => {
    const storage = createMadeStorage([header, ...history, talk(50, 2_000)])
    const { session, parsed } = await opened(storage)
    const { entries, before } = await session.path()
    expect(entries).toHaveLength(50)
    expect(before).toBe(entries[0]?.id)
    expect(storage.counted.bytes).toBeLessThan(2 * MB)
    expect(parsed()).toBeLessThan(500)
  })
})

describe("with the start of the live context in the information beside the head", () => {
  const end = 100_001
  /** What is read for the context of that many messages, if the information claims this compaction and this first kept entry. */
  const readFor = async (messages: number, stretches: readonly Stretch[], said: object) => {
    const inner = createMadeStorage([header, talk(100_000 - messages, 2_000), ...stretches])
    const compaction = { id: "any", ...said } as CompactionPlace
    const projection = { ...startProjection(HEADER, ""), to: { seq: end, id: `e${end}` }, compaction }
    const info = { text: encodeProjection(projection), next: end + 1 }
    const storage = { ...inner, head: async (id: string) => ({ ...(await inner.head(id)), info }) as HeadInfo }
    const sessions = createSessions({ storage })
    const context = await (await sessions.open(STORED_ID)).context()
    expect(context.messages).toHaveLength(messages + 1)
    const counted = { ...inner.counted }
    // Invalid information has no tips either, so the log is being read in the background.
    await sessions.close()
    return counted
  }
  const keeping = [talk(70, 1_800), compacted(70)]

  test("one read of the header and one of the log's end are enough", async () => {
    const counted = await readFor(70, keeping, { seq: end, firstKeptSeq: end - 70 })
    expect(counted).toMatchObject({ reads: 2, lines: 72 })
  })

  test("nothing before it is read, however long it is", async () => {
    const seq = end - 1_000
    const { lines, reads } = await readFor(1_000, [compacted(0), talk(1_000, 1_800)], { seq })
    expect(reads).toBeLessThan(8)
    expect(lines).toBe(1_002)
  })

  test.each([0, -5, 1.5, end, end + 10, 1e300, "e1", null])(
    "a wrong position (%s) costs one more read",
    async (wrong) => {
      expect((await readFor(70, keeping, { seq: end, firstKeptSeq: wrong })).reads).toBeLessThan(5)
    },
  )
})

test("a live context with much longer lines than the history is not read many times", async () => {
  const storage = createMadeStorage([header, talk(1_000_000, 200), talk(2, 50_000), compacted(2), talk(2, 50_000)])
  const { session } = await opened(storage)
  expect((await session.context()).messages).toHaveLength(5)
  expect(storage.counted.bytes).toBeLessThan(2 * MB)
})

test("a first kept entry far back is read directly, and once", async () => {
  const storage = createMadeStorage([
    header,
    talk(90_000, 2_000),
    talk(10_000, 2_000),
    compacted(10_000),
    talk(5, 2_000),
  ])
  const { session } = await opened(storage)
  expect((await session.context()).messages).toHaveLength(10_006)
  expect(storage.counted.bytes).toBeLessThan(21 * MB)
  expect(storage.counted.reads).toBeLessThan(5)
})

test("slightly wrong hints do not cause one read per line", async () => {
  const leaves: Stretch = {
    lines: 20_000,
    lineBytes: 200,
    lineAt: (seq) => lineOf(seq, { type: "leaf", targetSeq: seq - 1 }),
  }
  const storage = createMadeStorage([header, talk(100_000, 2_000), compacted(0), leaves])
  const { session } = await opened(storage)
  await session.context()
  expect(storage.counted.reads).toBeLessThan(15)
})

test("reading to the beginning reads every line about once, in few windows", async () => {
  const storage = createMadeStorage([header, talk(5_000, 40_000)])
  const { session, parsed } = await opened(storage)
  expect((await session.context()).messages).toHaveLength(5_000)
  expect(storage.counted.bytes).toBeLessThan(1.05 * storage.bytes)
  expect(storage.counted.reads).toBeLessThan(25)
  expect(parsed()).toBeLessThan(5_100)
})
