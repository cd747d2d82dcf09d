/** The stored form: its size, eviction that is interrupted, several processes, damage. */
import type { SessionStorage } from "@sessions/core/storage"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { createCheckpoints } from "../src/index.ts"
import { SnapshotDocuments } from "../src/documents/documents.ts"
import type { FileRecord } from "../src/record.ts"
import { filesAt } from "../src/timeline.ts"
import { createMemoryFiles } from "./memory-files.ts"
import { counting, FILES, storedSizeTest } from "./stored-size.ts"

storedSizeTest(1_000, 20, 0.7)

test("first edits that wait at the same time share a put", async () => {
  let puts = 0
  const storage = counting(createMemoryStorage(), () => puts++)
  const session = await createSessions({ storage }).create()
  const checkpoints = createCheckpoints({ storage, files: createMemoryFiles() }).of(session)
  const { ids } = await session.append({ type: "message", message: { role: "user", content: "edit" } })
  await checkpoints.begin(ids[0] as string)
  puts = 0
  await Promise.all(Array.from({ length: 150 }, (_, i) => checkpoints.track(`new-${i}`)))
  expect(puts).toBeLessThan(3)
})

/** Five snapshots, the first with 450 files in three documents, each later one with some of them. */
async function storeSnapshots(location: MemoryLocation): Promise<SnapshotDocuments> {
  const documents = new SnapshotDocuments(createMemoryStorage({ location }), "s")
  for (let snapshot = 0; snapshot < 5; snapshot++) {
    const paths = FILES.slice(0, 450).filter((_, i) => snapshot === 0 || i % (snapshot + 2) === 0)
    await documents.create(idOf(snapshot), headOf(snapshot), new Map(paths.map((path) => [path, recordOf(snapshot)])))
  }
  return documents
}

test("eviction killed at every step loses no record, and the next one completes it", async () => {
  const whole = await storeSnapshots(createMemoryLocation())
  const expected = new Map(whole.snapshots.map(({ id }) => [id, textOfFiles(whole, id)]))
  for (let step = 0, completed = false; !completed; step++) {
    const location = createMemoryLocation()
    await storeSnapshots(location)
    let steps = 0
    const dying = dyingAfter(createMemoryStorage({ location }), () => steps++ >= step)
    const killed = new SnapshotDocuments(dying, "s")
    completed = await killed
      .load()
      .then(() => killed.evict(2))
      .then(
        () => true,
        () => false,
      )
    const after = new SnapshotDocuments(createMemoryStorage({ location }), "s")
    await after.load()
    for (const kept of ["before", "after"]) {
      for (const { id, head } of after.snapshots) {
        if (head.evicted === true) continue
        const isWhole = textOfFiles(after, id) === expected.get(id)
        expect({ step, kept, id, isWhole }).toEqual({ step, kept, id, isWhole: true })
      }
      await after.evict(2)
    }
    expect(after.snapshots.map(({ id }) => id)).toEqual([idOf(3), idOf(4)])
    expect([...location.docs.keys()].some((key) => key.includes(idOf(0)))).toBe(false)
  }
})

test("a snapshot whose creation was interrupted does not exist, and is deleted with the next older one", async () => {
  const location = createMemoryLocation()
  await storeSnapshots(location)
  let puts = 0
  const dying = new SnapshotDocuments(
    dyingAfter(createMemoryStorage({ location }), () => puts++ >= 2),
    "s",
  )
  const files = new Map(FILES.slice(0, 500).map((path) => [path, recordOf(9)]))
  await expect(dying.create(idOf(5), headOf(5), files)).rejects.toThrow("killed")
  const documents = new SnapshotDocuments(createMemoryStorage({ location }), "s")
  await documents.load()
  expect(documents.snapshots).toHaveLength(5)
  for (const next of [6, 7]) await documents.create(idOf(next), headOf(next), new Map())
  await documents.evict(2)
  expect([...location.docs.keys()].some((key) => key.includes(idOf(5)))).toBe(false)
})

test("two processes that add records to one snapshot lose none of them", async () => {
  const location = createMemoryLocation()
  await storeSnapshots(location)
  const processes = await Promise.all(
    [0, 1].map(async (n) => {
      const documents = new SnapshotDocuments(createMemoryStorage({ location }), "s")
      await documents.load()
      return { documents, paths: FILES.slice(1_000 + n * 100, 1_100 + n * 100) }
    }),
  )
  await Promise.all(
    processes.map(async ({ documents, paths }) => {
      for (const path of paths) {
        expect(await documents.add(idOf(4), new Map([[path, recordOf(4)]]))).toBe(true)
        await new Promise((resolve) => setImmediate(resolve))
      }
    }),
  )
  const after = new SnapshotDocuments(createMemoryStorage({ location }), "s")
  await after.load()
  const { files } = after.snapshots[4] as { files: ReadonlyMap<string, FileRecord> }
  expect(processes.flatMap(({ paths }) => paths).filter((path) => !files.has(path))).toEqual([])
})

test("a record of a snapshot that another process evicts goes into a kept one", async () => {
  const location = createMemoryLocation()
  const open = async (): Promise<ReturnType<ReturnType<typeof createCheckpoints>["of"]>> => {
    const storage = createMemoryStorage({ location })
    const session = await createSessions({ storage }).openOrCreate("s")
    return createCheckpoints({ storage, files, maxSnapshots: 2 }).of(session)
  }
  const files = createMemoryFiles()
  files.set("a", "a0")
  const one = await open()
  await one.begin("m1")
  const other = await open()
  for (const message of ["m2", "m3", "m4"]) await other.begin(message)
  await other.list()
  expect(await one.track("a")).toEqual({ tracked: true, version: 1 })
  files.set("a", "a1")
  await other.rewind("m3")
  expect(new TextDecoder().decode(await files.read("a"))).toBe("a0")
})

test("damaged and newer documents are refused, and named", async () => {
  const location = createMemoryLocation()
  const documents = await storeSnapshots(location)
  const key = `sessions/s/checkpoint.${idOf(2)}.0`
  const text = location.docs.get(key) as string
  for (const [changed, code] of [
    ["{", "corrupt"],
    [text.replace('"v":1', '"v":2'), "unsupported"],
    [text.replace('"blob":"', '"blob":"x'), "corrupt"],
    [text.replace('"reason":"turn"', '"reason":"other"'), "corrupt"],
  ] as const) {
    location.docs.set(key, changed)
    await expect(documents.load()).rejects.toMatchObject({ code, message: expect.stringContaining(key) })
  }
})

function idOf(snapshot: number): string {
  return `01JGN4A8X0V1S2E9QH5T6B7C3${snapshot}`
}

function headOf(snapshot: number): { messageId: string; at: string; reason: "turn" } {
  return { messageId: `m${snapshot}`, at: `2026-02-16T10:20:3${snapshot}.000Z`, reason: "turn" }
}

function recordOf(snapshot: number): FileRecord {
  return { blob: `sha256:${String(snapshot).repeat(64)}`, bytes: snapshot }
}

/** The files of a snapshot as a text, which is compared faster. */
function textOfFiles(documents: SnapshotDocuments, id: string): string {
  return JSON.stringify([...filesAt(documents.snapshots, indexOf(documents, id))].sort(([a], [b]) => (a < b ? -1 : 1)))
}

function indexOf({ snapshots }: SnapshotDocuments, id: string): number {
  return snapshots.findIndex((one) => one.id === id)
}

/** Each change of a document asks `isDead` before and after it, as if the process could end at both moments. */
function dyingAfter(storage: SessionStorage, isDead: () => boolean): SessionStorage {
  const check = (): void => {
    if (isDead()) throw new Error("killed")
  }
  const { docs } = storage
  return {
    ...storage,
    docs: {
      ...docs,
      async put(key, text, o) {
        check()
        const version = await docs.put(key, text, o)
        check()
        return version
      },
      async delete(key, o) {
        check()
        await docs.delete(key, o)
        check()
      },
    },
  }
}
