import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { createMemoryStorage } from "@sessions/memory"
import { compaction, user } from "../../test/chain.ts"
import { createCountingStorage } from "../../test/counting-storage.ts"
import type { CountingStorage } from "../../test/counting-storage.ts"
import { entryLine, headerLine } from "../../test/kept-info.ts"
import { anyLog } from "../../test/logs.ts"
import { holdsAsync } from "../../test/property.ts"
import { sessionsReading, STORED_ID, storeLines } from "../../test/stored.ts"
import type { SessionContext } from "../context/types.ts"

const LINES = 3_000
const PATHS = `sessions/${STORED_ID}/paths`
const MODEL = { type: "model_change", provider: "p", model: "first" }

/** A long history that begins with its model, then what an opening has to get past without any state, then two messages. */
function logWith(boundary: (seq: number) => object): string[] {
  const payloads = [
    MODEL,
    ...Array.from({ length: LINES }, (_, n) => user(`said ${n} ${"-".repeat(100)}`)),
    boundary(LINES + 2),
    user("a"),
    user("b"),
  ]
  return [headerLine(), ...payloads.map((payload, index) => entryLine(index + 1, payload))]
}

const BOUNDARIES: Readonly<Record<string, (seq: number) => object>> = {
  "a compaction without a state, as another program writes it": (seq) => compaction(`e${seq - 2}`),
  "a compaction that says to keep what is nowhere": () => compaction("nobody"),
  "a reset": () => ({ type: "reset_boundary" }),
}

async function stored(lines: readonly string[]): Promise<CountingStorage> {
  const storage = createCountingStorage(createMemoryStorage())
  await storeLines(lines, storage)
  return storage
}

async function contextOf(storage: CountingStorage): Promise<SessionContext> {
  const session = await sessionsReading(storage, 4_096).open(STORED_ID)
  storage.take()
  return session.context()
}

describe.each(Object.entries(BOUNDARIES))("after %s", (_, boundary) => {
  test("only the first opening reads the history, and the second gives the same from a few lines", async () => {
    const storage = await stored(logWith(boundary))
    const first = await contextOf(storage)
    expect(first.model).toEqual({ provider: "p", model: "first" })
    expect(storage.take().lines).toBeGreaterThan(LINES - 100)

    const second = await contextOf(storage)
    const read = storage.take()
    expect(read.lines).toBeLessThan(50)
    expect(read.units).toBeLessThan(8_192)
    expect(read).toMatchObject({ docsPut: 0, docsGot: 1 })
    const { diagnostics: _, ...whole } = first
    expect(second).toMatchObject(whole)
  })

  test("what is kept is not believed of another log, of another entry, or where it is not whole", async () => {
    const storage = await stored(logWith(boundary))
    const first = await contextOf(storage)
    const doc = await storage.docs.get(PATHS)
    const kept = JSON.parse(doc?.text ?? "") as { log: string; paths: { id: string; state: object }[] }
    const [path] = kept.paths
    const wrongState = { ...path?.state, models: { default: { provider: "p", model: "wrong" } } }
    const wrong = [
      { ...kept, log: "another", paths: [{ ...path, state: wrongState }] },
      { ...kept, paths: [{ ...path, state: wrongState, id: "e1" }] },
      { ...kept, paths: [{ ...path, state: { ...wrongState, mode: 7 } }] },
      { ...kept, v: 2, paths: [{ ...path, state: wrongState }] },
    ].map((value) => JSON.stringify(value))
    let version = doc?.version ?? null
    for (const text of [...wrong, "{", "[]"]) {
      version = await storage.docs.put(PATHS, text, { expect: version })
      expect((await contextOf(storage)).model).toEqual(first.model)
      expect(storage.take().lines).toBeGreaterThan(LINES - 100)
      version = (await storage.docs.get(PATHS))?.version ?? null
    }
  })

  test("what was kept serves a session that goes on, and a compaction of it carries the state", async () => {
    const storage = await stored(logWith(boundary))
    await contextOf(storage)
    const session = await sessionsReading(storage, 4_096).open(STORED_ID)
    await session.context()
    storage.take()
    const { ids } = await session.append({ ...compaction("x"), firstKeptEntryId: "e3004" } as never)
    expect(await session.entry(ids[0] as string)).toHaveProperty("state.models.default.model", "first")
    expect((await session.context()).model).toEqual({ provider: "p", model: "first" })
    expect(storage.take().lines).toBeLessThan(50)
  })
})

test("the places of several branches are kept, so that going back and forth reads each history once", async () => {
  const reset = { type: "reset_boundary" }
  const lines = logWith(() => reset)
  const at = lines.length
  const storage = await stored([...lines, entryLine(at, reset, `e${LINES}`), entryLine(at + 1, user("c"))])
  const branches = [`e${LINES + 4}`, `e${at + 1}`]
  const open = async (leaf: string): Promise<number> => {
    const session = await sessionsReading(storage, 4_096).open(STORED_ID)
    await session.branch(leaf)
    storage.take()
    expect((await session.context()).model).toEqual({ provider: "p", model: "first" })
    return storage.take().lines
  }
  for (const leaf of branches) expect(await open(leaf)).toBeGreaterThan(LINES - 100)
  for (const leaf of branches) expect(await open(leaf)).toBeLessThan(50)
})

test("a session whose compactions carry what opening needs asks for no document", async () => {
  const storage = createCountingStorage(createMemoryStorage())
  const session = await sessionsReading(storage, 4_096).create({ id: STORED_ID })
  for (let n = 0; n < 500; n++) await session.append(user(`said ${n} ${"-".repeat(100)}`) as never)
  const kept = session.leafId as string
  await session.append({ ...compaction(kept) } as never)
  expect((await contextOf(storage)).messages).toHaveLength(2)
  expect(storage.take()).toMatchObject({ docsGot: 0, docsPut: 0 })
})

test("an opening that goes on from what another kept gives the same context, whatever the log", async () => {
  const readings = { kept: 0 }
  await holdsAsync(
    fc.asyncProperty(anyLog, fc.constantFrom(1, 200), async (lines, bytes) => {
      const storage = createCountingStorage(await storeLines(lines))
      const open = async (): Promise<SessionContext> =>
        (await sessionsReading(storage, bytes).open(STORED_ID)).context()
      const first = await open()
      if (storage.take().docsPut > 0) readings.kept++
      const { diagnostics: _, ...whole } = first
      const { diagnostics: __, ...again } = await open()
      expect(again).toEqual(whole)
    }),
    300,
  )
  expect(readings.kept).toBeGreaterThan(20)
})
