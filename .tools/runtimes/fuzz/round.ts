/** One round: stores a damaged log, damages the stored bytes, calls everything, and compares what came of it. */
import { createSessions } from "@sessions/core"
import type { Head } from "@sessions/core/storage"
import { createDice, type Dice } from "../../../packages/core/test/dice.ts"
import { readingCalls, writingCalls } from "../../../packages/core/test/every-call.ts"
import { oneOfEach } from "../../../packages/core/test/one-of-each.ts"
import { damageBytes, mutateRecords } from "./mutate.ts"
import { bucketStore, fileStore, memoryStore, type Steps, type Store } from "./stores.ts"

/** Steps of I/O that a round may take for each line; a round without a defect takes less than a fifth of it. */
const STEPS_PER_LINE = 300

export interface Outcome {
  readonly name: string
  readonly findings: readonly string[]
  /** Of the steps that are allowed, the share that was taken. */
  readonly steps: number
}

export async function fuzz(seed: number): Promise<Outcome> {
  const dice = createDice(seed)
  const version = dice.pick([4, 4, 3, 1] as const)
  const store = dice.pick([
    memoryStore,
    bucketStore,
    () => fileStore(dice.pick([8_000, 60_000])),
    () => fileStore(1e6),
  ])()
  try {
    const records = oneOfEach(version)
    const [header, ...entries] = records
    const repeated = Array.from({ length: dice.pick([1, 1, 4, 20]) }, () => entries).flat()
    const lines = mutateRecords([header as object as Record<string, unknown>, ...repeated], dice)
      // The smaller of the stores take no longer line.
      .filter((line) => Buffer.byteLength(line) < 7_900)
    return await fuzzStored(store, lines, dice, version)
  } finally {
    store.remove()
  }
}

async function fuzzStored(store: Store, lines: readonly string[], dice: Dice, version: number): Promise<Outcome> {
  const steps: Steps = { count: 0, most: 5_000 + STEPS_PER_LINE * lines.length }
  await write(store, lines, steps, dice)
  const done: string[] = []
  for (let times = dice.below(3); times > 0; times--) {
    const damage = damageBytes(store.read(), dice)
    if (damage === undefined) break
    store.write(damage.path, damage.bytes)
    done.push(damage.what)
  }
  const before = store.read()
  const expected = expectedExport(store, before, done.length === 0 ? lines : undefined)
  const sessions = createSessions({ storage: store.open(steps) })
  const { defects, exported } = await readingCalls(sessions, "s")
  const findings = [...defects, ...changesOf(store, before)]
  if (version === 4 && isCurrent(lines) && exported !== undefined && expected !== undefined && exported !== expected)
    findings.push(`export: differs from the stored lines (${exported.length} characters for ${expected.length})`)
  findings.push(...(await writingCalls(sessions, "s")))
  await sessions.close()
  const name = `version ${version} on ${store.name}${done.map((what) => `, ${what}`).join("")}`
  return { name, findings, steps: steps.count / steps.most }
}

/** In a few batches, with derived data, as programs leave it. */
async function write(store: Store, lines: readonly string[], steps: Steps, dice: Dice): Promise<void> {
  const storage = store.open(steps)
  const batchBytes = dice.pick([7_950, 2_000])
  let head: Head | 0 = 0
  let batch: string[] = []
  for (const [at, line] of lines.entries()) {
    batch.push(line)
    if (at < lines.length - 1 && bytesOf(batch) + Buffer.byteLength(lines[at + 1] ?? "") < batchBytes) continue
    head = await storage.append("s", batch, { expect: head })
    batch = []
  }
  const sessions = createSessions({ storage })
  // Information is stored beside the log; a log that is no session has none.
  if (dice.chance(0.5)) await sessions.info("s").catch(() => undefined)
  await sessions.close()
}

function bytesOf(lines: readonly string[]): number {
  return Buffer.byteLength(lines.join("\n")) + 2
}

/** The lines as they are stored; undefined if the damage leaves open which lines the log has. */
function expectedExport(
  store: Store,
  stored: ReadonlyMap<string, Uint8Array>,
  lines: readonly string[] | undefined,
): string | undefined {
  if (lines !== undefined) return `${lines.join("\n")}\n`
  if (store.name !== "fs") return undefined
  const names = [...stored.keys()]
    .filter((path) => store.isLog(path))
    .sort((one, other) => firstSeq(one) - firstSeq(other))
  let text = ""
  for (const [index, name] of names.entries()) {
    const next = names[index + 1]
    const whole = Buffer.from(stored.get(name) ?? [])
      .toString("utf8")
      .split("\n")
      .slice(0, -1)
    // What a part has beyond the first line of the next one was written by a writer that had lost the lock, and does not count.
    const count = next === undefined ? whole.length : firstSeq(next) - firstSeq(name)
    if (whole.length < count) return undefined
    text += whole
      .slice(0, count)
      .map((line) => `${line}\n`)
      .join("")
  }
  return text
}

/** Of the part with this name. */
function firstSeq(path: string): number {
  return Number(/\.(\d+)\.jsonl$/.exec(path)?.[1] ?? 0)
}

/** A log of this version is exported as it is stored, any other one as its migration. */
function isCurrent([line = ""]: readonly string[]): boolean {
  return line.startsWith('{"type":"session","format":"@sessions","version":4,')
}

function changesOf(store: Store, before: ReadonlyMap<string, Uint8Array>): string[] {
  const after = store.read()
  return [...before.keys()]
    .filter(
      (path) => store.isLog(path) && !Buffer.from(before.get(path) ?? []).equals(after.get(path) ?? Buffer.alloc(0)),
    )
    .map((path) => `reading changed ${path}`)
}
