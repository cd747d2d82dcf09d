/** Session information whose text is made when it is stored or asked for, and not for each append. */
import type { AdapterAppendOptions, Head, SessionStorage } from "@sessions/core/storage"
import { createSessions } from "@sessions/core"
import { expect, test } from "vitest"
import { makeRoot, openAt } from "./helpers.ts"

test("of a burst of appends the text of the last one is made, and once", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const made: string[] = []
  let head = await storage.append("a", ["0"], { expect: 0 })
  for (let n = 1; n <= 5; n++) head = await appendLater(storage, head, () => told(made, `of ${n}`))
  expect(made).toEqual([])
  expect(await storage.head("a")).toMatchObject({ info: { text: "of 5", next: 6 } })
  await storage[Symbol.asyncDispose]()
  expect(made).toEqual(["of 5"])
  expect(await openAt(root).storage.head("a")).toMatchObject({ info: { text: "of 5", next: 6 } })
})

test("where there is no text, what was made before holds, whether it was given at once or later", async () => {
  const { storage } = openAt(makeRoot())
  let head = await storage.append("a", ["0"], { expect: 0, info: "at once" })
  head = await appendLater(storage, head, () => undefined)
  expect(await storage.head("a")).toMatchObject({ next: 2, info: { text: "at once", next: 1 } })
  head = await appendLater(storage, head, () => "later")
  expect(await storage.head("a")).toMatchObject({ next: 3, info: { text: "later", next: 3 } })
  head = await storage.append("a", ["x"], { expect: head })
  head = await appendLater(storage, head, () => undefined)
  expect(await storage.head("a")).toMatchObject({ next: 5, info: { text: "later", next: 3 } })
  await appendLater(storage, head, () => "newest")
  await storage.append("a", ["x"], { expect: await headOf(storage) })
  expect(await storage.head("a")).toMatchObject({ next: 7, info: { text: "newest", next: 6 } })
})

test("durability disk: an append that could not be synced takes back what it came with", async () => {
  const { storage, files } = openAt(makeRoot(), { durability: "disk" })
  let head = await storage.append("a", ["0"], { expect: 0 })
  head = await appendLater(storage, head, () => "stays")
  files.fault = ({ op }, proceed) => {
    if (op !== "fdatasync") return proceed()
    files.fault = undefined
    return Promise.reject(Object.assign(new Error("EIO"), { code: "EIO" }))
  }
  await expect(appendLater(storage, head, () => "goes")).rejects.toBeDefined()
  expect(await storage.head("a")).toMatchObject({ next: 2, info: { text: "stays", next: 2 } })
})

test("a storage around this one gets the text with each append", async () => {
  const { storage } = openAt(makeRoot())
  const given: unknown[] = []
  const around: SessionStorage = {
    ...storage,
    append(session, lines, o) {
      given.push(o.info)
      return storage.append(session, lines, { ...o })
    },
  }
  const sessions = createSessions({ storage: around })
  const session = await sessions.create()
  await session.append({ type: "message", message: { role: "user", content: "a" } })
  expect(given).toHaveLength(2)
  expect(given.map((text) => JSON.parse(text as string).messageCount)).toEqual([0, 1])
  await sessions.close()
})

function told(made: string[], text: string): string {
  made.push(text)
  return text
}

function appendLater(storage: SessionStorage, expect: Head, infoLater: () => string | undefined): Promise<Head> {
  const o: AdapterAppendOptions = { expect, infoLater }
  return storage.append("a", ["x"], o)
}

async function headOf(storage: SessionStorage): Promise<Head> {
  return (await storage.head("a")) as Head
}
