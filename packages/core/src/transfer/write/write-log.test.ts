import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createFaultyStorage } from "@sessions/conformance/faults"
import { codeOf, linesIn, smallBatches } from "../../../test/transfer.ts"
import { parseLine } from "../../format/line.ts"
import type { HeadInfo, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { parseProjection } from "../../info/projection-text.ts"
import { projectLog } from "../../info/refresh.ts"
import type { LogToWrite } from "./log-to-write.ts"
import { writeLog } from "./write-log.ts"
import { withOriginLines } from "../headers.ts"

const HEADER = '{"type":"session","format":"@sessions","version":4,"id":"s","timestamp":"2026-01-31T09:30:00.000Z"}'

function entry(seq: number, text = "x".repeat(100)): string {
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

function log(count: number, more: Partial<LogToWrite> = {}): LogToWrite & { readonly all: readonly string[] } {
  const lines = Array.from({ length: count }, (_, index) => entry(index + 1))
  const header = (total?: number): string => (total === undefined ? HEADER : withOriginLines(HEADER, total, "was"))
  return { id: "s", header, lines: () => lines.map((line) => ({ line })), all: [HEADER, ...lines], ...more }
}

async function headOf(storage: SessionStorage): Promise<HeadInfo> {
  return (await storage.head("s")) as HeadInfo
}

test("a log that fits one batch is created in one append, as it is", async () => {
  const storage = createFaultyStorage(createMemoryStorage())
  const one = log(50)
  expect(await writeLog(storage, one)).toMatchObject({ lines: 51 })
  expect(storage.calls.filter(({ operation }) => operation === "append")).toHaveLength(1)
  expect(await linesIn(storage, "s")).toEqual(one.all)
})

test("a longer log is written in several batches within the storage's limit, and its header states the line count", async () => {
  const storage = createFaultyStorage(smallBatches())
  const long = log(20)
  await writeLog(storage, long)
  const appends = storage.calls.filter(({ operation }) => operation === "append")
  expect(appends.length).toBeGreaterThan(3)
  const [header, ...rest] = await linesIn(storage, "s")
  expect(parseLine(header as string).record?.["origin"]).toEqual({
    format: "@sessions",
    version: 4,
    id: "was",
    lines: 21,
  })
  expect(rest).toEqual(long.all.slice(1))
})

test("the information stored with every batch is the projection of the whole log", async () => {
  const storage = smallBatches()
  const seen: string[] = []
  await writeLog(storage, log(20), {
    onProgress: () => void seen.push(""),
  })
  const head = await headOf(storage)
  expect(head.info?.next).toBe(21)
  expect({ ...parseProjection(head.info?.text ?? ""), log: head.log }).toEqual(await projectLog(storage, "s", head, {}))
  expect(seen.length).toBeGreaterThan(3)
})

test("progress counts the stored lines and bytes", async () => {
  const storage = smallBatches()
  const seen: { readonly lines: number; readonly bytes: number }[] = []
  await writeLog(storage, log(20), { onProgress: (progress) => seen.push(progress) })
  const { next, bytes } = await headOf(storage)
  expect(seen.at(-1)).toEqual({ lines: next, bytes })
  expect(seen).toEqual(seen.toSorted((a, b) => a.lines - b.lines))
})

test("the same call resumes an interrupted one, after any batch and within one", async () => {
  const whole = smallBatches()
  await writeLog(whole, log(20))
  const lines = await linesIn(whole, "s")
  for (let cut = 1; cut < lines.length; cut++) {
    const storage = smallBatches(100_000)
    await storage.append("s", lines.slice(0, cut), { expect: 0 })
    const small = { ...storage, capabilities: { ...storage.capabilities, maxBatchBytes: 1_000 } }
    expect(await writeLog(small, log(20))).toMatchObject({ lines: 21 })
    expect(await linesIn(storage, "s")).toEqual(lines)
    expect((await headOf(storage)).info?.next).toBe(21)
  }
})

test.each([
  ["another log", [HEADER, entry(1, "other")]],
  ["another header", [HEADER.replace('"s"', '"t"')]],
  ["another time", [HEADER.replace("2026", "2025")]],
  ["a longer log", [...log(20).all, entry(21)]],
  ["the whole log", log(20).all],
])("%s under the id is exists, and stays", async (_, there) => {
  const storage = createMemoryStorage()
  await storage.append("s", there, { expect: 0 })
  expect(await codeOf(writeLog(storage, log(20)))).toBe("exists")
  expect(await linesIn(storage, "s")).toEqual(there)
})

test("a line's blobs are stored before the line", async () => {
  const storage = smallBatches()
  const done: number[] = []
  const lines = Array.from({ length: 20 }, (_, index) => ({
    line: entry(index + 1),
    putBlobs: async () => {
      expect((await storage.head("s"))?.next ?? 0).toBeLessThanOrEqual(index + 1)
      done.push(index)
    },
  }))
  await writeLog(storage, log(20, { lines: () => lines }), {
    onProgress: (at) => expect(done.length).toBeGreaterThan(at.lines - 2),
  })
  expect(done).toHaveLength(20)
})

test("a failed put leaves the lines that need it unwritten", async () => {
  const storage = smallBatches()
  const lines = log(20)
    .all.slice(1)
    .map((line, index) => ({
      line,
      putBlobs: async () => {
        if (index === 15) throw new Error("no room")
      },
    }))
  await expect(writeLog(storage, log(20, { lines: () => lines }))).rejects.toThrow("no room")
  expect((await headOf(storage)).next).toBeLessThanOrEqual(16)
})

test("after a failed put, no further blob of the batch is started", async () => {
  const storage = createMemoryStorage()
  let started = 0
  const putBlobs = async () => {
    if (++started === 3) throw new Error("no room")
  }
  const lines = log(200)
    .all.slice(1)
    .map((line) => ({ line, putBlobs }))
  await expect(writeLog(storage, log(0, { lines: () => lines }))).rejects.toThrow("no room")
  expect(started).toBeLessThan(20)
  expect(await storage.head("s")).toBeUndefined()
})

test("a line or a log that is too large is rejected before anything is written", async () => {
  const lines = [{ line: entry(1) }, { line: entry(2, "x".repeat(2_000)) }]
  const storage = smallBatches()
  await expect(writeLog(storage, log(0, { lines: () => lines }))).rejects.toThrow(/Line 2 of the log has 2\d\d\d bytes/)
  const small = smallBatches(100_000, { maxSessionBytes: 1_000 })
  const filler = Array.from({ length: 30 }, (_, index) => ({ line: entry(index + 1, "x".repeat(50_000)) }))
  expect(await codeOf(writeLog(small, log(0, { lines: () => filler })))).toBe("too_large")
  expect(await storage.head("s")).toBeUndefined()
  expect(await small.head("s")).toBeUndefined()
})

test("an abort between two batches leaves an incomplete session that the same call completes", async () => {
  const storage = smallBatches()
  const abort = new AbortController()
  const aborted = writeLog(storage, log(20), { signal: abort.signal, onProgress: () => abort.abort() })
  expect(await codeOf(aborted)).toBe("aborted")
  const { next } = await headOf(storage)
  expect(next).toBeGreaterThan(0)
  expect(next).toBeLessThan(21)
  await writeLog(storage, log(20))
  expect((await headOf(storage)).next).toBe(21)
})

test.each(["response lost", "request lost", "unavailable", "conflict", "prefix"] as const)(
  "an append that answers `%s` is resolved, and every line is written once",
  async (fault) => {
    const storage = createFaultyStorage(smallBatches())
    storage.fail("append", undefined, fault, undefined, fault)
    await writeLog(storage, log(20))
    expect((await linesIn(storage, "s")).slice(1)).toEqual(log(20).all.slice(1))
  },
)

test("a creation whose response was lost is resolved too", async () => {
  const storage = createFaultyStorage(createMemoryStorage())
  storage.fail("append", "response lost")
  await writeLog(storage, log(3))
  expect(await linesIn(storage, "s")).toEqual(log(3).all)
})

test("another writer in the unfinished session is a conflict, and nothing is written behind its lines", async () => {
  const storage = smallBatches()
  const other = entry(99)
  let head = 0
  const writing = writeLog(storage, log(20), {
    onProgress: ({ lines }) => {
      if (head === 0) void storage.head("s").then((at) => storage.append("s", [other], { expect: at as HeadInfo }))
      head = lines
    },
  })
  expect(await codeOf(writing)).toBe("conflict")
  expect((await linesIn(storage, "s")).at(-1)).toBe(other)
})

test("if the second reading has fewer lines it is a conflict; additional lines are left out", async () => {
  const readings = (first: number, second: number): LogToWrite => {
    let reading = 0
    return log(0, {
      lines: () =>
        log(reading++ === 0 ? first : second)
          .all.slice(1)
          .map((line) => ({ line })),
    })
  }
  const storage = createMemoryStorage()
  expect(await codeOf(writeLog(storage, readings(5, 3)))).toBe("conflict")
  expect(await storage.head("s")).toBeUndefined()
  expect(await writeLog(storage, readings(3, 5))).toMatchObject({ lines: 4 })
  expect(await linesIn(storage, "s")).toEqual(log(3).all)
})

test("a log in one batch stays in one if its lines are longer at the second reading, up to the limit of a batch", async () => {
  const longer = (bytes: number): LogToWrite & { readonly written: readonly string[] } => {
    let reading = 0
    const [first, second] = [entry(1), entry(2, "x".repeat(bytes))]
    const lines = () => [first, reading++ === 0 ? entry(2, "x") : second].map((line) => ({ line }))
    return { ...log(0, { lines }), written: [HEADER, first, second] }
  }
  const storage = createFaultyStorage(smallBatches(2_000))
  const grown = longer(500)
  expect(await writeLog(storage, grown)).toMatchObject({ lines: 3 })
  expect(storage.calls.filter(({ operation }) => operation === "append")).toHaveLength(1)
  expect(await linesIn(storage, "s")).toEqual(grown.written)
  await storage.delete("s")
  await expect(writeLog(storage, longer(2_000))).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining("has more than 2000 bytes now"),
  })
  expect(await storage.head("s")).toBeUndefined()
})

test("the same call completes the log while a batch of the aborted call is still in progress", async () => {
  for (const aborted of [1, 2, 3]) {
    const storage = smallBatches()
    const controller = new AbortController()
    let appends = 0
    let late = async (): Promise<unknown> => undefined
    const append: SessionStorage["append"] = async (id, lines, { expect: head }) => {
      appends++
      if (appends === aborted) {
        late = () => storage.append(id, lines, { expect: head })
        controller.abort()
        throw new StorageError("aborted", "The signal fired after the write was sent.", { sent: true })
      }
      if (appends === aborted + 1) await late()
      return storage.append(id, lines, { expect: head })
    }
    expect(await codeOf(writeLog({ ...storage, append }, log(20), { signal: controller.signal }))).toBe("aborted")
    expect(await writeLog({ ...storage, append }, log(20))).toMatchObject({ lines: 21 })
    expect((await linesIn(storage, "s")).slice(1)).toEqual(log(20).all.slice(1))
  }
})
