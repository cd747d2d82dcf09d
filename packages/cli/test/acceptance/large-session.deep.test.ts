import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../../../.config/program.ts"
import { TIME, header, message } from "./logs.ts"
import { createWorkspace, type Workspace } from "./workspace.ts"
import { importSession } from "@sessions/core/transfer"

const COUNT_READS = fileURLToPath(new URL("./count-reads.ts", import.meta.url))
const COUNT = 19_500
const TEXT = "history ".repeat(1_240)

/** Nearly 200 MB of messages of 10 kB, followed by the lines that `end` returns. */
async function* history(end: (last: string, seq: number) => readonly string[]): AsyncGenerator<string> {
  yield `${header("large")}\n`
  for (let seq = 1; seq < COUNT; seq += 100) {
    let chunk = ""
    for (let n = seq; n < seq + 100 && n < COUNT; n++)
      chunk += `${message(`m${n}`, n === 1 ? null : `m${n - 1}`, n, TEXT)}\n`
    yield chunk
  }
  for (const line of end(`m${COUNT - 1}`, COUNT)) yield `${line}\n`
}

/** A compaction, followed by 100 KB of messages. */
function compacted(last: string, seq: number): readonly string[] {
  const state = { thinkingLevel: "off", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }
  const position = { type: "compaction", id: "k", parentId: last, seq, timestamp: TIME }
  const kept = { firstKeptEntryId: last, firstKeptSeq: seq - 1, readFiles: [], modifiedFiles: [], state }
  const compaction = { ...position, ...kept, summary: "earlier messages", tokensBefore: 1 }
  const after = Array.from({ length: 50 }, (_, n) =>
    message(`n${n}`, n === 0 ? "k" : `n${n - 1}`, seq + 1 + n, `live ${"x".repeat(1_900)}`),
  )
  return [JSON.stringify(compaction), ...after]
}

async function withLargeSession(end: (last: string, seq: number) => readonly string[]): Promise<Workspace> {
  const workspace = createWorkspace()
  const sessions = workspace.open()
  await importSession(sessions, () => history(end), { id: "large" })
  await sessions.close()
  return workspace
}

/** A store of its own for a "large" session of 100 KB, which shows how much the program itself reads. */
async function withSmallSession(): Promise<Workspace> {
  const workspace = createWorkspace()
  const sessions = workspace.open()
  await importSession(sessions, [header("large"), ...compacted("m0", 1)].join("\n"), { id: "large" })
  await sessions.close()
  return workspace
}

interface Measurement {
  readonly stdout: string
  readonly read: number
}

function measure(workspace: Workspace, ...argv: string[]): Measurement {
  const { NODE_OPTIONS: _, ...env } = process.env
  const args = [...FLAGS, COUNT_READS, workspace.cwd, ...argv]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8", maxBuffer: 64_000_000 })
  expect(status, stderr).toBe(0)
  return { stdout, read: Number(stderr.trim().split("\n").at(-1)) }
}

/**
 * What a command reads beyond what it reads in a store with a small session.
 * The first of the two runs there is not counted: Deno reads the sources of a module only until it has cached it.
 */
function measureBeyond(small: Workspace, workspace: Workspace, ...argv: string[]): Measurement {
  measure(small, ...argv)
  const program = measure(small, ...argv).read
  const { stdout, read } = measure(workspace, ...argv)
  return { stdout, read: read - program }
}

const absent = existsSync("/proc/self/io") ? "" : " (skipped: the system does not count what a process reads)"

test.skipIf(absent !== "")(
  `the context of 100 KB of a session of 200 MB is read with less than 2 MB${absent}`,
  async () => {
    const workspace = await withLargeSession(compacted)
    const { parts, bytes } = await workspace
      .open()
      .storage.head("large")
      .then((head) => ({ parts: head?.parts?.length ?? 0, bytes: head?.bytes ?? 0 }))
    expect(parts).toBeGreaterThan(3)
    expect(bytes).toBeGreaterThan(190_000_000)
    const small = await withSmallSession()
    const context = measureBeyond(small, workspace, "context", "large", "--json")
    expect((JSON.parse(context.stdout) as { messages: unknown[] }).messages.length).toBe(52)
    expect(context.read).toBeLessThan(2_000_000)
    for (const argv of [
      ["show", "large", "--last", "50"],
      ["list"],
      ["rename", "large", "a title"],
      ["context", "large"],
      ["list"],
    ]) {
      expect(measureBeyond(small, workspace, ...argv).read, argv.join(" ")).toBeLessThan(2_000_000)
    }
  },
)

test.skipIf(absent !== "")(
  `show --last 50 of a session of 200 MB without compactions reads less than 2 MB${absent}`,
  async () => {
    const workspace = await withLargeSession(() => [])
    const small = await withSmallSession()
    const shown = measureBeyond(small, workspace, "show", "large", "--last", "50", "--json")
    expect(
      (JSON.parse(shown.stdout) as { messages: { entryId: string }[] }).messages.map(({ entryId }) => entryId),
    ).toEqual(Array.from({ length: 50 }, (_, n) => `m${COUNT - 50 + n}`))
    expect(shown.read).toBeLessThan(2_000_000)
  },
)
