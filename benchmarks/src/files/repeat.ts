/**
 * Repeats the first append of a log, with its id and content, after opening it: the whole log is searched for the id, and nothing is
 * written. The raw loop searches the bytes of the same files.
 */
import { closeSync, openSync, readdirSync, readSync } from "node:fs"
import { join } from "node:path"
import { createSessions, type NewEntry } from "@sessions/core"
import { turn } from "../data.ts"
import { type Result, type Scenario, timed } from "../report.ts"
import { inTurns, milliseconds, verify } from "../rounds.ts"
import { type StoredLog, storedLog } from "./logs.ts"
import { createStorage } from "./storage.ts"

export function repeatScenarios(quick: boolean): readonly Scenario[] {
  return [{ id: "append.repeated", run: () => repeat(quick ? 10e6 : 50e6) }]
}

async function repeat(bytes: number): Promise<Result> {
  const log = await storedLog({ bytes, compacted: false })
  const first = await firstEntry(log)
  const megabytes = first.bytes / 1e6
  const pair = await inTurns({
    ours: async () => (await appendAgain(log, first)) / megabytes,
    raw: async () => (await milliseconds(() => search(log, first.id))) / megabytes,
  })
  return { ...timed("append.repeated", "ms/MB", pair), work: { bytes: first.bytes } }
}

interface FirstEntry {
  readonly id: string
  /** Of the whole log. */
  readonly bytes: number
  readonly lines: number
}

async function firstEntry({ root, session }: StoredLog): Promise<FirstEntry> {
  const storage = createStorage({ root, maxSessionBytes: 4e9 })
  const sessions = createSessions({ storage })
  const open = await sessions.open(session)
  const { bytes } = await open.parts()
  let id = ""
  for await (const entry of open.entries({ from: 1, to: 2 })) id = entry.id
  const lines = (await storage.head(session))?.next ?? 0
  await sessions.close()
  return { id, bytes, lines }
}

/** Milliseconds of the append alone. */
async function appendAgain({ root, session }: StoredLog, { id, lines }: FirstEntry): Promise<number> {
  const sessions = createSessions({ storage: createStorage({ root, maxSessionBytes: 4e9 }) })
  const open = await sessions.open(session)
  const entry = { ...turn(0)[0], id } as NewEntry
  const time = await milliseconds(() => open.append(entry))
  verify(open.head.next === lines, "the repeated entry was written")
  await sessions.close()
  return time
}

/** Searches the parts in blocks of 256 KB that overlap by the length of the text. */
function search({ root, session }: StoredLog, id: string): void {
  const folder = join(root, session)
  const text = Buffer.from(`"id":"${id}"`)
  const buffer = Buffer.alloc(262_144)
  let found = 0
  for (const part of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
    const fd = openSync(join(folder, part), "r")
    let at = 0
    for (;;) {
      const read = readSync(fd, buffer, 0, buffer.length, at)
      if (buffer.subarray(0, read).includes(text)) found++
      if (read < buffer.length) break
      at += read - text.length
    }
    closeSync(fd)
  }
  verify(found === 1, `the id was found ${found} times`)
}
