import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test, type TestContext } from "node:test"
import { createSessions, type Entry } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import type { Arguments, Filled } from "./commands.ts"
import { type Worker, type Runtime, startWorkers } from "./workers.ts"

const EACH = 2_000
/**
 * Entries of others between two of one process; more mean starvation. A process that holds the lock writes about 1,000 before it gives way.
 * Not a time: on a busy machine everyone waits longer.
 */
const MOST_BETWEEN = 200_000

for (const inFlight of [1, 32]) {
  const how = inFlight === 1 ? "one at a time" : `${inFlight} in flight`
  void test(`four processes of three runtimes append to one session as fast as they can, ${how}: each entry is in the log once, in the order of its process`, async (t) => {
    const setup = await setUp(t, ["node", "node", "bun", "deno"])
    const filled = await Promise.all(setup.workers.map((_, i) => setup.fill(i, { count: EACH, inFlight })))
    const texts = await setup.check(filled)
    assert.equal(texts.length, 4 * EACH)
    const seconds = Math.max(...filled.map(({ ms }) => ms)) / 1_000
    const waits = filled.map(({ longestWaitMs }, i) => `${setup.names[i]} ${Math.round(longestWaitMs)} ms`).join(", ")
    t.diagnostic(
      `measured: 8,000 entries, ${how}, in ${seconds.toFixed(1)} s, ${turnsOf(texts)} turns; longest waits: ${waits}; most entries between: ${setup.names.map((name) => mostBetween(texts, name)).join(", ")}`,
    )
  })
}

for (const runtime of ["node", "bun", "deno"] as const) {
  void test(`a process in ${runtime} is not starved by three others that never pause`, async (t) => {
    const setup = await setUp(t, ["node", "bun", "deno", runtime])
    const until = join(setup.root, ".stop")
    const others = [0, 1, 2].map((i) => setup.fill(i, { until, inFlight: 1 }))
    const own = await setup.fill(3, { count: EACH, inFlight: 1 })
    writeFileSync(until, "")
    const filled = [...(await Promise.all(others)), own]
    const texts = await setup.check(filled)
    const rest = texts.length - EACH
    const between = mostBetween(texts, setup.names[3] ?? "")
    t.diagnostic(
      `measured: ${EACH} entries of ${runtime} beside ${rest} of others in ${(own.ms / 1_000).toFixed(1)} s, ${turnsOf(texts)} turns; longest wait: ${Math.round(own.longestWaitMs)} ms, ${between} entries`,
    )
    assert.ok(between < MOST_BETWEEN, `${between} entries of others in a row`)
  })
}

interface Setup {
  readonly root: string
  readonly workers: readonly Worker[]
  readonly names: readonly string[]
  fill(index: number, o: Omit<Arguments<"fill">, "session" | "name">): Promise<Filled>
  /** The texts of all messages in log order, compared with the reports of the processes. */
  check(filled: readonly Filled[]): Promise<readonly string[]>
}

/** A session, and processes that have all started. */
async function setUp(t: TestContext, runtimes: readonly Runtime[]): Promise<Setup> {
  const { root, workers } = startWorkers(t, runtimes, 400_000)
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const { id } = await sessions.create()
  await sessions.close()
  await Promise.all(workers.map((worker) => worker.send("list", {})))
  const names = workers.map(({ runtime }, i) => `${runtime}-${i + 1}`)
  return {
    root,
    workers,
    names,
    fill: (i, o) => (workers[i] as Worker).send("fill", { session: id, name: names[i] ?? "", ...o }),
    async check(filled) {
      const texts = await textsOf(root, id)
      for (const [i, name] of names.entries()) {
        const own = texts.filter((text) => text.startsWith(`${name} `))
        const expected = Array.from({ length: filled[i]?.count ?? 0 }, (_, n) => `${name} ${n}`)
        assert.deepEqual(own, expected)
      }
      return texts
    },
  }
}

function turnsOf(texts: readonly string[]): number {
  const writers = texts.map((text) => text.slice(0, text.indexOf(" ")))
  return writers.filter((name, i) => name !== writers[i - 1]).length
}

/** The most entries of others between two of this process. */
function mostBetween(texts: readonly string[], name: string): number {
  const own = texts.flatMap((text, at) => (text.startsWith(`${name} `) ? [at] : []))
  return Math.max(0, ...own.slice(1).map((at, i) => at - (own[i] ?? at) - 1))
}

/** Each message has an earlier one as its parent, and ids are unique. */
async function textsOf(root: string, id: string): Promise<readonly string[]> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const session = await sessions.open(id)
  const texts: string[] = []
  const ids = new Set<string>()
  for await (const entry of session.entries()) {
    if (entry.type !== "message") continue
    assert.ok(entry.parentId === null || ids.has(entry.parentId), "a parent stands before its child")
    assert.ok(!ids.has(entry.id), "an id is there once")
    ids.add(entry.id)
    const { content } = (entry as Entry & { message: { content: readonly { text: string }[] } }).message
    texts.push(content.map(({ text }) => text).join(""))
  }
  await sessions.close()
  return texts
}
