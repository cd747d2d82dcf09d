import { branchWithSummary } from "../compaction/index.ts"
import { createMemoryLocation } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { createWriter, note, storedEntries, twoWriters, user } from "../../test/writers.ts"
import type { Entry } from "../format/entry.ts"
import type { Session } from "../session/types.ts"

/** `s` with the path a, b, c. */
async function path(): Promise<Awaited<ReturnType<typeof twoWriters>>> {
  return twoWriters({}, [user("a", "a"), user("b", "b"), user("c", "c")])
}

type Location = Parameters<typeof storedEntries>[0]

async function lastOf(location: Location): Promise<Entry> {
  return (await storedEntries(location)).at(-1) as Entry
}

describe("an entry that leaves a branch names the tip that it leaves", () => {
  const leaving: readonly [name: string, leave: (session: Session) => Promise<unknown>, expected: object][] = [
    ["branch", (session) => session.branch("b"), { type: "leaf", parentId: "b", settles: ["c"] }],
    ["resetLeaf", (session) => session.resetLeaf(), { type: "leaf", parentId: null, settles: ["c"] }],
    [
      "branchWithSummary",
      (session) => branchWithSummary(session, "a", "left"),
      { type: "branch_summary", parentId: "a", fromId: "c", settles: ["c"] },
    ],
    ["branch to where it is", (session) => session.branch("c"), { type: "leaf", parentId: "c", settles: [] }],
    [
      "branch that names another",
      (session) => session.branch("b", { settles: ["a"] }),
      { type: "leaf", parentId: "b", settles: ["c", "a"] },
    ],
  ]
  test.each(leaving)("%s", async (_, leave, expected) => {
    const { location, one } = await path()
    await leave(one)
    expect(await lastOf(location)).toMatchObject(expected)
  })

  test("whatever annotations follow the tip", async () => {
    const { location, one } = await path()
    await one.append([note("n"), user("d", "d")])
    await one.label("a", "first")
    await one.branch("a")
    expect(await lastOf(location)).toMatchObject({ settles: ["d"] })
  })

  test("also if the tip is a pending entry", async () => {
    const { location, one } = await path()
    await Promise.all([one.append(user("d", "d")), one.branch("a"), one.append(user("e", "e")), one.branch("d")])
    const leaves = (await storedEntries(location)).filter(({ type }) => type === "leaf")
    expect(leaves.map(({ settles }) => settles)).toEqual([["d"], ["e"]])
  })
})

test("settle writes a leaf that moves nothing and names exactly the given tips", async () => {
  const { location, one } = await path()
  await one.branch("b")
  await one.append(user("d", "d"))
  const { ids } = await one.settle(["c", "a"])
  const [id] = ids
  expect(await lastOf(location)).toMatchObject({ type: "leaf", id, parentId: "d", settles: ["c", "a"] })
  expect(one.leafId).toBe(id)
  expect((await one.messages()).messages.map(({ entryId }) => entryId)).toEqual(["a", "b", "d"])
})

test("the tips to settle must be ids of entries of the log", async () => {
  const { location, one } = await path()
  const before = await storedEntries(location)
  await expect(one.settle(["c", "nowhere"])).rejects.toMatchObject({ code: "not_found" })
  await expect(one.branch("b", { settles: ["nowhere"] })).rejects.toMatchObject({ code: "not_found" })
  for (const settles of ["c", [1], null] as never[]) {
    await expect(one.settle(settles)).rejects.toMatchObject({ code: "invalid" })
    await expect(one.branch("b", { settles })).rejects.toMatchObject({ code: "invalid" })
  }
  expect(await storedEntries(location)).toEqual(before)
})

test("an entry to settle that is not in memory is found in the log", async () => {
  const { location, one } = await path()
  await one.branch("b")
  await one.append([user("d", "d"), ...Array.from({ length: 20 }, (_, n) => user(`${n}`))])
  const { storage, sessions } = createWriter(location, { readWindow: { first: 1, largest: 1 } })
  const session = await sessions.open("s")
  const reads = (): number => storage.calls.filter(({ operation }) => operation === "read").length
  const before = reads()
  await session.settle(["a"])
  expect(reads()).toBeGreaterThan(before)
  expect(await lastOf(location)).toMatchObject({ settles: ["a"] })
})

test("a leaf that a caller appends has the tips that it says, or those that it leaves", async () => {
  const { location, one } = await path()
  await one.append({ type: "leaf", settles: ["b"] })
  expect(await lastOf(location)).toMatchObject({ parentId: "c", settles: ["b"] })
  await one.append([user("d", "d"), { type: "leaf" }])
  expect(await lastOf(location)).toMatchObject({ settles: [] })
})

describe("the tips of an entry are those that its writer knew", () => {
  test("however many lines of another writer came before it", async () => {
    const { location, one, two } = await path()
    // Its append conflicts, and is sent again behind the lines of the other.
    await one.append([user("d", "d"), user("e", "e")])
    await two.branch("a")
    expect(await lastOf(location)).toMatchObject({ type: "leaf", parentId: "a", settles: ["c"] })
    expect((await storedEntries(location)).map(({ id }) => id).slice(0, 5)).toEqual(["a", "b", "c", "d", "e"])
  })

  test("also if the write had an unknown outcome and arrived, or was sent again", async () => {
    for (const fault of ["response lost", "request lost"] as const) {
      const location = createMemoryLocation()
      const { storage, sessions } = createWriter(location)
      const one = await sessions.create({ id: "s" })
      await one.append([user("a", "a"), user("b", "b")])
      storage.fail("append", fault)
      await one.branch("a")
      const leaves = (await storedEntries(location)).filter(({ type }) => type === "leaf")
      expect(leaves).toMatchObject([{ parentId: "a", settles: ["b"] }])
    }
  })
})
