import assert from "node:assert/strict"
import { test } from "node:test"
import type { Head } from "@sessions/core/storage"
import { startWorkers } from "./workers.ts"

const ROUNDS = 100
const EACH = 8

void test("of 32 appends after one head, from four processes of three runtimes, exactly one is taken, a hundred times", async (t) => {
  const { workers } = startWorkers(t, ["node", "node", "bun", "deno"], 10_000)
  const first = await workers[0]?.send("append", { session: "a", lines: ["{}"] })
  assert.ok(first !== undefined && "head" in first)
  let head: Head = first.head
  const won = workers.map(() => 0)
  for (let round = 0; round < ROUNDS; round++) {
    const outcomes = await Promise.all(
      workers.map((worker, i) =>
        worker.send("race", { session: "a", expect: head, count: EACH, mark: `${round}-${i}` }),
      ),
    )
    const winners = outcomes.flatMap((own, i) =>
      own.flatMap((outcome) => ("head" in outcome ? [{ i, ...outcome }] : [])),
    )
    const codes = new Set(outcomes.flat().flatMap((outcome) => ("code" in outcome ? [outcome.code] : [])))
    assert.deepEqual([winners.length, ...codes], [1, "conflict"])
    assert.deepEqual(winners[0]?.head, { next: head.next + 1, log: head.log })
    for (const { i } of winners) won[i] = (won[i] ?? 0) + 1
    head = { next: head.next + 1, log: head.log }
  }
  const read = await Promise.all(workers.map((worker) => worker.send("read", { session: "a" })))
  assert.deepEqual(new Set(read.map(({ lines }) => lines)), new Set([ROUNDS + 1]))
  assert.equal(new Set(read.map(({ sha256 }) => sha256)).size, 1)
  t.diagnostic(
    `measured: ${ROUNDS} races, won by ${workers.map(({ runtime }, i) => `${runtime} ${won[i]}`).join(", ")}`,
  )
})
