/** What must not grow: a page with the root, memory with a log; in the deep tests also with the number of appends and opens. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { ListRow } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { makeRoot, openAt } from "./helpers.ts"
import { replayTest } from "./measured.ts"

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

replayTest(1, 16_000_000)

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
