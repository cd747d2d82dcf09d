import type { MemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { contextTexts, createWriter, note, reopened, storedIds, twoWriters, user } from "../../test/writers.ts"
import type { SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Session } from "../session/types.ts"

/** Returns a function that puts the present log back in its place. */
function backup(location: MemoryLocation): () => void {
  const log = location.logs.get("s")
  if (log === undefined) throw new Error("There is no log.")
  const copy = { ...log, lines: [...log.lines] }
  return () => void location.logs.set("s", { ...copy, lines: [...copy.lines] })
}

async function failed(promise: Promise<unknown>): Promise<SessionError> {
  return promise.then(
    () => Promise.reject(new Error("It did not reject.")),
    (error: SessionError) => error,
  )
}

const lostIds = (error: SessionError): string[] | undefined => error.lost?.map(({ id }) => id)

/** Session one has lost `b` and `c`, after which another writer has appended this many lines. */
async function cut(others: number): Promise<{
  readonly location: MemoryLocation
  readonly one: Session
  readonly heard: string[]
}> {
  const { location, one } = await twoWriters({}, [user("start", "a")])
  const restore = backup(location)
  await one.append([user("b", "b"), user("c", "c")])
  restore()
  const other = await reopened(location)
  for (let n = 0; n < others; n++) await other.append(user(`x${n}`, `x${n}`))
  const heard: string[] = []
  one.on("foreign", ({ entries }) => heard.push(`foreign ${entries.map(({ id }) => id).join()}`))
  one.on("diverged", () => heard.push("diverged"))
  one.on("rolled_back", ({ ids }) => heard.push(`rolled_back ${ids.join()}`))
  return { location, one, heard }
}

const POLICIES = ["fail", "branch", "retry-turn", "rebase"] as const

for (const [others, found] of [
  [0, "shorter"],
  [2, "as long"],
  [3, "longer"],
] as const) {
  test.each(POLICIES)(
    `an append to a log that is ${found} without the known line is refused once, with "%s"`,
    async (onConflict) => {
      const { location, one, heard } = await cut(others)
      const ids = Array.from({ length: others }, (_, n) => `x${n}`)
      const error = await failed(one.append(user("d", "d"), { onConflict }))
      expect([error.code, lostIds(error)]).toEqual(["conflict", ["b", "c"]])
      expect(error.lost?.[0]).toMatchObject({ type: "message", message: { role: "user", content: [{ text: "b" }] } })
      expect(await storedIds(location)).toEqual(["a", ...ids])
      expect(await contextTexts(one)).toEqual(["start", ...ids])
      expect(heard).toEqual([...(others === 0 ? [] : [`foreign ${ids.join()}`]), "rolled_back d"])
      expect((await one.info()).messageCount).toBe(1 + others)
      await one.append(user("d", "d"), { onConflict })
      expect(await storedIds(location)).toEqual(["a", ...ids, "d"])
      expect(await contextTexts(await reopened(location))).toEqual(["start", ...ids, "d"])
      expect(one.diagnostics).toEqual([])
    },
  )
}

test("refresh is refused once, with the appends behind it, and later calls go on", async () => {
  const { location, one } = await cut(2)
  const outcomes = [one.refresh(), one.append(user("d", "d")), one.append(note("n", "n"))].map(failed)
  expect((await Promise.all(outcomes)).map(lostIds)).toEqual(Array.from({ length: 3 }, () => ["b", "c"]))
  await one.refresh()
  await one.append(user("d", "d"))
  expect(await storedIds(location)).toEqual(["a", "x0", "x1", "d"])
})

test.each([0, 2, 3])(
  "a session that is followed learns of it by `follow`, with %s lines of another writer",
  async (others) => {
    const { one } = await cut(others)
    const error = await failed(one.follow())
    expect([error.code, lostIds(error)]).toEqual(["conflict", ["b", "c"]])
    expect(await contextTexts(one)).toEqual(["start", ...Array.from({ length: others }, (_, n) => `x${n}`)])
  },
)

test("a turn does not start over: its function learns what is gone", async () => {
  const { one } = await cut(2)
  let attempts = 0
  const turn = one.turn(async (running) => {
    attempts++
    await running.append(user("d", "d"))
  })
  expect([lostIds(await failed(turn)), attempts]).toEqual([["b", "c"], 1])
})

test("of a log that ends before the lines in memory the session is read again", async () => {
  const { location, one } = await twoWriters({}, [user("start", "a")])
  const restore = backup(location)
  for (let n = 0; n < 20; n++) await one.append(user(`b${n}`.padEnd(100, "-"), `b${n}`))
  const readWindow = { first: 1_000, largest: 1_000 }
  const opened = await createWriter(location, { readWindow }).sessions.open("s")
  await opened.append(user("c", "c"))
  restore()
  const error = await failed(opened.append(user("d", "d")))
  expect([error.code, lostIds(error)]).toEqual(["conflict", ["c"]])
  await opened.append(user("d", "d"))
  expect(await contextTexts(opened)).toEqual(["start", "d"])
  expect(await storedIds(location)).toEqual(["a", "d"])
})

test("what the log has in another place is not lost, and what is lost can be appended again", async () => {
  const { location, one } = await cut(1)
  const other = await reopened(location)
  await other.append(user("b", "b"))
  const error = await failed(one.append(user("d", "d")))
  expect(lostIds(error)).toEqual(["c"])
  const again = (error.lost ?? []).map((entry) => ({
    ...entry,
    parentId: undefined,
    seq: undefined,
  })) as unknown as NewEntry[]
  await one.append([...again, user("d", "d")])
  expect(await storedIds(location)).toEqual(["a", "x0", "b", "c", "d"])
})

test("entries of other writers that are gone are a conflict too, and are not named", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "a")])
  const restore = backup(location)
  await two.append(user("b", "b"))
  await one.refresh()
  restore()
  expect(lostIds(await failed(one.append(user("d"))))).toEqual([])
  expect(lostIds(await failed(two.refresh()))).toEqual(["b"])
})

test("an entry is named once, however often older copies are put back", async () => {
  const { location, one } = await cut(0)
  expect(lostIds(await failed(one.append(user("d", "d"))))).toEqual(["b", "c"])
  const restore = backup(location)
  await one.append(user("d", "d"))
  await one.append(user("e", "e"))
  restore()
  expect(lostIds(await failed(one.refresh()))).toEqual(["d", "e"])
})

test("a line that was changed in its place is a conflict, and nothing of it is lost", async () => {
  const { location, one } = await twoWriters({}, [user("start", "a")])
  const lines = location.logs.get("s")?.lines as string[]
  lines[1] = (lines[1] as string).replace("start", "other")
  expect(lostIds(await failed(one.append(user("d", "d"))))).toEqual([])
  expect(await contextTexts(one)).toEqual(["other"])
  await one.append(user("d", "d"))
  expect(await storedIds(location)).toEqual(["a", "d"])
})

test("an append of unknown outcome is refused with what is gone", async () => {
  const { location, one, writerOne } = await twoWriters({}, [user("start", "a")])
  const restore = backup(location)
  await one.append(user("b", "b"))
  writerOne.storage.fail("append", "request lost", "request lost", "request lost", "request lost")
  const unknown = await failed(one.append(user("c", "c")))
  expect(unknown.code).toBe("indeterminate")
  restore()
  await (await reopened(location)).append(user("x", "x"))
  expect(lostIds(await failed(one.append(user("d", "d"))))).toEqual(["b"])
  expect(await storedIds(location)).toEqual(["a", "x"])
  await one.append(user("d", "d"))
  expect(await storedIds(location)).toEqual(["a", "x", "d"])
})

test.each(["deleted", "deleted and created again"])(
  "a session that was %s names what it had appended, at each call that finds it gone",
  async (fate) => {
    const { location, one, two } = await twoWriters({}, [user("start", "a")])
    await two.append(note("x", "x"))
    await one.append([user("b", "b"), user("c", "c")])
    location.logs.delete("s")
    if (fate !== "deleted") await createWriter(location).sessions.create({ id: "s" })
    const outcomes = [one.append(user("d", "d")), one.append(user("e", "e")), one.refresh()].map(failed)
    for (const error of [...(await Promise.all(outcomes)), await failed(one.append(user("f", "f")))])
      expect([error.code, lostIds(error)]).toEqual(["not_found", ["a", "b", "c"]])
  },
)
