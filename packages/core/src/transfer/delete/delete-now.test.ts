import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holdsAsync } from "../../../test/property.ts"
import { codeOf, sessionsIn } from "../../../test/transfer.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { deleteWithBlobs } from "../index.ts"
import type { Sessions } from "../../session/repository-types.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"

const HOUR = 60 * 60 * 1000
const long = (text: string): string => `${text} `.repeat(50)
/** Sessions that put each longer text into a blob. */
const sessionsOf = (storage: SessionStorage): Sessions => sessionsIn(storage, { blobs: { textUnits: 50 } })
const said = (text: string): NewEntry => ({ type: "message", message: { role: "user", content: long(text) } })

/** A storage in memory whose blobs can be made older. */
function aged() {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const age = (hours: number): void => {
    for (const [hash, blob] of location.blobs) location.blobs.set(hash, { ...blob, putAt: blob.putAt - hours * HOUR })
  }
  const isStored = (text: string): boolean =>
    [...location.blobs.values()].some(({ bytes }) => new TextDecoder().decode(bytes).includes(text))
  return { storage, location, age, isStored }
}

async function stored(storage: SessionStorage, id: string, ...texts: readonly string[]): Promise<void> {
  const session = await sessionsOf(storage).create({ id })
  if (texts.length > 0) await session.append(texts.map(said))
  await session.close()
}

test("the blobs that only this session mentioned are gone, those of others are not", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "alone", "shared", "in a document")
  await stored(storage, "b", "shared")
  const hashes: string[] = []
  for await (const { hash } of storage.blobs.list()) hashes.push(hash)
  for (const hash of hashes) {
    const text = new TextDecoder().decode(await storage.blobs.get(hash))
    if (text.includes("in a document"))
      await storage.docs.put("sessions/b/mine", `{"blob":"${hash}"}`, { expect: null })
  }
  age(3)
  expect(await deleteWithBlobs(sessionsOf(storage), "a")).toMatchObject({ purged: true, parts: 1 })
  expect(["alone", "shared", "in a document"].map(isStored)).toEqual([false, true, true])
})

test("a blob that a document of the session mentioned goes too", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a")
  const hash = await storage.blobs.put(new TextEncoder().encode("a file"))
  await storage.docs.put("sessions/a/files", `{"blob":"sha256:${hash}"}`, { expect: null })
  age(3)
  expect(await deleteWithBlobs(sessionsOf(storage), "a")).toMatchObject({ purged: true })
  expect(isStored("a file")).toBe(false)
})

test("delete leaves blobs to a collection", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "one")
  age(30)
  expect(await sessionsOf(storage).delete("a")).toMatchObject({ purged: true })
  expect(isStored("one")).toBe(true)
})

test("a blob that a second writer put within two hours stays, and its line finds it; `purged` is false until it is mentioned or gone", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "secret")
  await stored(storage, "b")
  age(3)
  // The second writer has put the blob, and its line is under way.
  let go = (): void => undefined
  const waits = new Promise<void>((resolve) => (go = resolve))
  let isPut = (): void => undefined
  const put = new Promise<void>((resolve) => (isPut = resolve))
  const slow: SessionStorage = {
    ...storage,
    async append(id, lines, o) {
      if (lines.join("").includes("blobs")) {
        isPut()
        await waits
      }
      return storage.append(id, lines, o)
    },
  }
  const second = await sessionsOf(slow).open("b")
  const appended = second.append(said("secret"))
  await put
  const sessions = sessionsOf(storage)
  expect(await deleteWithBlobs(sessions, "a")).toMatchObject({ purged: false })
  expect(isStored("secret")).toBe(true)
  go()
  await appended
  const [message] = (await (await sessionsOf(storage).open("b")).messages()).messages
  expect(JSON.stringify(message)).toContain("secret secret")
  // Its blob is another session's now: nothing is left of the deleted one.
  expect(await codeOf(deleteWithBlobs(sessions, "a"))).toBe("not_found")
})

test("a repeated call finishes when the two hours have passed", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "secret")
  await stored(storage, "b")
  const sessions = sessionsOf(storage)
  expect(await deleteWithBlobs(sessions, "a")).toMatchObject({ purged: false })
  age(1.9)
  expect(await deleteWithBlobs(sessions, "a")).toMatchObject({ purged: false, bytes: 0 })
  age(0.2)
  expect(await deleteWithBlobs(sessions, "a")).toEqual({ purged: true, bytes: 0, parts: 0 })
  expect(isStored("secret")).toBe(false)
  expect(await codeOf(deleteWithBlobs(sessions, "a"))).toBe("not_found")
})

test("a log that cannot be read may have mentioned each blob that nothing else does", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "secret")
  await stored(storage, "b", "other")
  age(3)
  const damaged: SessionStorage = {
    ...storage,
    read(id, ...rest) {
      if (id === "a") throw new StorageError("corrupt", "damaged")
      return storage.read(id, ...rest)
    },
  }
  expect(await deleteWithBlobs(sessionsOf(damaged), "a")).toMatchObject({ purged: true })
  expect([isStored("secret"), isStored("other")]).toEqual([false, true])
})

test("if another session cannot be read, or the list is empty, nothing is deleted", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "secret")
  await stored(storage, "b")
  age(3)
  const damaged: SessionStorage = {
    ...storage,
    read(id, ...rest) {
      if (id === "b") throw new StorageError("corrupt", "damaged")
      return storage.read(id, ...rest)
    },
  }
  const empty: SessionStorage = { ...storage, async *list() {} }
  expect(await codeOf(deleteWithBlobs(sessionsOf(damaged), "a"))).toBe("corrupt")
  expect(await codeOf(deleteWithBlobs(sessionsOf(empty), "a"))).toBe("unavailable")
  expect([(await storage.head("a")) !== undefined, isStored("secret")]).toEqual([true, true])
})

test("a log without blobs is deleted without reading another one", async () => {
  const { storage } = aged()
  await storage.append("a", ["{}"], { expect: 0 })
  await storage.append("b", ["{}"], { expect: 0 })
  const read: string[] = []
  const counted: SessionStorage = {
    ...storage,
    read(id, ...rest) {
      read.push(id)
      return storage.read(id, ...rest)
    },
  }
  expect(await deleteWithBlobs(sessionsOf(counted), "a")).toMatchObject({ purged: true })
  expect(read).toEqual(["a"])
})

test("what another writer appends before the deletion is read for it", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "first")
  const other = await sessionsOf(storage).open("a")
  let appended = false
  const busy: SessionStorage = {
    ...storage,
    async delete(...args) {
      if (!appended) {
        appended = true
        await other.append(said("second"))
        age(3)
      }
      return storage.delete(...args)
    },
  }
  expect(await deleteWithBlobs(sessionsOf(busy), "a")).toMatchObject({ purged: true })
  expect([isStored("first"), isStored("second")]).toEqual([false, false])
})

test("a session that is created under the id meanwhile keeps its blobs", async () => {
  const { storage, age, isStored } = aged()
  await stored(storage, "a", "same")
  await stored(storage, "b")
  const busy: SessionStorage = {
    ...storage,
    async delete(...args) {
      const deleted = await storage.delete(...args)
      await stored(storage, "a", "same")
      age(3)
      return deleted
    },
  }
  expect(await deleteWithBlobs(sessionsOf(busy), "a")).toMatchObject({ purged: true })
  expect(isStored("same")).toBe(true)
})

test("whatever writers do meanwhile, no blob that a log or a document mentions is removed", async () => {
  expect.hasAssertions()
  const event = fc.record({
    at: fc.nat({ max: 20 }),
    blob: fc.nat({ max: 3 }),
    session: fc.nat({ max: 3 }),
    kind: fc.constantFrom("mention", "fork", "delete", "document"),
  })
  await holdsAsync(
    fc.asyncProperty(fc.array(event, { maxLength: 12 }), fc.array(fc.nat({ max: 3 })), async (events, first) => {
      const { storage, age } = aged()
      const texts = [0, 1, 2, 3].map((n) => new TextEncoder().encode(`blob ${n}`))
      const hashes: string[] = []
      for (const text of texts) hashes.push(await storage.blobs.put(text))
      await storage.append("s0", ["{}", ...hashes], { expect: 0 })
      for (const [n, blob] of first.entries())
        await storage.append(`f${n}`, ["{}", hashes[blob] as string], { expect: 0 })
      age(3)
      let call = 0
      const interfere = async (): Promise<void> => {
        for (const { blob, session, kind } of events.filter(({ at }) => at === call++)) {
          const id = `s${session}`
          const head = await storage.head(id)
          if (kind === "delete") await storage.delete(id)
          else if (kind === "fork") {
            // As `fork` does: no put, and the source is there behind it.
            const lines: string[] = []
            for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
            if (head !== undefined) await storage.append(`fork-${call}`, lines, { expect: 0 })
          } else {
            const hash = await storage.blobs.put(texts[blob] as Uint8Array)
            if (kind === "mention") await storage.append(id, [hash], { expect: head ?? 0 })
            else await storage.docs.put(`d${call}`, hash, { expect: null })
          }
        }
      }
      const busy: SessionStorage = {
        ...storage,
        async *read(...args) {
          await interfere()
          yield* storage.read(...args)
        },
        async *list(...args) {
          await interfere()
          yield* storage.list(...args)
          await interfere()
        },
        async delete(...args) {
          await interfere()
          return storage.delete(...args)
        },
        blobs: {
          ...storage.blobs,
          async delete(...args) {
            await interfere()
            return storage.blobs.delete(...args)
          },
        },
      }
      const deleted = await deleteWithBlobs(sessionsOf(busy), "s0").catch(() => undefined)
      let text = ""
      for await (const { id } of storage.list())
        for await (const chunk of storage.read(id)) text += chunk.lines.join("\n")
      for await (const key of storage.docs.list()) text += (await storage.docs.get(key))?.text
      for (const hash of hashes) {
        const isThere = await storage.blobs.has(hash)
        if (text.includes(hash)) expect(isThere).toBe(true)
        else if (deleted?.purged === true && !events.some(({ kind }) => kind !== "fork")) expect(isThere).toBe(false)
      }
    }),
    60,
  )
})
