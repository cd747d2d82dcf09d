import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { codeOf, linesIn, smallBatches } from "../../../test/transfer.ts"
import { parseLine } from "../../format/line.ts"
import { projectEntry, startProjection } from "../../info/projection.ts"
import { parseProjection } from "../../info/projection-text.ts"
import { parseEntry } from "../../log/parse-entry.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import type { LineToWrite, LogToWrite } from "./log-to-write.ts"
import { writeLog } from "./write-log.ts"

const timestamp = "2026-01-31T09:30:00.000Z"
const COUNT = 30

/** As an import: the header has the number of lines, up to which all branches are settled. Every fourth entry begins a branch. */
const LOG: LogToWrite = {
  id: "s",
  header: (lines = COUNT + 1) => {
    const origin = { format: "chat", version: 1, settled: lines, lines }
    return JSON.stringify({ type: "session", format: "@sessions", version: 4, id: "s", timestamp, origin })
  },
  lines: () =>
    Array.from({ length: COUNT }, (_, index) => {
      const seq = index + 1
      const parentId = seq === 1 ? null : seq % 4 === 0 ? "e1" : `e${seq - 1}`
      const message = { role: seq % 2 === 0 ? "assistant" : "user", content: [{ type: "text", text: `text ${seq}` }] }
      return { line: JSON.stringify({ type: "message", id: `e${seq}`, parentId, seq, timestamp, message }) }
    }),
  readOnce: true,
}

function hold() {
  const held: string[] = []
  return {
    push: (line: string) => void held.push(line),
    async *lines() {
      for (let at = 0; at < held.length; at += 7) yield held.slice(at, at + 7)
    },
  }
}

/** The storage, and the session information of each append with the number of lines up to its end. */
function watched(storage: SessionStorage): { readonly storage: SessionStorage; readonly infos: [number, string][] } {
  const infos: [number, string][] = []
  const append: SessionStorage["append"] = async (id, lines, o) => {
    const head = await storage.append(id, lines, o)
    infos.push([head.next, o.info ?? ""])
    return head
  }
  return { storage: { ...storage, append }, infos }
}

test("each batch of a held log has the session information of the lines up to its end, also after an interruption", async () => {
  for (const batchBytes of [500, 1_000, 100_000]) {
    for (let cut = 0; cut <= COUNT; cut++) {
      const whole = smallBatches(100_000)
      await writeLog(whole, { ...LOG, readOnce: false })
      const lines = await linesIn(whole, "s")
      const { storage, infos } = watched(smallBatches(100_000))
      if (cut > 0) await storage.append("s", lines.slice(0, cut), { expect: 0, info: "{}" })
      infos.length = 0
      const capabilities = { ...storage.capabilities, maxBatchBytes: batchBytes, maxLineBytes: batchBytes - 1 }
      await writeLog({ ...storage, capabilities }, LOG, { hold })
      expect(await linesIn(storage, "s")).toEqual(lines)
      expect(infos.at(-1)?.[0]).toBe(COUNT + 1)
      for (const [next, info] of infos) {
        const expected = lines
          .slice(1, next)
          .reduce(
            (projection, line, index) => projectEntry(projection, parseEntry(line, index + 1), index + 1),
            startProjection(parseLine(lines[0] as string).record ?? {}, ""),
          )
        const found = parseProjection(info)
        expect({ ...found, log: "" }).toEqual(expected)
      }
    }
  }
})

test("the batches of a held log are within the limit of the storage, and progress counts its bytes", async () => {
  const storage = smallBatches(500)
  const seen: { readonly lines: number; readonly bytes: number }[] = []
  await writeLog(storage, LOG, { hold, onProgress: (progress) => seen.push(progress) })
  const head = await storage.head("s")
  expect(seen.length).toBeGreaterThan(5)
  expect(seen.at(-1)).toEqual({ lines: COUNT + 1, bytes: head?.bytes })
})

test("lines that were lost or added where they were held are a conflict, and no complete session is stored", async () => {
  for (const change of [(lines: readonly string[]) => lines.slice(1), (lines: readonly string[]) => [...lines, "x"]]) {
    const storage = smallBatches(500)
    const held = hold()
    const changed = { ...held, lines: () => changedLines(held.lines(), change) }
    expect(await codeOf(writeLog(storage, LOG, { hold: () => changed }))).toBe("conflict")
    expect((await storage.head("s"))?.next ?? 0).toBeLessThan(COUNT + 1)
  }
})

test("lines from the first one with a blob on stay in memory, in their places behind the held ones", async () => {
  let readings = 0
  const done: number[] = []
  const all = [...(LOG.lines() as readonly LineToWrite[])].map(({ line }, index) => ({
    line: line.replace(`text ${index + 1}"`, `${"x".repeat(40_000)}"`),
    ...(index === 20 && { putBlobs: async () => void done.push(index) }),
  }))
  const lines = (): readonly LineToWrite[] => {
    readings++
    return all
  }
  const held = hold()
  let pushed = 0
  const push = (line: string): void => {
    pushed++
    held.push(line)
  }
  const storage = createMemoryStorage()
  await writeLog(storage, { ...LOG, lines }, { hold: () => ({ ...held, push }) })
  expect((await linesIn(storage, "s")).slice(1)).toEqual(all.map(({ line }) => line))
  expect([readings, pushed, done]).toEqual([1, 20, [20]])
})

async function* changedLines(
  groups: AsyncIterable<readonly string[]>,
  change: (lines: readonly string[]) => readonly string[],
): AsyncGenerator<readonly string[]> {
  const all: string[] = []
  for await (const lines of groups) all.push(...lines)
  yield change(all)
}
