/** Writes whose connection was lost before their outcome was known. On an IndexedDB in memory, also in Node. */
import type { Chunk } from "@sessions/core/storage"
import { createIndexedDbStorage, type IndexedDbStorage } from "@sessions/idb"
import { describe, expect, test } from "vitest"
import { loseAnswers } from "./faults.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

const DOC = "sessions/a/doc"
const BYTES = new TextEncoder().encode("a blob")

let databases = 0

/** A storage with a session of two lines, a document and a blob, and a storage of another tab on the same database. */
async function twoTabs() {
  const database = `lost-answer-${++databases}`
  const storage = createIndexedDbStorage({ database })
  const other = createIndexedDbStorage({ database })
  const head = await storage.append("a", ["one", "two"], { expect: 0 })
  const version = await storage.docs.put(DOC, "first", { expect: null })
  const blob = await storage.blobs.put(BYTES)
  return { database, storage, other, head, version, blob }
}

type Tabs = Awaited<ReturnType<typeof twoTabs>>

async function* chunk(...lines: string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

async function linesOf(storage: IndexedDbStorage): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read("a", {})) lines.push(...chunk.lines)
  return lines
}

const WRITES: Readonly<Record<string, (tabs: Tabs) => Promise<unknown>>> = {
  "an append": ({ storage, head }) => storage.append("a", ["three"], { expect: head }),
  "a creation": ({ storage }) => storage.append("b", ["one"], { expect: 0 }),
  "a delete": ({ storage }) => storage.delete("a", {}),
  "a change of a document": ({ storage, version }) => storage.docs.put(DOC, "second", { expect: version }),
  "a put of a blob": ({ storage }) => storage.blobs.put(BYTES),
  "a delete of a blob": ({ storage, blob }) => storage.blobs.delete(blob),
}

describe("a write whose connection was lost, and lost again while it looked for what it had done", () => {
  for (const [name, write] of Object.entries(WRITES))
    test(`is \`indeterminate\`: ${name}`, async () => {
      const tabs = await twoTabs()
      // What was aborted before it wrote is tried once more.
      loseAnswers(tabs.database, ["committed", "aborted", "aborted"])
      await expect(write(tabs)).rejects.toMatchObject({ code: "indeterminate" })
    })

  test("is `indeterminate`: a replace, which deletes no line of the log that it may have put in place", async () => {
    const { database, storage, head } = await twoTabs()
    // The first transaction stages the lines, the second puts them in place.
    loseAnswers(database, ["answered", "committed", "committed"])
    const replaced = storage.replace("a", chunk("new"), { expect: head })
    await expect(replaced).rejects.toMatchObject({ code: "indeterminate" })
    expect(await linesOf(storage)).toEqual(["new"])
  })
})

test("a repeat of a delete leaves a session that was created since", async () => {
  const { database, storage } = await twoTabs()
  const since = { id: "a", log: "created-since", next: 1, bytes: 4, updatedAt: 1 }
  loseAnswers(database, ["committed"], (tx) => tx.objectStore("heads").put(since))
  expect(await storage.delete("a", {})).toMatchObject({ parts: 1 })
  expect(await storage.head("a")).toMatchObject({ log: "created-since" })
})

test("a repeat of a delete of a blob that is gone has removed it", async () => {
  const { database, storage, blob } = await twoTabs()
  loseAnswers(database, ["committed"])
  expect(await storage.blobs.delete(blob)).toBe(true)
})

describe("a repeat that finds what another tab has done since is `indeterminate`", () => {
  test("an append to a log that was deleted", async () => {
    const { database, storage, head } = await twoTabs()
    loseAnswers(database, ["committed"], (tx) => tx.objectStore("heads").delete("a"))
    await expect(storage.append("a", ["three"], { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
  })

  test("a change of a document that has a third text", async () => {
    const { database, storage, version } = await twoTabs()
    loseAnswers(database, ["committed"], (tx) => tx.objectStore("docs").put({ text: "third" }, DOC))
    await expect(storage.docs.put(DOC, "second", { expect: version })).rejects.toMatchObject({ code: "indeterminate" })
  })
})

describe("a repeat that finds its write done is acknowledged", () => {
  for (const [name, write] of Object.entries(WRITES))
    test(`it is ${name}`, async () => {
      const tabs = await twoTabs()
      loseAnswers(tabs.database, ["committed"])
      await write(tabs)
      expect(await linesOf(tabs.storage)).toEqual(
        name === "an append" ? ["one", "two", "three"] : name === "a delete" ? [] : ["one", "two"],
      )
    })
})
