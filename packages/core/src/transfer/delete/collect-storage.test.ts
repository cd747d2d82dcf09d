import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holdsAsync } from "../../../test/property.ts"
import { codeOf, sessionsIn } from "../../../test/transfer.ts"
import type { SessionStorage, SweepOptions } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { collect } from "../index.ts"

const HOUR = 60 * 60 * 1000
const bytesOf = (text: string) => new TextEncoder().encode(text)

/** A storage in memory whose blobs are as old as `ages` says, in hours; others are new. */
function aged() {
  const location = createMemoryLocation()
  const storage = createMemoryStorage({ location })
  const putOld = async (text: string, hours: number): Promise<string> => {
    const hash = await storage.blobs.put(bytesOf(text))
    location.blobs.set(hash, { bytes: bytesOf(text), putAt: Date.now() - hours * HOUR })
    return hash
  }
  return { location, storage, putOld }
}

test("collect removes old blobs that nothing mentions, and sweeps; a dry run does neither", async () => {
  const { storage, putOld } = aged()
  const calls: (SweepOptions | undefined)[] = []
  const sweeping: SessionStorage = {
    ...storage,
    sweep: async (o) => {
      calls.push(o)
      return { removed: 2, bytes: 5, left: 1 }
    },
  }
  const [old, mentioned, young] = [await putOld("old", 25), await putOld("mentioned", 99), await putOld("young", 23)]
  await storage.append("a", ["{}", mentioned], { expect: 0 })
  const sessions = sessionsIn(sweeping)
  const result = { removed: 1, bytes: 3, swept: { removed: 2, bytes: 5, left: 1 } }
  expect(await collect(sessions, { dryRun: true })).toEqual(result)
  expect(await storage.blobs.has(old)).toBe(true)
  expect(await collect(sessions)).toEqual(result)
  expect(calls).toEqual([{ dryRun: true }, { dryRun: false }])
  expect(await Promise.all([old, mentioned, young].map((hash) => storage.blobs.has(hash)))).toEqual([false, true, true])
  expect(await collect(sessionsIn(storage))).toEqual({
    removed: 0,
    bytes: 0,
    swept: { removed: 0, bytes: 0, left: 0 },
  })
})

test("a grace period below two hours and wrong options are `invalid`, and nothing is swept", async () => {
  const { storage } = aged()
  const sweeping: SessionStorage = {
    ...storage,
    sweep: () => {
      throw new Error("swept")
    },
  }
  for (const o of [
    { olderThan: 2 * HOUR - 1 },
    { olderThan: Number.NaN },
    { unreadable: "a" },
    { dryRun: 1 },
    { older: 1 },
  ])
    expect(await codeOf(collect(sessionsIn(sweeping), o as never))).toBe("invalid")
})

test("if a session cannot be read, the rest is swept and no blob is removed", async () => {
  const { storage, putOld } = aged()
  const old = await putOld("old", 99)
  await storage.append("a", ["{}"], { expect: 0 })
  let swept = false
  const damaged: SessionStorage = {
    ...storage,
    read: () => {
      throw new StorageError("corrupt", "damaged")
    },
    sweep: async () => {
      swept = true
      return { removed: 0, bytes: 0, left: 0 }
    },
  }
  expect(await codeOf(collect(sessionsIn(damaged)))).toBe("corrupt")
  expect([swept, await storage.blobs.has(old)]).toEqual([true, true])
})

test("whatever writers do while it runs, and wherever it is killed, no blob that a log or a document mentions is removed", async () => {
  const event = fc.record({
    at: fc.nat({ max: 30 }),
    blob: fc.nat({ max: 4 }),
    session: fc.nat({ max: 4 }),
    kind: fc.constantFrom("mention", "fork", "delete", "document", "kill"),
  })
  await holdsAsync(
    fc.asyncProperty(fc.array(event, { maxLength: 14 }), fc.array(fc.nat({ max: 4 })), async (events, first) => {
      const { storage, putOld } = aged()
      const hashes: string[] = []
      for (let n = 0; n < 5; n++) hashes.push(await putOld(`blob ${n}`, 99))
      for (const [n, blob] of first.entries())
        await storage.append(`f${n}`, ["{}", hashes[blob] as string], { expect: 0 })
      const append = async (id: string, lines: readonly string[]): Promise<void> => {
        const head = await storage.head(id)
        await storage.append(id, lines, { expect: head === undefined ? 0 : { next: head.next, log: head.log } })
      }
      let call = 0
      const interfere = async (): Promise<void> => {
        for (const { blob, session, kind } of events.filter(({ at }) => at === call)) {
          const id = `s${session}`
          if (kind === "kill") throw new StorageError("closed", "The process was killed.")
          if (kind === "delete") await storage.delete(id)
          else if (kind === "mention" || kind === "document") {
            // As writers do: the blob first, then its mention.
            const hash = await storage.blobs.put(bytesOf(`blob ${blob}`))
            if (kind === "mention") await append(id, [hash])
            else await storage.docs.put(`d${session}-${call}`, hash, { expect: null }).catch(() => undefined)
          } else {
            const lines: string[] = []
            for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
            if (lines.length > 0) await append(`fork-${session}-${blob}`, lines)
            await storage.delete(id)
          }
        }
        call++
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
        blobs: {
          ...storage.blobs,
          async delete(...args) {
            await interfere()
            return storage.blobs.delete(...args)
          },
        },
      }
      await collect(sessionsIn(busy)).catch((error: { code?: string }) =>
        expect(["closed", "unavailable"]).toContain(error.code),
      )
      let text = ""
      for await (const { id } of storage.list())
        for await (const chunk of storage.read(id)) text += chunk.lines.join("\n")
      for await (const key of storage.docs.list()) text += (await storage.docs.get(key))?.text
      for (const hash of hashes) if (text.includes(hash)) expect(await storage.blobs.has(hash)).toBe(true)
    }),
    200,
  )
})
