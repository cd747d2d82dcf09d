import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Head } from "@sessions/core/storage"
import type { Outcome } from "./commands.ts"
import { type Worker, type Runtime, startWorkers } from "./workers.ts"

const RUNTIMES: readonly Runtime[] = ["node", "bun", "deno"]
/** Small, so that one runtime reads the parts and the sparse index that another has written. */
const PART_BYTES = 700_000

void test("what one runtime wrote, byte for byte, is what it would have written in another, and what every other one reads", async (t) => {
  const { root, workers } = startWorkers(t, RUNTIMES, PART_BYTES)
  for (const { runtime, send } of workers) {
    for (const lines of batches()) headOf(await send("append", { session: runtime, lines }))
  }
  const expected = digest(batches().flat())
  for (const { send } of workers) {
    for (const session of RUNTIMES) assert.deepEqual(await send("read", { session }), expected)
    assert.deepEqual((await send("list", {})).toSorted(), RUNTIMES.toSorted())
  }
  // All write-behind work is done.
  await Promise.all(workers.map(({ end }) => end()))
  const files = partsOf(root, "node")
  assert.ok(files.size > 2, "the log has several parts")
  for (const runtime of RUNTIMES) assert.deepEqual(partsOf(root, runtime), files)
  assert.equal(
    Buffer.concat([...files.values()]).toString("utf8"),
    batches()
      .flat()
      .map((line) => `${line}\n`)
      .join(""),
  )
})

void test("runtimes take turns on one session, each going on where the one before it stopped", async (t) => {
  const { workers } = startWorkers(t, RUNTIMES, PART_BYTES)
  const written: string[] = []
  for (let turn = 0; turn < 60; turn++) {
    const lines = batches()[turn % batches().length]?.map((line) => `${line} ${turn}`) ?? []
    const { next } = headOf(await of(workers, turn).send("append", { session: "a", lines }))
    written.push(...lines)
    assert.equal(next, written.length)
    if (turn % 10 === 9) {
      for (const { send } of workers) assert.deepEqual(await send("read", { session: "a" }), digest(written))
    }
  }
})

void test("a log that one runtime deleted, made again or replaced is `conflict` to the others, and they go on with the new one", async (t) => {
  const { workers } = startWorkers(t, RUNTIMES, PART_BYTES)
  for (const [turn, { send }] of workers.entries()) {
    const [second, third] = [of(workers, turn + 1), of(workers, turn + 2)]
    const session = `s${turn}`
    const old = headOf(await send("append", { session, lines: ["one", "two"] }))
    for (const worker of workers) assert.equal((await worker.send("read", { session })).lines, 2)

    const replaced = headOf(await second.send("replace", { session, lines: ["new"], expect: old }))
    assert.deepEqual(await send("appendAt", { session, lines: ["x"], expect: old }), { code: "conflict" })
    assert.deepEqual(await send("read", { session }), digest(["new"]))
    const grown = headOf(await third.send("appendAt", { session, lines: ["more"], expect: replaced }))

    assert.deepEqual(await send("delete", { session }), { bytes: 9, parts: 1, purged: true })
    assert.deepEqual(await third.send("appendAt", { session, lines: ["x"], expect: grown }), { code: "conflict" })
    const anew = headOf(await second.send("appendAt", { session, lines: ["again"], expect: 0 }))
    assert.deepEqual(await third.send("appendAt", { session, lines: ["x"], expect: 0 }), { code: "conflict" })
    assert.deepEqual(await third.send("appendAt", { session, lines: ["x"], expect: grown }), { code: "conflict" })
    headOf(await send("appendAt", { session, lines: ["on"], expect: anew }))
    for (const worker of workers) assert.deepEqual(await worker.send("read", { session }), digest(["again", "on"]))
  }
})

void test("a document that all runtimes change at once loses no change, and a blob that one put is there for all", async (t) => {
  const { workers } = startWorkers(t, RUNTIMES, PART_BYTES)
  const changes = workers.flatMap(({ runtime, send }) =>
    Array.from({ length: 20 }, (_, n) => send("extendDoc", { key: "pointers", by: `${runtime} ${n};` })),
  )
  await Promise.all(changes)
  const { text } = await of(workers, 0).send("extendDoc", { key: "pointers", by: "" })
  const all = text.split(";").filter((change) => change !== "")
  assert.equal(all.length, 60)
  for (const { runtime } of workers) {
    const own = all.filter((change) => change.startsWith(`${runtime} `))
    assert.deepEqual(
      own,
      Array.from({ length: 20 }, (_, n) => `${runtime} ${n}`),
    )
  }
  for (const { runtime, send } of workers) {
    const { hash } = await send("putBlob", { text: `of ${runtime}, größer` })
    for (const worker of workers) assert.equal((await worker.send("getBlob", { hash })).text, `of ${runtime}, größer`)
  }
})

function of(workers: readonly Worker[], turn: number): Worker {
  return workers[turn % workers.length] as Worker
}

function headOf(outcome: Outcome): Head {
  assert.ok("head" in outcome, JSON.stringify(outcome))
  return outcome.head
}

function digest(lines: readonly string[]): { lines: number; sha256: string } {
  const text = lines.map((line) => `${line}\n`).join("")
  return { lines: lines.length, sha256: createHash("sha256").update(text).digest("hex") }
}

/** The file names of a log's parts. */
function partsOf(root: string, session: string): ReadonlyMap<string, Buffer> {
  const folder = join(root, session)
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(folder, name))]))
}

/** Lines that are difficult to decode, split or count, single and combined. */
function batches(): readonly (readonly string[])[] {
  const odd = [
    "{}",
    "\ufeff{}",
    "a CR\r",
    "\u2028 \u2029 \u0085",
    "grüße",
    "会话日志",
    "👍🏽 👩‍👩‍👧",
    '"\\u0000"',
    "\uffff",
    " ",
  ]
  const wide = Array.from({ length: 300 }, (_, i) => `${"größer ".repeat(i)}${i}`)
  const long = ["x".repeat(300_000), "ü".repeat(200_000), "会".repeat(150_000)]
  return [odd.slice(0, 1), odd, wide, ...long.map((line) => [line]), [...odd, "x".repeat(70_000), ...odd]]
}
