/** Sessions with many metadata keys: what each costs, and where they end. */
import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { MAX_METADATA_BYTES, MAX_METADATA_KEYS } from "../format/limits.ts"
import { createSessions } from "../session/repository.ts"
import { chain, linesOf } from "../../test/chain.ts"
import { cpuTime } from "../../test/cpu-time.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { textOf } from "../../test/transfer.ts"
import {
  copySession,
  exportSession,
  forkSession,
  importSession,
  mergeSession,
  verifySession,
} from "../transfer/index.ts"
import { ownCopy, projectEntry, projectInPlace, startProjection } from "./projection.ts"

const keys = (count: number) => Array.from({ length: count }, (_, n) => ({ type: "metadata", key: `k${n}`, value: n }))
const metadata = (count: number) => Object.fromEntries(keys(count).map(({ key, value }) => [key, value]))

describe("a log with more metadata keys than a session takes", () => {
  const COUNT = 2_000
  const CALLS = {
    list: async (sessions) => sessions.list(),
    "first append": async (sessions) => (await sessions.open(STORED_ID)).title("t"),
    fork: async (sessions) => forkSession(sessions, STORED_ID),
    merge: async (sessions) => {
      const storage = await storeLines([JSON.stringify(HEADER)])
      const { received } = await mergeSession(createSessions({ storage }), STORED_ID, sessions.storage)
      if (received !== COUNT) throw new Error(`${received} entries were merged.`)
    },
  } satisfies Record<string, (sessions: ReturnType<typeof createSessions>) => Promise<unknown>>

  test.each(Object.entries(CALLS))("costs %s about what one with few keys costs", async (_, call) => {
    const cost = async (keyOf: (key: string, n: number) => string): Promise<number> => {
      const entries = keys(COUNT).map((entry, n) => ({ ...entry, key: keyOf(entry.key, n) }))
      const storage = await storeLines(linesOf(chain(...entries), HEADER))
      const began = cpuTime()
      await call(createSessions({ storage }))
      return cpuTime() - began
    }
    await cost((key) => key)
    // Measured: 1 to 2. A copy of all keys for each of them takes 100 times as long.
    expect((await cost((key) => key)) / (await cost((_, n) => `k${n % 100}`))).toBeLessThan(10)
  })

  test("is read, is reported, and takes other values but no more keys", async () => {
    const storage = await storeLines(linesOf(chain(...keys(MAX_METADATA_KEYS + 1)), HEADER))
    const sessions = createSessions({ storage })
    const { diagnostics, damaged } = await verifySession(sessions, STORED_ID)
    expect(diagnostics.map(({ code }) => code)).toEqual(["much_metadata"])
    expect(damaged).toBe(false)
    const session = await sessions.open(STORED_ID)
    expect(Object.keys((await session.info()).metadata)).toHaveLength(MAX_METADATA_KEYS + 1)
    await session.metadata("k0", "new")
    await expect(session.metadata("another", 0)).rejects.toMatchObject({ code: "too_large" })
    expect((await session.info()).metadata).toMatchObject({ k0: "new" })
  })
})

describe("a session takes no metadata beyond", () => {
  test("500 keys, in one call or one after the other", async () => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    await expect(sessions.create({ metadata: metadata(MAX_METADATA_KEYS + 1) })).rejects.toMatchObject({
      code: "too_large",
    })
    expect((await sessions.list()).sessions).toEqual([])
    const session = await sessions.create({ metadata: metadata(MAX_METADATA_KEYS) })
    await expect(session.append([{ type: "metadata", key: "a", value: 1 }])).rejects.toMatchObject({
      code: "too_large",
    })
    await session.metadata("k1", null)
    await session.append({ type: "message", message: { role: "user", content: "goes on" } })
  })

  test("1 MB, also of appends that wait", async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    const half = "ä".repeat(MAX_METADATA_BYTES / 4)
    const first = session.metadata("a", half)
    await expect(session.metadata("b", half)).rejects.toMatchObject({ code: "too_large" })
    await first
    await session.metadata("a", "")
    await session.metadata("b", half)
  })
})

test("a projection that is continued by a metadata entry leaves the one before as it was", () => {
  const at = (n: number) => ({ id: `e${n}`, parentId: null, seq: n, timestamp: "2026-01-31T09:30:00.000Z" })
  const own = ownCopy(startProjection(HEADER, "l"))
  projectInPlace(own, { type: "metadata", ...at(1), key: "a", value: 1 }, 1)
  const text = JSON.stringify(own)
  const next = projectEntry(own, { type: "metadata", ...at(2), key: "a", value: 2 }, 2)
  expect(next.metadata).toEqual({ a: 2 })
  expect(JSON.stringify(own)).toBe(text)
})

describe("more metadata than a session takes, in a log of another program,", () => {
  const many = () => storeLines(linesOf(chain(...keys(MAX_METADATA_KEYS + 2), ...keys(1)), HEADER))

  test("is imported without the keys beyond, which stay as entries, and reported", async () => {
    const text = await textOf(exportSession(createSessions({ storage: await many() }), STORED_ID))
    const sessions = createSessions({ storage: createMemoryStorage() })
    const { id, diagnostics } = await importSession(sessions, text)
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([
      ["much_metadata", MAX_METADATA_KEYS + 1],
      ["much_metadata", MAX_METADATA_KEYS + 2],
    ])
    expect(Object.keys((await sessions.info(id)).metadata)).toHaveLength(MAX_METADATA_KEYS)
    expect(await textOf(exportSession(sessions, id))).toContain(
      `"type":"sessions:metadata","key":"k${MAX_METADATA_KEYS}","value":${MAX_METADATA_KEYS}`,
    )
    expect((await verifySession(sessions, id)).diagnostics).toEqual([])
    const session = await sessions.open(id)
    expect((await session.path()).entries.at(-1)).toMatchObject({ type: "metadata", key: "k0" })
  })

  test("is shortened by its bytes, too", async () => {
    const value = "x".repeat(MAX_METADATA_BYTES / 2)
    const lines = linesOf(chain(...["a", "b", "a"].map((key) => ({ type: "metadata", key, value }))), HEADER)
    const sessions = createSessions({ storage: createMemoryStorage() })
    const { id, diagnostics } = await importSession(sessions, lines.join("\n"), { id: "b" })
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([["much_metadata", 2]])
    expect(Object.keys((await sessions.info(id)).metadata)).toEqual(["a"])
  })

  test("is copied and merged as it is, and reported", async () => {
    const sessions = createSessions({ storage: await many() })
    const other = createMemoryStorage()
    const copied = await copySession(sessions, STORED_ID, other)
    expect(copied.diagnostics.map(({ code }) => code)).toEqual(["much_metadata"])
    const short = createSessions({ storage: await storeLines([JSON.stringify(HEADER)]) })
    const merged = await mergeSession(short, STORED_ID, sessions.storage)
    expect(merged.diagnostics.map(({ code }) => code)).toEqual(["much_metadata"])
    expect((await short.info(STORED_ID)).metadata).toEqual((await sessions.info(STORED_ID)).metadata)
  })
})
