import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "./child-process.ts"
import { TIME, header, message } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { makePlace } from "./workspace.ts"

const MEASURED = fileURLToPath(new URL("./count-reads.ts", import.meta.url))
const COUNT = 19_500
const TEXT = "history ".repeat(1_240)

/** Nearly 200 MB of messages of 10 kB, then what `end` makes of the last of them. */
async function* history(end: (last: string, seq: number) => readonly string[]): AsyncGenerator<string> {
  yield `${header("large")}\n`
  for (let seq = 1; seq < COUNT; seq += 100) {
    let piece = ""
    for (let n = seq; n < seq + 100 && n < COUNT; n++)
      piece += `${message(`m${n}`, n === 1 ? null : `m${n - 1}`, n, TEXT)}\n`
    yield piece
  }
  for (const line of end(`m${COUNT - 1}`, COUNT)) yield `${line}\n`
}

/** A compaction and 100 KB that came after it. */
function compacted(last: string, seq: number): readonly string[] {
  const state = { thinkingLevel: "off", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }
  const place = { type: "compaction", id: "k", parentId: last, seq, timestamp: TIME }
  const kept = { firstKeptEntryId: last, firstKeptSeq: seq - 1, readFiles: [], modifiedFiles: [], state }
  const compaction = { ...place, ...kept, summary: "what was", tokensBefore: 1 }
  const after = Array.from({ length: 50 }, (_, n) =>
    message(`n${n}`, n === 0 ? "k" : `n${n - 1}`, seq + 1 + n, `live ${"x".repeat(1_900)}`),
  )
  return [JSON.stringify(compaction), ...after]
}

/** The session, and beside it one of 100 KB that shows what the program itself is read for. */
async function large(end: (last: string, seq: number) => readonly string[]): Promise<Place> {
  const place = makePlace()
  const sessions = place.open()
  await sessions.import(() => history(end), { id: "large" })
  await sessions.import([header("small"), ...compacted("small", 1)].join("\n"), { id: "small" })
  await sessions.close()
  return place
}

interface Measured {
  readonly stdout: string
  readonly read: number
}

function measured(place: Place, ...argv: string[]): Measured {
  const { NODE_OPTIONS: _, ...env } = process.env
  const args = [...FLAGS, MEASURED, place.cwd, ...argv]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8", maxBuffer: 64_000_000 })
  expect(status, stderr).toBe(0)
  return { stdout, read: Number(stderr.trim().split("\n").at(-1)) }
}

const absent = existsSync("/proc/self/io") ? "" : " (skipped: the system does not count what a process reads)"

test.skipIf(absent !== "")(
  `the context of a session of 200 MB with a live context of 100 KB reads less than 2 MB${absent}`,
  async () => {
    const place = await large(compacted)
    const { parts, bytes } = await place
      .open()
      .storage.head("large")
      .then((head) => ({ parts: head?.parts?.length ?? 0, bytes: head?.bytes ?? 0 }))
    expect(parts).toBeGreaterThan(3)
    expect(bytes).toBeGreaterThan(190_000_000)
    const context = measured(place, "context", "large", "--json")
    expect((JSON.parse(context.stdout) as { messages: unknown[] }).messages.length).toBe(52)
    const program = measured(place, "context", "small", "--json").read
    expect(context.read - program).toBeLessThan(2_000_000)
    for (const argv of [
      ["show", "large", "--last", "50"],
      ["list"],
      ["rename", "large", "a title"],
      ["context", "large"],
      ["list"],
    ]) {
      expect(measured(place, ...argv).read - program, argv.join(" ")).toBeLessThan(2_000_000)
    }
  },
)

test.skipIf(absent !== "")(
  `show --last 50 of a session of 200 MB without compactions reads less than 2 MB${absent}`,
  async () => {
    const place = await large(() => [])
    const shown = measured(place, "show", "large", "--last", "50", "--json")
    expect(
      (JSON.parse(shown.stdout) as { messages: { entryId: string }[] }).messages.map(({ entryId }) => entryId),
    ).toEqual(Array.from({ length: 50 }, (_, n) => `m${COUNT - 50 + n}`))
    const program = measured(place, "show", "small", "--last", "50", "--json").read
    expect(shown.read - program).toBeLessThan(2_000_000)
  },
)
