import { describe, expect, test } from "vitest"
import { createMemoryStorage } from "@sessions/memory"
import { compaction, user } from "../../test/chain.ts"
import { type CountingStorage, createCountingStorage } from "../../test/counting-storage.ts"
import { entryLine, headerLine } from "../../test/kept-info.ts"
import { knownTips, sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import { codeOf } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { StorageError } from "../storage/errors.ts"
import type { Session } from "./types.ts"

/** The ids of these tests are not looked for in the log, which would read it. */
const END = { repeats: "end" } as const

const LINES = 1_500
const LAST = `e${LINES + 1}`
const MODEL = { default: { provider: "p", model: "first" } }

/** A long history that begins with its model, followed by these entries. */
async function stored(...more: readonly object[]): Promise<CountingStorage> {
  const storage = createCountingStorage(createMemoryStorage())
  const said = Array.from({ length: LINES }, (_, n) => user(`said ${n} ${"-".repeat(100)}`))
  const payloads = [{ type: "model_change", provider: "p", model: "first" }, ...said, ...more]
  const lines = payloads.map((payload, index) => entryLine(index + 1, payload))
  await storeLines([headerLine(), ...lines], storage, { info: knownTips(lines.length) })
  return storage
}

async function open(storage: CountingStorage): Promise<Session> {
  const session = await sessionsReading(storage, 4_096).open(STORED_ID)
  storage.take()
  return session
}

const STORING: readonly NewEntry[] = [
  { type: "reset_boundary", id: "s" },
  { ...compaction(LAST), id: "s" } as unknown as NewEntry,
]

describe.each(STORING.map((entry) => [entry.type, entry] as const))(
  "a %s whose path is not completely in memory",
  (_, entry) => {
    test("waits for the path, stores its state, and stays ordered before later appends", async () => {
      const storage = await stored()
      const session = await open(storage)
      const first = session.append(entry, END)
      const second = session.append({ ...user("after"), id: "after" } as unknown as NewEntry, END)
      expect(session.leafId).toBe(LAST)
      await Promise.all([first, second])
      expect(await session.entry("s")).toMatchObject({ parentId: LAST, state: { models: MODEL } })
      expect(await session.entry("after")).toMatchObject({ parentId: "s" })
      expect(storage.take().lines).toBeGreaterThan(LINES - 100)

      const again = await open(storage)
      expect((await again.context()).model).toEqual(MODEL.default)
      expect(storage.take().lines).toBeLessThan(50)
    })

    test("is rejected if it is aborted or the log cannot be read meanwhile; later appends are written", async () => {
      const inner = await stored()
      let error: Error | undefined
      const storage: CountingStorage = {
        ...inner,
        async *read(...about) {
          if (error !== undefined) throw error
          yield* inner.read(...about)
        },
      }
      const session = await open(storage)
      error = new StorageError("corrupt", "The disk is damaged.")
      const failed = session.append(entry, END)
      const after = session.append({ ...user("after"), id: "after" } as unknown as NewEntry, END)
      expect(await codeOf(failed)).toBe("corrupt")
      await after
      error = undefined
      const controller = new AbortController()
      const aborted = session.append(entry, { ...END, signal: controller.signal })
      controller.abort()
      expect(await codeOf(aborted)).toBe("aborted")
      await session.flush()
      expect(session.leafId).toBe("after")
      expect(await session.entry("s")).toBeUndefined()
    })
  },
)

test("a state given by the caller is stored as it is, without a read", async () => {
  const storage = await stored()
  const session = await open(storage)
  const state = { thinkingLevel: "high", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }
  await session.append({ type: "reset_boundary", id: "s", state }, END)
  expect(storage.take().lines).toBe(0)
  expect(await session.entry("s")).toMatchObject({ state })
})

/** As another program writes them; our programs before version 4 also had the field. */
const WITHOUT_STATE: Readonly<Record<string, object>> = {
  "a compaction without a state": compaction(`e${LINES}`),
  "a compaction that keeps from an entry that does not exist": compaction("nobody"),
  "a reset without a state": { type: "reset_boundary" },
}

describe.each(Object.entries(WITHOUT_STATE))("after %s", (_, boundary) => {
  test("every open reads further back for the context, until a reset or a compaction stores the state", async () => {
    const storage = await stored(boundary, user("a"))
    for (let opening = 0; opening < 2; opening++) {
      const session = await open(storage)
      expect((await session.context()).model).toEqual(MODEL.default)
      const { lines, docsGot, docsPut } = storage.take()
      expect(lines).toBeGreaterThan(LINES - 100)
      expect([docsGot, docsPut]).toEqual([0, 0])
    }
    await (await open(storage)).append({ type: "reset_boundary" })
    const later = await open(storage)
    expect((await later.context()).model).toEqual(MODEL.default)
    expect(storage.take().lines).toBeLessThan(50)
  })
})

test("the document in which an older program stored paths is ignored, and deleted with its session", async () => {
  const storage = await stored({ type: "reset_boundary" })
  const state = { thinkingLevel: "wrong", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }
  const log = (await storage.head(STORED_ID))?.log
  const text = JSON.stringify({ v: 1, log, paths: [{ seq: LINES + 2, id: `e${LINES + 2}`, state }] })
  await storage.docs.put(`sessions/${STORED_ID}/paths`, text, { expect: null })
  expect(await (await open(storage)).context()).toMatchObject({ thinkingLevel: "off", model: MODEL.default })
  await sessionsReading(storage, 4_096).delete(STORED_ID)
  expect(await storage.docs.get(`sessions/${STORED_ID}/paths`)).toBeUndefined()
})
