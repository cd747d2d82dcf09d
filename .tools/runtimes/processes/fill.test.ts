import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test, type TestContext } from "node:test"
import { createSessions, type Entry } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import type { Arguments, Filled } from "./commands.ts"
import { type Hand, type Runtime, startHands } from "./hands.ts"

const EACH = 2_000
/** A turn of the lock takes some 50 ms: who waits so long was passed over a hundred times. */
const LONGEST_MS = 10_000
const LIMITS = { timeout: 120_000 }

for (const inFlight of [1, 32]) {
  const how = inFlight === 1 ? "one at a time" : `${inFlight} on their way`
  void test(
    `four processes of three runtimes append to one session as fast as they can, ${how}: all is there once, each one's in its order`,
    LIMITS,
    async (t) => {
      const place = await openPlace(t, ["node", "node", "bun", "deno"])
      const filled = await Promise.all(place.hands.map((_, i) => place.fill(i, { count: EACH, inFlight })))
      const texts = await place.check(filled)
      assert.equal(texts.length, 4 * EACH)
      const seconds = Math.max(...filled.map(({ ms }) => ms)) / 1_000
      const waits = filled.map(({ longestWaitMs }, i) => `${place.names[i]} ${Math.round(longestWaitMs)} ms`).join(", ")
      t.diagnostic(
        `measured: 8,000 entries, ${how}, in ${seconds.toFixed(1)} s, ${turnsOf(texts)} turns; longest waits: ${waits}`,
      )
      for (const { longestWaitMs } of filled) assert.ok(longestWaitMs < LONGEST_MS, waits)
    },
  )
}

for (const runtime of ["node", "bun", "deno"] as const) {
  void test(`a process in ${runtime} gets its turns beside three others that never pause`, LIMITS, async (t) => {
    const place = await openPlace(t, ["node", "bun", "deno", runtime])
    const until = join(place.root, ".stop")
    const others = [0, 1, 2].map((i) => place.fill(i, { until, inFlight: 1 }))
    const own = await place.fill(3, { count: EACH, inFlight: 1 })
    writeFileSync(until, "")
    const filled = [...(await Promise.all(others)), own]
    const texts = await place.check(filled)
    const rest = texts.length - EACH
    t.diagnostic(
      `measured: ${EACH} entries of ${runtime} beside ${rest} of others in ${(own.ms / 1_000).toFixed(1)} s, ${turnsOf(texts)} turns; longest wait: ${Math.round(own.longestWaitMs)} ms`,
    )
    assert.ok(own.longestWaitMs < LONGEST_MS)
  })
}

interface Place {
  readonly root: string
  readonly hands: readonly Hand[]
  readonly names: readonly string[]
  fill(index: number, o: Omit<Arguments<"fill">, "session" | "name">): Promise<Filled>
  /** The texts of all messages in log order, held to what each process says that it wrote. */
  check(filled: readonly Filled[]): Promise<readonly string[]>
}

/** A session, and processes that all run before one begins. */
async function openPlace(t: TestContext, runtimes: readonly Runtime[]): Promise<Place> {
  const { root, hands } = startHands(t, runtimes, 400_000)
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const { id } = await sessions.create()
  await sessions.close()
  await Promise.all(hands.map((hand) => hand.tell("list", {})))
  const names = hands.map(({ runtime }, i) => `${runtime}-${i + 1}`)
  return {
    root,
    hands,
    names,
    fill: (i, o) => (hands[i] as Hand).tell("fill", { session: id, name: names[i] ?? "", ...o }),
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

/** Each message hangs on one before it, and none has an id that another has. */
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
