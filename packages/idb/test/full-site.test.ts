/** A site without space, as Firefox reports it. On an IndexedDB in memory, also in Node. */
import type { Chunk } from "@sessions/core/storage"
import { describe, expect, onTestFinished, test } from "vitest"
import { newDatabase, open, readAll } from "./databases.ts"
import { loseAnswers } from "./faults.ts"
import { useIndexedDbInMemory } from "./in-memory.ts"

useIndexedDbInMemory()

async function filled() {
  const database = newDatabase()
  const storage = open(database)
  const head = await storage.append("a", ["one"], { expect: 0 })
  const version = await storage.docs.put("sessions/a/doc", "text", { expect: null })
  const blob = await storage.blobs.put(new Uint8Array(3))
  return { database, storage, head, version, blob }
}

type Filled = Awaited<ReturnType<typeof filled>>

async function* chunk(...lines: string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

const WRITES: Readonly<Record<string, (site: Filled) => Promise<unknown>>> = {
  "an append": ({ storage, head }) => storage.append("a", ["two"], { expect: head }),
  "a replace": ({ storage, head }) => storage.replace("a", chunk("new"), { expect: head }),
  "a document": ({ storage, version }) => storage.docs.put("sessions/a/doc", "other", { expect: version }),
  "a blob": ({ storage }) => storage.blobs.put(new Uint8Array(4)),
  "a sync": ({ storage }) => storage.sync("a"),
}

const DELETIONS: Readonly<Record<string, (site: Filled) => Promise<unknown>>> = {
  "a session": ({ storage }) => storage.delete("a"),
  "a document": ({ storage, version }) => storage.docs.delete("sessions/a/doc", { expect: version }),
  "a blob": ({ storage, blob }) => storage.blobs.delete(blob),
  "what was left behind": ({ storage }) => storage.sweep(),
}

describe("a write that was refused before it wrote anything is made once more, on the same connection", () => {
  for (const [name, write] of Object.entries(WRITES))
    test(`it is ${name}`, async () => {
      const site = await filled()
      const opened = countOpenings()
      loseAnswers(site.database, ["refused"])
      await write(site)
      expect(opened()).toBe(0)
    })
})

describe("a write on a full site is `quota` each time, and reads go on", () => {
  for (const [name, write] of Object.entries(WRITES))
    test(`it is ${name}`, async () => {
      const site = await filled()
      const opened = countOpenings()
      // An append is made once more with merged rows, which takes transactions of its own.
      const outcomes =
        name === "an append" ? (["refused", "full", "refused", "full"] as const) : (["refused", "full"] as const)
      for (let n = 0; n < 3; n++) {
        loseAnswers(site.database, outcomes)
        await expect(write(site)).rejects.toMatchObject({ code: "quota" })
        expect(await readAll(site.storage, "a")).toEqual(["one"])
      }
      expect(opened()).toBe(0)
    })
})

describe("deleting works on a full site", () => {
  for (const [name, remove] of Object.entries(DELETIONS))
    test(`it is ${name}`, async () => {
      const site = await filled()
      loseAnswers(site.database, ["full", "refused"])
      await expect(remove(site)).resolves.not.toThrow()
    })
})

test("a write that was lost before it wrote anything is `unavailable`, not `indeterminate`", async () => {
  const { database, storage, head } = await filled()
  loseAnswers(database, ["aborted", "aborted"])
  await expect(storage.append("a", ["two"], { expect: head })).rejects.toMatchObject({ code: "unavailable" })
  expect(await readAll(storage, "a")).toEqual(["one"])
})

test("a write of unknown outcome is `indeterminate` if the site is too full to look for it", async () => {
  const { database, storage, head } = await filled()
  loseAnswers(database, ["committed", "full"])
  await expect(storage.append("a", ["two"], { expect: head })).rejects.toMatchObject({ code: "indeterminate" })
})

/** How often a database is opened from now on. */
function countOpenings(): () => number {
  const original: unknown = Reflect.get(indexedDB, "open")
  let count = 0
  Object.defineProperty(indexedDB, "open", {
    configurable: true,
    value: (...args: unknown[]): unknown => {
      count++
      return Reflect.apply(original as () => unknown, indexedDB, args)
    },
  })
  onTestFinished(() => void Reflect.deleteProperty(indexedDB, "open"))
  return () => count
}
