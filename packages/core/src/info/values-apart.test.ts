import { describe, expect, test } from "vitest"
import { createSessions } from "../session/repository.ts"
import { counting, entryLine, headerLine, memory } from "../../test/kept-info.ts"
import { storeLines, STORED_ID } from "../../test/stored.ts"
import { textOf } from "../../test/transfer.ts"
import { user } from "../../test/writers.ts"
import { exportSession } from "../transfer/index.ts"

const LONG = `It begins ${"here ".repeat(2_000)}`
const limits = { textUnits: 100 }
const image = { type: "image", data: btoa("an image ".repeat(200)), mimeType: "image/png" }
const value = { notes: LONG, shots: [image] }

async function written(storage: ReturnType<typeof memory>) {
  const session = await createSessions({ storage, blobs: limits }).create({ id: "s" })
  await session.append(user("hi"))
  await session.title(LONG)
  await session.metadata("report", value)
  await session.flush()
  return session
}

describe("a title and a value that moved to the blob store", () => {
  test("are shown by the session that wrote them, by the list and by a later opening", async () => {
    const storage = memory()
    const session = await written(storage)
    const expected = { title: LONG, metadata: { report: value } }
    expect(await session.info()).toMatchObject(expected)
    const elsewhere = createSessions({ storage: memory(storage) })
    expect((await elsewhere.list()).sessions[0]).toMatchObject(expected)
    expect(await (await elsewhere.open("s")).info()).toMatchObject(expected)
    expect(await textOf(exportSession(elsewhere, "s", { format: "markdown" }))).toMatch(/^# It begins here /)
  })

  test("are shown if no information is stored, and by a session that reads them from another writer", async () => {
    const storage = memory()
    const other = await createSessions({ storage: memory(storage) }).openOrCreate("s")
    await other.close()
    const late = await createSessions({ storage: memory(storage) }).open("s")
    const writer = await createSessions({ storage, blobs: limits }).open("s")
    await writer.title(LONG)
    await writer.metadata("report", value)
    await late.append(user("hi"))
    expect(await late.info()).toMatchObject({ title: LONG, metadata: { report: value }, messageCount: 1 })
    await late.close()
    for await (const key of storage.docs.list("")) {
      const doc = await storage.docs.get(key)
      await storage.docs.delete(key, { expect: doc?.version ?? "" })
    }
    expect(await createSessions({ storage }).info("s")).toMatchObject({ title: LONG, metadata: { report: value } })
  })

  test("are never shown as references, even if the blob is missing", async () => {
    const storage = memory()
    await written(storage)
    for await (const { hash } of storage.blobs.list()) await storage.blobs.delete(hash)
    for await (const key of storage.docs.list("")) {
      const doc = await storage.docs.get(key)
      await storage.docs.delete(key, { expect: doc?.version ?? "" })
    }
    const info = await createSessions({ storage }).info("s")
    expect(JSON.stringify(info)).not.toMatch(/blob:sha256/)
    expect(info.title).toMatch(/missing/)
  })

  test("are read from the blob store once: after a further append the stored information is continued", async () => {
    const storage = counting()
    const session = await written(storage)
    const reading = await createSessions({ storage }).info("s")
    expect(reading.title).toBe(LONG)
    storage.take()
    await session.append(user("more"))
    expect(await createSessions({ storage }).info("s")).toMatchObject({ title: LONG, messageCount: 2 })
    const { lines, blobsGot } = storage.take()
    expect(lines).toBeLessThan(5)
    expect(blobsGot).toBe(0)
  })
})

test("a session with ordinary names and values makes the list read no blob, document or line", async () => {
  const storage = counting()
  const session = await createSessions({ storage }).create({ id: "s" })
  await session.append(user("hi"))
  await session.title("short")
  await session.metadata("report", { done: true })
  storage.take()
  expect((await createSessions({ storage }).list()).sessions[0]).toMatchObject({ title: "short" })
  expect(storage.take()).toMatchObject({ lines: 0, docsGot: 0, blobsGot: 0 })
})

test("an entry whose blob map names a place without a reference is an ordinary entry", async () => {
  const storage = counting()
  const title = entryLine(1, { type: "title_change", title: "plain", source: "user", blobs: { "/title": "utf8" } })
  await storeLines([headerLine(), title], storage)
  const sessions = createSessions({ storage })
  expect((await sessions.info(STORED_ID)).title).toBe("plain")
  expect(await (await sessions.open(STORED_ID)).info()).toMatchObject({ title: "plain" })
})
