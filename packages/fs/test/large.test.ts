/** What must not grow: memory and descriptors with the number of appends and opens, memory with a log, a page with the root. */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createSessions } from "@sessions/core"
import type { ListRow } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { makeRoot, openAt } from "./helpers.ts"
import { FLAGS } from "../../../.config/program.ts"

const hasProc = fs.existsSync("/proc/self/fd")
if (!hasProc) console.log("Tests of descriptors are left out: this system has no /proc to see them in.")

const SESSIONS = 10_000

test("of 10,000 sessions the 50 newest come first, and only the logs of those are looked into", async () => {
  const root = makeRoot()
  for (let i = 0; i < SESSIONS; i++) makeSession(root, i)
  const { storage, files } = openAt(root)
  const opened = new Set<string>()
  files.fault = ({ op, path }, proceed) => {
    if (op === "open") opened.add(path.slice(root.length + 1).split("/", 1)[0] ?? "")
    return proceed()
  }
  const page: ListRow[] = []
  for await (const row of storage.list({ limit: 50 })) page.push(row)
  files.fault = undefined
  expect(page.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, i) => idOf(SESSIONS - 1 - i)))
  expect([...opened].sort()).toEqual(page.map(({ id }) => id).sort())
  expect(page.at(0)).toMatchObject({ next: 2, updatedAt: timeOf(SESSIONS - 1) })

  let read = 0
  files.fault = ({ op, path }, proceed) => {
    if (op === "open" && path.endsWith(".jsonl")) read++
    return proceed()
  }
  const repository = createSessions({ storage })
  const first = await repository.list({ limit: 50 })
  files.fault = undefined
  expect(first.sessions.map(({ id }) => id)).toEqual(page.map(({ id }) => id))
  expect(read).toBeLessThan(2_000)
})

test.skipIf(!hasProc)("100,000 appends leave memory and descriptors as they were", async () => {
  const { lines, bytes, descriptors } = await measured("appends", makeRoot())
  expect(lines).toBe(100_000)
  expect(descriptors).toBeLessThanOrEqual(2)
  expect(bytes).toBeLessThan(2_000_000)
})

test.skipIf(!hasProc)("1,000 opens leave memory and descriptors as they were", async () => {
  const { lines, bytes, descriptors } = await measured("opens", makeRoot())
  expect(lines).toBe(1_000)
  expect(descriptors).toBeLessThanOrEqual(2)
  expect(bytes).toBeLessThan(4_000_000)
})

test.each([
  [5, 40_000_000],
  [1, 100_000_000],
])("a replay of a log, in %i parts of %i bytes, never holds more than a few pieces", async (parts, bytesPerPart) => {
  const root = makeRoot()
  const line = JSON.stringify({ type: "message", text: "x".repeat(1_400) + "ü".repeat(250) })
  const lines = await makeLog(root, line, { parts, bytesPerPart })
  const { most, ...counts } = await measured("replay", root)
  expect(counts).toEqual({ lines, units: lines * line.length })
  expect(most).toBeLessThan(8_000_000)
})

function idOf(index: number): string {
  return `s${String(index).padStart(5, "0")}`
}

function timeOf(index: number): number {
  return 1_700_000_000_000 + index * 1_000
}

/** As a copy from elsewhere: nothing but a log. */
function makeSession(root: string, index: number): void {
  const folder = join(root, idOf(index))
  fs.mkdirSync(folder)
  const path = join(folder, "session.jsonl")
  const timestamp = new Date(timeOf(index)).toISOString()
  const header = { type: "session", version: 4, format: "@sessions", id: idOf(index), timestamp }
  const message = { role: "user", content: [{ type: "text", text: `say ${index}` }] }
  const entry = { type: "message", id: "m", parentId: null, timestamp, message }
  fs.writeFileSync(path, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`)
  fs.utimesSync(path, timeOf(index) / 1000, timeOf(index) / 1000)
}

/** Gives the number of lines. */
async function makeLog(root: string, line: string, o: { parts: number; bytesPerPart: number }): Promise<number> {
  const folder = join(root, "big")
  fs.mkdirSync(folder)
  const perPart = Math.floor(o.bytesPerPart / Buffer.byteLength(`${line}\n`))
  const part = Buffer.from(`${line}\n`.repeat(perPart), "utf8")
  for (let number = 1; number <= o.parts; number++) {
    const name = number === 1 ? "session.jsonl" : `session_part${number}.${(number - 1) * perPart}.jsonl`
    await fs.promises.writeFile(join(folder, name), part)
  }
  return o.parts * perPart
}

async function measured(job: string, root: string): Promise<Record<string, number>> {
  const program = fileURLToPath(new URL("measured-process.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, program, job, root])
  return JSON.parse(stdout) as Record<string, number>
}
