/** Rows whose text was changed so that they have more or fewer lines than they should have. On an IndexedDB in memory, also in Node. */
import { createIndexedDbStorage } from "@sessions/idb"
import { expect, test } from "vitest"
import { newDatabase, open, raw, readAll } from "./databases.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

/** So many at the end of a log are merged. */
const ROWS = 20
const LINES_OF_ROW = 5
const LINES = ROWS * LINES_OF_ROW

const changes: Readonly<Record<string, (text: string) => string>> = {
  "more lines": (text) => text.replace("-", "\n"),
  "fewer lines": (text) => text.replace("\n", "-"),
}

for (const [change, apply] of Object.entries(changes)) {
  test.each([0, 2, ROWS - 1])(
    `a row with ${change} is \`corrupt\` and hides no line of another row: row %i`,
    async (row) => {
      const database = await filled()
      await damage(database, row, apply)
      const [from, to] = [row * LINES_OF_ROW, (row + 1) * LINES_OF_ROW]
      await expect(readAll(open(database), "s")).rejects.toMatchObject({ code: "corrupt", session: "s" })
      for (const maxBytes of [1, 30, 100, 10_000]) {
        const seen = new Map<number, string>()
        for (let before = LINES; before > 0; ) {
          const lines = await windowOf(database, before, maxBytes)
          if (lines === undefined) break
          for (const [seq, line] of lines) seen.set(seq, line)
          before = Math.min(...lines.keys())
        }
        for (const [seq, line] of seen) if (seq < from || seq >= to) expect([seq, line]).toEqual([seq, lineAt(seq)])
      }
    },
  )

  test(`a row with ${change} is not merged with others`, async () => {
    const database = await filled()
    await damage(database, 2, apply)
    const storage = open(database)
    expect(await storage.compactRows("s")).toEqual({ before: ROWS, after: ROWS })
    const after = (await collect(storage.read("s", { from: 3 * LINES_OF_ROW }))).map(([, line]) => line)
    expect(after).toEqual(Array.from({ length: LINES - 3 * LINES_OF_ROW }, (_, n) => lineAt(3 * LINES_OF_ROW + n)))
  })
}

test("a row that does not begin with a number is `corrupt`", async () => {
  for (const from of [undefined, "0", { toString: 1, valueOf: 1 }, 0.5]) {
    const database = await filled()
    const keys = await raw(database, ["log"], (tx) => tx.objectStore("log").getAllKeys())
    for (const key of [keys[0], keys.at(-1)] as IDBValidKey[]) {
      const row = await raw<object>(database, ["log"], (tx) => tx.objectStore("log").get(key))
      await raw(database, ["log"], (tx) => tx.objectStore("log").put({ ...row, from }, key))
      const storage = open(database)
      await expect(readAll(storage, "s")).rejects.toMatchObject({ code: "corrupt" })
      const window = { before: LINES, maxBytes: 1_000_000 }
      await expect(collect(storage.read("s", window))).rejects.toMatchObject({ code: "corrupt" })
      await raw(database, ["log"], (tx) => tx.objectStore("log").put(row, key))
    }
  }
})

test("a range that ends within a merged row is read", async () => {
  const database = await filled()
  const storage = open(database)
  expect(await storage.compactRows("s")).toEqual({ before: ROWS, after: 1 })
  expect((await collect(storage.read("s", { from: 2, to: LINES - 2 }))).length).toBe(LINES - 4)
})

function lineAt(seq: number): string {
  return `line-${seq}`
}

async function filled(): Promise<string> {
  const database = newDatabase()
  const storage = createIndexedDbStorage({ database })
  let head = undefined
  for (let from = 0; from < LINES; from += LINES_OF_ROW) {
    const lines = Array.from({ length: LINES_OF_ROW }, (_, n) => lineAt(from + n))
    head = await storage.append("s", lines, { expect: head ?? 0 })
  }
  await storage[Symbol.asyncDispose]()
  return database
}

async function damage(database: string, row: number, apply: (text: string) => string): Promise<void> {
  const keys = await raw(database, ["log"], (tx) => tx.objectStore("log").getAllKeys())
  const key = keys[row] as IDBValidKey
  const stored = await raw<{ text: string }>(database, ["log"], (tx) => tx.objectStore("log").get(key))
  await raw(database, ["log"], (tx) => tx.objectStore("log").put({ ...stored, text: apply(stored.text) }, key))
}

type Numbered = readonly (readonly [seq: number, line: string])[]

async function collect(chunks: AsyncIterable<{ from: number; lines: readonly string[] }>): Promise<Numbered> {
  const lines: [number, string][] = []
  for await (const chunk of chunks) for (const [n, line] of chunk.lines.entries()) lines.push([chunk.from + n, line])
  return lines
}

/** Undefined if the window is `corrupt`. */
async function windowOf(
  database: string,
  before: number,
  maxBytes: number,
): Promise<ReadonlyMap<number, string> | undefined> {
  try {
    return new Map(await collect(open(database).read("s", { before, maxBytes })))
  } catch (error) {
    expect(error).toMatchObject({ code: "corrupt" })
    return undefined
  }
}
