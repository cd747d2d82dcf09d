/**
 * Does one job and prints what it took as JSON: `measured-process.ts replay|appends|opens ROOT`. A process of its own, because
 * Bun runs test files as threads of one process, which share its memory and descriptors.
 */
import { readdirSync } from "node:fs"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createFileStorage } from "@sessions/fs"

const [job = "", root = ""] = process.argv.slice(2)
const jobs: Readonly<Record<string, () => Promise<object>>> = { replay, appends, opens }
const run = jobs[job]
if (run === undefined) throw new Error(`Unknown job ${JSON.stringify(job)}.`)
process.stdout.write(JSON.stringify(await run()))

/** Reads a log from its first line to its last, and sees what is alive with each fifth chunk in hand. */
async function replay(): Promise<object> {
  const storage = createFileStorage({ root })
  let lines = 0
  let units = 0
  let chunks = 0
  let most = 0
  const before = liveBytes()
  for await (const chunk of storage.read("big")) {
    lines += chunk.lines.length
    for (const line of chunk.lines) units += line.length
    if (chunks++ % 5 === 0) most = Math.max(most, liveBytes() - before)
  }
  await storage[Symbol.asyncDispose]()
  return { lines, units, most }
}

/** 10,000 appends, and the growth over 90,000 more. */
async function appends(): Promise<object> {
  const storage = createFileStorage({ root, maxPartBytes: 5_000_000 })
  const line = JSON.stringify({ seq: 1, pad: "x".repeat(150) })
  let head = await storage.append("a", [line], { expect: 0 })
  const append = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) head = await storage.append("a", [line], { expect: head })
  }
  await append(9_999)
  const growth = await growthOver(() => append(90_000))
  await storage[Symbol.asyncDispose]()
  return { lines: head.next, ...growth }
}

/** 100 storages that are opened, used and disposed of, and the growth over 900 more. */
async function opens(): Promise<object> {
  let lines = 0
  const use = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const storage = createFileStorage({ root })
      const info = await storage.head("a")
      const expected = info === undefined ? 0 : { next: info.next, log: info.log }
      await storage.append("a", [JSON.stringify({ i })], { expect: expected })
      for await (const chunk of storage.read("a", { maxBytes: 1 })) lines += chunk.lines.length
      await storage[Symbol.asyncDispose]()
    }
  }
  await use(100)
  const growth = await growthOver(() => use(900))
  return { lines, ...growth }
}

async function growthOver(work: () => Promise<void>): Promise<{ bytes: number; descriptors: number }> {
  const before = { bytes: liveBytes(), descriptors: descriptors() }
  await work()
  return { bytes: liveBytes() - before.bytes, descriptors: descriptors() - before.descriptors }
}

/** After a collection, since the memory of the process also has what is not collected yet, which depends on the machine's load. */
function liveBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function collectGarbage(): void {
  const bun = (globalThis as { Bun?: { gc(force: boolean): void } }).Bun
  if (bun !== undefined) return bun.gc(true)
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
}

function descriptors(): number {
  return readdirSync("/proc/self/fd").length
}
