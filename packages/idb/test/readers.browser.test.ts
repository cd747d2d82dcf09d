/** Reads of a log whose rows are merged at the same time. */
import { expect, test } from "vitest"
import { counts, newDatabase, open, readAll } from "./databases.ts"
import { readerTest } from "./readers.ts"

readerTest(20)

test("two tabs that compact one log at once change no line", async () => {
  const database = newDatabase()
  const [one, other] = [open(database), open(database)]
  const lines = Array.from({ length: 200 }, (_, n) => `{"n":${n},"text":"${"x".repeat(1_000)}"}`)
  let head: Awaited<ReturnType<typeof one.append>> | 0 = 0
  for (const line of lines) head = await one.append("a", [line], { expect: head })
  const before = await one.head("a")
  const compacted = await Promise.all([one.compactRows("a"), other.compactRows("a")])
  expect(compacted.map((each) => each.before)).toEqual([200, expect.any(Number)])
  expect((await counts(database))["log"]).toBeLessThan(10)
  expect(await one.head("a")).toEqual(before)
  expect(await readAll(other, "a")).toEqual(lines)
})

test("a session that has been quiet is compacted automatically", async () => {
  const database = newDatabase()
  const storage = open(database)
  let head: Awaited<ReturnType<typeof storage.append>> | 0 = 0
  for (let n = 0; n < 64; n++) head = await storage.append("a", [`{"n":${n}}`], { expect: head })
  expect((await counts(database))["log"]).toBe(64)
  await expect.poll(async () => (await counts(database))["log"]).toBe(1)
  expect((await readAll(storage, "a")).length).toBe(64)
})
