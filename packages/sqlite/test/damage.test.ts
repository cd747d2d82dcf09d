/** Rows that another program or a failing disk has changed. */
import { readFileSync, writeFileSync } from "node:fs"
import { connect } from "@sessions/sqlite/driver"
import { expect, test } from "vitest"
import { openDatabase, type SqliteDatabase } from "../src/driver/library.ts"
import { connectTo, fill, linesOf, linesTo, newPath, openAt } from "./helpers.ts"

test("a row with another seq gives no window other lines than those at its seqs", async () => {
  const path = newPath()
  const storage = openAt(path)
  const { log } = await storage.append("a", linesTo(5), { expect: 0 })
  await storage.append("a", linesTo(10).slice(5), { expect: { next: 5, log } })
  await storage.append("a", linesTo(15).slice(10), { expect: { next: 10, log } })
  connectTo(path).exec("UPDATE batch SET seq = 3 WHERE seq = 5")
  await expect(linesOf(storage, "a", { from: 4, to: 5 })).rejects.toMatchObject({ code: "corrupt" })
  expect(await linesOf(storage, "a", { before: 15, maxBytes: 1_000_000 })).toEqual(linesTo(15).slice(10))
  for (const maxBytes of [10, 50, 1_000_000]) {
    let before = 8
    while (before > 3) {
      const window = storage.read("a", { before, maxBytes })
      const chunk = await window[Symbol.asyncIterator]()
        .next()
        .catch(() => undefined)
      if (chunk === undefined || chunk.done === true) break
      expect(chunk.value.from).toBeGreaterThanOrEqual(3)
      before = chunk.value.from
    }
  }
})

test.each([
  ["the last row", 10],
  ["a row in the middle", 15],
])("of %s with a higher seq than it had no line is given at another seq", async (_, count) => {
  const path = newPath()
  const storage = openAt(path)
  let head = await storage.append("a", linesTo(5), { expect: 0 })
  for (let at = 5; at < count; at += 5) head = await storage.append("a", linesTo(at + 5).slice(at), { expect: head })
  connectTo(path).exec("UPDATE batch SET seq = 7 WHERE seq = 5")
  expect(await linesOf(storage, "a", { to: 5 })).toEqual(linesTo(5))
  for (const range of [{ from: 7 }, { from: 8, to: 9 }, { from: 0 }, { before: 10, maxBytes: 20 }])
    await expect(linesOf(storage, "a", range), JSON.stringify(range)).rejects.toMatchObject({ code: "corrupt" })
  for (const maxBytes of [10, 1_000_000])
    await expect(linesOf(storage, "a", { before: 9, maxBytes })).rejects.toMatchObject({ code: "corrupt" })
})

test("a row with the seq of a missing one gives no other lines in place of the rows that are there", async () => {
  const path = newPath()
  const storage = openAt(path)
  const { log } = await storage.append("a", linesTo(5), { expect: 0 })
  await storage.append("a", linesTo(10).slice(5), { expect: { next: 5, log } })
  await storage.append("a", linesTo(20).slice(10), { expect: { next: 10, log } })
  connectTo(path).exec("DELETE FROM batch WHERE seq = 0; UPDATE batch SET seq = 0 WHERE seq = 10")
  const given = async (from: number): Promise<readonly string[]> => {
    const lines: string[] = []
    const reading = async (): Promise<void> => {
      for await (const chunk of storage.read("a", { from })) lines.push(...chunk.lines)
    }
    await expect(reading()).rejects.toMatchObject({ code: "corrupt" })
    return lines
  }
  expect(await given(0)).toEqual([])
  expect(await given(2)).toEqual([])
})

test("of a row with a seq below 0 no window has lines", async () => {
  const path = newPath()
  const storage = openAt(path)
  const { log } = await storage.append("a", linesTo(5), { expect: 0 })
  await storage.append("a", linesTo(10).slice(5), { expect: { next: 5, log } })
  connectTo(path).exec("UPDATE batch SET seq = -1 WHERE seq = 0")
  expect(await linesOf(storage, "a", { before: 10, maxBytes: 1_000_000 })).toEqual(linesTo(10).slice(5))
  await expect(linesOf(storage, "a", { before: 5, maxBytes: 1_000_000 })).rejects.toMatchObject({ code: "corrupt" })
  await expect(linesOf(storage, "a", { before: 3, maxBytes: 10 })).rejects.toMatchObject({ code: "corrupt" })
})

test.each([
  ["a row is missing in the middle", "DELETE FROM batch WHERE seq = 2", 2],
  ["the first row is missing", "DELETE FROM batch WHERE seq = 0", 0],
  ["the last row is missing", "DELETE FROM batch WHERE seq = 4", 4],
  ["a row has a line too many", "UPDATE batch SET body = CAST('a\nb\n' AS BLOB) WHERE seq = 2", 2],
  ["a row has no line feed at its end", "UPDATE batch SET body = CAST('ab' AS BLOB) WHERE seq = 2", 2],
])("if %s, the lines before it can be read, and the rest is `corrupt`", async (_, sql, at) => {
  const path = newPath()
  const storage = openAt(path)
  await fill(storage, "a", 5)
  connectTo(path).exec(sql)
  expect(await linesOf(storage, "a", { to: at })).toEqual(linesTo(at))
  await expect(linesOf(storage, "a")).rejects.toMatchObject({ code: "corrupt" })
  expect(await storage.delete("a")).toMatchObject({ purged: true })
})

test.each(["bytes = -1", "bytes = 9", "log = ''"])(
  "with %s in its row, a session is `corrupt` for an append, and stays as it is",
  async (sql) => {
    const path = newPath()
    const storage = openAt(path)
    const head = await fill(storage, "a", 5)
    const other = connectTo(path)
    other.exec(`UPDATE session SET ${sql}`)
    const before = other.prepare("SELECT * FROM session").all()
    await expect(storage.append("a", ["x"], { expect: head })).rejects.toMatchObject({ code: "corrupt" })
    await expect(storage.append("a", ["x"], { expect: 0 })).rejects.toMatchObject({ code: "corrupt" })
    expect(other.prepare("SELECT * FROM session").all()).toEqual(before)
  },
)

test.each([
  ["lines", 1],
  ["window", 2],
])("a log that goes between two statements of a read (%s) is no damage", async (kind, removed) => {
  const path = newPath()
  const storage = openAt(path)
  const head = await fill(storage, "a", 3)
  const other = connectTo(path)
  // A delete detaches the log, and removes its lines afterwards in pieces.
  const remove = (): void => {
    other.exec(`UPDATE session SET id = NULL; DELETE FROM batch WHERE seq = ${removed}`)
  }
  const reader = openAt(path, { open: (file) => removing(openDatabase(file), remove) })
  const range = kind === "lines" ? { from: 1, log: head.log } : { maxBytes: 1_000_000, log: head.log }
  await expect(linesOf(reader, "a", range)).rejects.toMatchObject({ code: "conflict" })
})

/** Calls `remove` before the lines of a log are first looked at. */
function removing(database: SqliteDatabase, remove: () => void): SqliteDatabase {
  let isDone = false
  return {
    exec: (sql) => database.exec(sql),
    prepare(sql) {
      const statement = database.prepare(sql)
      if (!/^SELECT seq, lines(?:, bytes)? FROM batch/.test(sql)) return statement
      const first = (): void => {
        if (!isDone) remove()
        isDone = true
      }
      return {
        get: (...values) => statement.get(...values),
        all: (...values) => (first(), statement.all(...values)),
        iterate: (...values) => (first(), statement.iterate(...values)),
        run: (...values) => statement.run(...values),
        finalize: () => statement.finalize?.(),
      }
    },
    close: () => database.close(),
  }
}

test("a read that meets a damaged page is `corrupt`, and the next read of another session has all its lines", async () => {
  const path = newPath()
  const first = openAt(path)
  const [damaged, whole] = ["a", "b"].map((letter) => Array.from({ length: 60 }, () => letter.repeat(2_000))) as [
    string[],
    string[],
  ]
  for (const [id, lines] of Object.entries({ a: damaged, b: whole })) {
    let head = await first.append(id, lines.slice(0, 1), { expect: 0 })
    for (const line of lines.slice(1)) head = await first.append(id, [line], { expect: head })
  }
  await first[Symbol.asyncDispose]()
  damagePageWith(path, damaged[0] as string)
  const storage = openAt(path)
  for (const range of [{ from: 0 }, { before: 60, maxBytes: 200_000 }]) {
    await expect(linesOf(storage, "a", range)).rejects.toMatchObject({ code: "corrupt" })
    expect(await linesOf(storage, "b", range)).toEqual(whole)
  }
})

/** Overwrites the page in the middle of those that have `text`. */
function damagePageWith(path: string, text: string): void {
  const db = connect(path)
  const size = db.query<{ page_size: number }>("PRAGMA page_size").get()?.page_size ?? 0
  db.close()
  const bytes = readFileSync(path)
  const found: number[] = []
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found.push(at)
  const page = Math.floor((found[found.length >> 1] as number) / size) * size
  writeFileSync(path, bytes.fill(0xff, page, page + size))
}
