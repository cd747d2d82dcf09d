/** `onConflict: "rebase"`: entries that follow whatever is there, so that no second branch begins. */
import { createMemoryLocation } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Fault } from "@sessions/conformance/faults"
import { holdsAsync } from "../../test/property.ts"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  note,
  reopened,
  storedEntries,
  twoWriters,
  user,
} from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { sessionTree } from "../transfer/index.ts"

const REBASE = { onConflict: "rebase" } as const

test("entries follow another writer's, and the session goes on behind them", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await one.append([user("theirs", "a1"), assistant("answer", "a2")])
  const { diverged, ids } = await two.append([user("mine", "b1"), assistant("answer", "b2")], REBASE)
  expect(diverged).toBeUndefined()
  expect(ids).toEqual(["b1", "b2"])
  expect(two.leafId).toBe("b2")
  await two.append(user("more", "b3"))
  const parents = (await storedEntries(location)).map(({ id, parentId }) => [id, parentId])
  expect(parents).toEqual([
    ["0", null],
    ["a1", "0"],
    ["a2", "a1"],
    ["b1", "a2"],
    ["b2", "b1"],
    ["b3", "b2"],
  ])
  expect((await two.info()).openTips).toEqual({ tips: [] })
})

test("entries that are queued behind a rebased append follow it; an append before it with another policy branches", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await one.append(user("theirs", "a"))
  await Promise.all([two.append(note("n", "n")), two.append(user("b", "b"), REBASE), two.append(user("c", "c"))])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "theirs", "b", "c"])
  await one.append(user("again", "a2"))
  await Promise.all([two.append(user("d", "d")), two.append(user("e", "e"), REBASE)])
  expect(await contextTexts(two)).toEqual(["start", "theirs", "b", "c", "d", "e"])
  expect((await two.info()).openTips?.tips.map(({ id }) => id)).toEqual(["a2"])
})

test("another writer's branch is followed too, because the log's last entry is the leaf", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0"), assistant("first", "1")])
  await one.append(assistant("second", "2"), { at: "0" })
  await two.append(user("mine", "b"), REBASE)
  expect(await contextTexts(two)).toEqual(["start", "second", "mine"])
  expect(await contextTexts(await reopened(location))).toEqual(["start", "second", "mine"])
})

test("without another writer's conversation, a rebased append is an ordinary one", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0"), assistant("first", "1")])
  await two.branch("0")
  await one.title("aside")
  await two.append(user("mine", "b"), REBASE)
  expect((await storedEntries(location)).at(-1)).toMatchObject({ id: "b" })
  expect(await contextTexts(two)).toEqual(["start", "mine"])
})

test("in a turn it is the caller's choice: the turn does not start over", async () => {
  const { one, two } = await twoWriters({}, [user("start", "0")])
  await one.append(user("theirs", "a"))
  const attempts: number[] = []
  await two.turn(async (turn, { attempt }) => {
    attempts.push(attempt)
    await turn.append(user("mine", "b"), REBASE)
    await one.append(user("between", "c"), REBASE)
    await turn.append(assistant("answer", "d"), REBASE)
  })
  expect(attempts).toEqual([0])
  expect(await contextTexts(two)).toEqual(["start", "theirs", "mine", "between", "answer"])
})

test("entries that depend on their place are `invalid`", async () => {
  const { one, location } = await twoWriters({}, [user("start", "0")])
  const compaction = { type: "compaction", id: "k", firstKeptEntryId: "k", summary: "s", tokensBefore: 1 }
  for (const entry of [
    { type: "reset_boundary" },
    { type: "leaf" },
    { type: "branch_summary", fromId: "0", summary: "s" },
    { ...compaction, readFiles: [], modifiedFiles: [] },
  ] as NewEntry[]) {
    expect(await codeOf(one.append([user("before"), entry], REBASE))).toBe("invalid")
  }
  expect(await codeOf(one.branch("0", REBASE))).toBe("invalid")
  expect(await codeOf(one.resetLeaf(REBASE))).toBe("invalid")
  expect(one.leafId).toBe("0")
  await one.title("named", REBASE)
  expect(await storedEntries(location)).toHaveLength(2)
})

test("if every writer rebases, the log has one path, with every acknowledged message, whatever fails", async () => {
  const faults = fc.array(
    fc.constantFrom<Fault | undefined>(
      undefined,
      undefined,
      "request lost",
      "response lost",
      "late",
      "prefix",
      "unavailable",
    ),
    { maxLength: 12 },
  )
  const rounds = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.integer({ min: 1, max: 3 }), fc.boolean()), {
    minLength: 1,
    maxLength: 12,
  })
  await holdsAsync(
    fc.asyncProperty(rounds, faults, async (script, failing) => {
      const location = createMemoryLocation()
      const writers = Array.from({ length: 3 }, () =>
        createWriter(location, { faulty: { capabilities: { atomicBatch: "prefix" } } }),
      )
      const [first] = writers
      await first?.sessions.create({ id: "s", entries: [user("start", "0")] })
      const open = await Promise.all(writers.map(({ sessions }) => sessions.open("s")))
      failing.forEach((fault, n) => writers[n % 3]?.storage.fail("append", fault))
      const calls: Promise<readonly string[]>[] = []
      for (const [n, [writer, count, waits]] of script.entries()) {
        const entries = Array.from({ length: count }, (_, k) =>
          k === 1 ? note("aside", `${n}.${k}`) : user(`${n}.${k}`, `${n}.${k}`),
        )
        const call = open[writer]?.append(entries, REBASE) as Promise<{ readonly ids: readonly string[] }>
        calls.push(call.then(({ ids }) => ids).catch(() => []))
        if (waits) await calls.at(-1)
      }
      const acknowledged = (await Promise.all(calls)).flat()
      for (const { storage } of writers) while (storage.late > 0) await storage.deliver()
      for (const session of open) await session.flush()
      const entries = await storedEntries(location)
      const { path } = await sessionTree(await reopened(location))
      const messages = entries.filter(({ type }) => type === "message").map(({ id }) => id)
      expect(path.filter((id) => messages.includes(id))).toEqual(messages)
      expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(acknowledged))
      expect((await (await reopened(location)).info()).openTips).toEqual({ tips: [] })
    }),
    25,
  )
})
