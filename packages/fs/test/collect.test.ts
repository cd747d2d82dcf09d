/** Collecting blobs beside the sessions that refer to them. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { collectBlobs, forkSession } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { fill, makeRoot, openAt } from "./helpers.ts"

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test("what a line or a document of any session mentions stays, also of those that another process made or that were copied in", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const other = openAt(root).storage
  const hashes = await putOld(root, storage, ["in a line", "in another", "in a document", "copied", "nowhere"])
  const [line, another, document, copied, nowhere] = hashes as [string, string, string, string, string]
  await storage.append("a", ["{}", `{"at":"blob:sha256:${line}"}`], { expect: 0 })
  await other.append("b", [JSON.stringify({ deep: { text: `see ${another}` } })], { expect: 0 })
  await other.docs.put("pointers", JSON.stringify({ document }), { expect: null })
  fs.mkdirSync(join(root, "old"))
  fs.writeFileSync(join(root, "old", "session.jsonl"), `{"x":"${copied}"}\n`)
  expect(await collectBlobs(storage)).toEqual({ removed: 1, bytes: "nowhere".length })
  for (const hash of hashes) expect(await storage.blobs.has(hash)).toBe(hash !== nowhere)
})

test("what was put shortly ago stays, and an option says how long that is", async () => {
  const { storage } = openAt(makeRoot())
  const hash = await storage.blobs.put(bytesOf("young"))
  expect(await collectBlobs(storage)).toEqual({ removed: 0, bytes: 0 })
  await expect(collectBlobs(storage, { olderThan: -1 })).rejects.toMatchObject({ code: "invalid" })
  const put = Date.now()
  while (Date.now() <= put + 1) await new Promise((resolve) => setImmediate(resolve))
  expect(await collectBlobs(storage, { olderThan: 1, withoutSessions: true })).toEqual({ removed: 1, bytes: 5 })
  expect(await storage.blobs.has(hash)).toBe(false)
})

test("blobs beside no session stay, since the list may be that of another place, unless the caller says otherwise", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const [hash = ""] = await putOld(root, storage, ["left"])
  for (const dryRun of [true, false])
    await expect(collectBlobs(storage, { dryRun })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("withoutSessions"),
    })
  expect(await storage.blobs.has(hash)).toBe(true)
  expect(await collectBlobs(storage, { withoutSessions: true })).toEqual({ removed: 1, bytes: 4 })
})

test("a writer that puts an old blob again while the collector reads keeps it", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const [hash = ""] = await putOld(root, storage, ["again"])
  await fill(storage, "a", 1)
  const meanwhile = withHook(storage, async () => {
    await storage.blobs.put(bytesOf("again"))
  })
  expect(await collectBlobs(meanwhile)).toMatchObject({ removed: 0 })
  expect(await storage.blobs.has(hash)).toBe(true)
})

test("a fork that is made, and its source deleted, while the collector reads, keeps its blobs", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const [hash = ""] = await putOld(root, storage, ["forked"])
  await storage.append("z-source", ["{}", hash], { expect: 0 })
  await fill(storage, "a-first", 1)
  const meanwhile = withHook(storage, async () => {
    await storage.append("fork", ["{}", hash], { expect: 0 })
    await storage.delete("z-source")
  })
  expect(await collectBlobs(meanwhile)).toMatchObject({ removed: 0 })
  expect(await storage.blobs.has(hash)).toBe(true)
})

test("nothing is collected while a session cannot be read: it may refer to anything", async () => {
  const root = makeRoot()
  const { storage } = openAt(root, { maxPartBytes: 100 })
  const [hash = ""] = await putOld(root, storage, ["perhaps"])
  await fill(storage, "a", 20)
  const parts = (await storage.head("a"))?.parts ?? []
  fs.unlinkSync(parts[1]?.at ?? "")
  await expect(collectBlobs(openAt(root).storage)).rejects.toMatchObject({ code: "corrupt", session: "a" })
  fs.unlinkSync(parts[0]?.at ?? "")
  await expect(collectBlobs(openAt(root).storage)).rejects.toMatchObject({ code: "corrupt", session: "a" })
  expect(await storage.blobs.has(hash)).toBe(true)
})

test("pictures of sessions, forks and compactions outlive a collection, and go with their last session", async () => {
  const root = makeRoot()
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const data = btoa("i".repeat(9_000))
  const session = await sessions.create({ id: "s" })
  await session.append({
    type: "message",
    message: { role: "user", content: [{ type: "image", data, mimeType: "image/png" }] },
  })
  const fork = await forkSession(sessions, "s")
  for await (const { hash } of sessions.storage.blobs.list()) makeOld(root, hash)
  await sessions.delete("s")
  expect(await collectBlobs(sessions.storage)).toMatchObject({ removed: 0 })
  expect((await fork.context()).messages[0]?.message.content).toMatchObject([{ data }])
  await sessions.delete(fork.id)
  expect((await collectBlobs(sessions.storage, { withoutSessions: true })).removed).toBeGreaterThan(0)
  for await (const blob of sessions.storage.blobs.list()) expect.unreachable(blob.hash)
  await sessions.close()
})

test("a blob whose file was spoiled is whole again after the same bytes are put", async () => {
  const root = makeRoot()
  const { storage } = openAt(root)
  const hash = await storage.blobs.put(bytesOf("whole"))
  fs.writeFileSync(pathOf(root, hash), "holes")
  await expect(storage.blobs.get(hash)).rejects.toMatchObject({ code: "corrupt" })
  await storage.blobs.put(bytesOf("whole"))
  expect(await storage.blobs.get(hash)).toEqual(bytesOf("whole"))
})

async function putOld(root: string, storage: SessionStorage, texts: readonly string[]): Promise<string[]> {
  const hashes = await Promise.all(texts.map((text) => storage.blobs.put(bytesOf(text))))
  for (const hash of hashes) makeOld(root, hash)
  return hashes
}

function makeOld(root: string, hash: string): void {
  fs.utimesSync(pathOf(root, hash), 1_000, 1_000)
}

function pathOf(root: string, hash: string): string {
  return join(root, ".blobs", hash.slice(0, 2), hash)
}

/** The storage, with something that happens before the first log is read. */
function withHook(storage: SessionStorage, hook: () => Promise<void>): SessionStorage {
  let hooked = false
  return {
    ...storage,
    async *read(...given: Parameters<SessionStorage["read"]>) {
      if (!hooked) {
        hooked = true
        await hook()
      }
      yield* storage.read(...given)
    },
  }
}
