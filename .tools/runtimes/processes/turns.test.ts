import assert from "node:assert/strict"
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import type { Head } from "@sessions/core/storage"
import type { Outcome } from "./commands.ts"
import { type Hand, type Runtime, startHands } from "./hands.ts"

const RUNTIMES: readonly Runtime[] = ["node", "bun", "deno"]
/** Small, so that parts and marks are made by one runtime and read by another. */
const PART_BYTES = 700_000
const LIMITS = { timeout: 60_000 }

void test(
  "what one runtime wrote, byte for byte, is what it would have written in another, and what every other one reads",
  LIMITS,
  async (t) => {
    const { root, hands } = startHands(t, RUNTIMES, PART_BYTES)
    for (const { runtime, tell } of hands) {
      for (const lines of batches()) headOf(await tell("append", { session: runtime, lines }))
    }
    const expected = digest(batches().flat())
    for (const { tell } of hands) {
      for (const session of RUNTIMES) assert.deepEqual(await tell("read", { session }), expected)
      assert.deepEqual((await tell("list", {})).toSorted(), RUNTIMES.toSorted())
    }
    // Nothing is written behind any more.
    await Promise.all(hands.map(({ end }) => end()))
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
  },
)

void test("runtimes take turns on one session, each going on where the one before it stopped", LIMITS, async (t) => {
  const { hands } = startHands(t, RUNTIMES, PART_BYTES)
  const written: string[] = []
  for (let turn = 0; turn < 60; turn++) {
    const lines = batches()[turn % batches().length]?.map((line) => `${line} ${turn}`) ?? []
    const { next } = headOf(await of(hands, turn).tell("append", { session: "a", lines }))
    written.push(...lines)
    assert.equal(next, written.length)
    if (turn % 10 === 9) {
      for (const { tell } of hands) assert.deepEqual(await tell("read", { session: "a" }), digest(written))
    }
  }
})

void test(
  "a log that one runtime deleted, made again or replaced is `conflict` to the others, and they go on with the new one",
  LIMITS,
  async (t) => {
    const { hands } = startHands(t, RUNTIMES, PART_BYTES)
    for (const [turn, { tell }] of hands.entries()) {
      const [second, third] = [of(hands, turn + 1), of(hands, turn + 2)]
      const session = `s${turn}`
      const old = headOf(await tell("append", { session, lines: ["one", "two"] }))
      for (const hand of hands) assert.equal((await hand.tell("read", { session })).lines, 2)

      const replaced = headOf(await second.tell("replace", { session, lines: ["new"], expect: old }))
      assert.deepEqual(await tell("appendAt", { session, lines: ["x"], expect: old }), { code: "conflict" })
      assert.deepEqual(await tell("read", { session }), digest(["new"]))
      const grown = headOf(await third.tell("appendAt", { session, lines: ["more"], expect: replaced }))

      assert.deepEqual(await tell("delete", { session }), { bytes: 9, parts: 1 })
      assert.deepEqual(await third.tell("appendAt", { session, lines: ["x"], expect: grown }), { code: "conflict" })
      const anew = headOf(await second.tell("appendAt", { session, lines: ["again"], expect: 0 }))
      assert.deepEqual(await third.tell("appendAt", { session, lines: ["x"], expect: 0 }), { code: "conflict" })
      assert.deepEqual(await third.tell("appendAt", { session, lines: ["x"], expect: grown }), { code: "conflict" })
      headOf(await tell("appendAt", { session, lines: ["on"], expect: anew }))
      for (const hand of hands) assert.deepEqual(await hand.tell("read", { session }), digest(["again", "on"]))
    }
  },
)

void test(
  "a document that all runtimes change at once loses no change, and a blob that one put is there for all",
  LIMITS,
  async (t) => {
    const { hands } = startHands(t, RUNTIMES, PART_BYTES)
    const changes = hands.flatMap(({ runtime, tell }) =>
      Array.from({ length: 20 }, (_, n) => tell("extendDoc", { key: "pointers", by: `${runtime} ${n};` })),
    )
    await Promise.all(changes)
    const { text } = await of(hands, 0).tell("extendDoc", { key: "pointers", by: "" })
    const all = text.split(";").filter((change) => change !== "")
    assert.equal(all.length, 60)
    for (const { runtime } of hands) {
      const own = all.filter((change) => change.startsWith(`${runtime} `))
      assert.deepEqual(
        own,
        Array.from({ length: 20 }, (_, n) => `${runtime} ${n}`),
      )
    }
    for (const { runtime, tell } of hands) {
      const { hash } = await tell("putBlob", { text: `of ${runtime}, größer` })
      for (const hand of hands) assert.equal((await hand.tell("getBlob", { hash })).text, `of ${runtime}, größer`)
    }
  },
)

function of(hands: readonly Hand[], turn: number): Hand {
  return hands[turn % hands.length] as Hand
}

function headOf(outcome: Outcome): Head {
  assert.ok("head" in outcome, JSON.stringify(outcome))
  return outcome.head
}

function digest(lines: readonly string[]): { lines: number; sha256: string } {
  const text = lines.map((line) => `${line}\n`).join("")
  return { lines: lines.length, sha256: createHash("sha256").update(text).digest("hex") }
}

/** The parts of a log by their names. */
function partsOf(root: string, session: string): ReadonlyMap<string, Buffer> {
  const folder = join(root, session)
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"))
  return new Map(names.toSorted().map((name) => [name, readFileSync(join(folder, name))]))
}

/** Lines that a decoder, a splitter or a counter of bytes may get wrong, one alone and many together. */
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
