import { describe, expect, test } from "vitest"
import {
  counting,
  entryLine,
  projectTo,
  headerLine,
  linesOf,
  memory,
  saidLine,
  storeKept,
} from "../../test/kept-info.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { createMemoryStorage } from "@sessions/memory"
import { codeOf, createWriter, twoWriters, user } from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { encodeProjection } from "../info/projection-text.ts"
import { type InfoProjection, withTips } from "../info/projection.ts"
import type { HeadInfo, SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"
import { createSessions } from "./repository.ts"
import type { Sessions } from "./repository-types.ts"

test("after a branch the list knows the model without opening the log", async () => {
  const storage = counting()
  const sessions = createSessions({ storage })
  const session = await sessions.create()
  const { ids } = await session.append([user("a"), { type: "model_change", provider: "p", model: "old" }])
  await session.append({ type: "model_change", provider: "p", model: "new" })
  await session.branch(ids[1] as string)
  await session.append(user("b"))
  storage.take()
  expect((await sessions.list()).sessions[0]?.model).toEqual({ provider: "p", model: "old" })
  expect(storage.take()).toMatchObject({ lines: 0, docsGot: 0 })
})

test.each([
  ["are not held", false],
  ["are held", true],
])(
  "the model is that of the log's leaf, also where a session stays on a branch of its own, if the paths %s",
  async (_, held) => {
    const o = { readWindow: { first: 600, largest: 600 } }
    const model = (name: string): NewEntry => ({ type: "model_change", provider: "p", model: name })
    const { location, one, two } = await twoWriters(o)
    await one.append([model("first"), user("a".repeat(2_000)), user("b", "b")])
    await two.refresh()
    await one.close()
    const again = await createWriter(location, o).sessions.open("s")
    if (held) await again.context()
    await two.append(user("theirs"))
    await again.append([model("own"), user("ours")])
    await two.append(user("theirs, too"))
    await again.refresh()
    expect((await again.context()).model?.model).toBe("own")
    expect((await again.info()).model?.model).toBe("first")
    await again.title("x")
    const reader = createSessions({ storage: createMemoryStorage({ location }) })
    expect((await reader.list()).sessions[0]?.model?.model).toBe("first")
  },
)

test("if only the path can say which model is active, the answer is stored and the next list does not read it again", async () => {
  const storage = counting()
  const lines = [
    headerLine(),
    entryLine(1, { type: "model_change", provider: "p", model: "old" }),
    entryLine(2, { type: "model_change", provider: "p", model: "new" }),
    entryLine(3, { type: "leaf" }, "e1"),
  ]
  await storeKept(storage, lines, 3, encodeProjection(projectTo(lines, 3, "")), true)
  const sessions = createSessions({ storage })
  expect((await sessions.list()).sessions[0]?.model).toEqual({ provider: "p", model: "old" })
  expect(storage.take().lines).toBeGreaterThan(0)
  expect((await sessions.list()).sessions[0]?.model).toEqual({ provider: "p", model: "old" })
  expect(storage.take().lines).toBe(0)
})

test("information that is older than its head is updated from the log's end alone", async () => {
  const storage = counting()
  const lines = [headerLine(), ...Array.from({ length: 500 }, (_, n) => saidLine(n + 1))]
  await storeKept(storage, lines, 497, encodeProjection(projectTo(lines, 497, "")), true)
  expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(500)
  // The last line of the stored information is read too: it must be the line that the information was made from.
  expect(storage.take().lines).toBe(4)
})

test("a long log without information is read once; its projection is stored", async () => {
  const storage = counting()
  const lines = [headerLine(), ...Array.from({ length: 1_500 }, (_, n) => saidLine(n + 1))]
  await storeLines(lines, storage)
  const sessions = createSessions({ storage })
  expect((await sessions.list()).sessions[0]?.messageCount).toBe(1_500)
  expect(storage.take()).toMatchObject({ docsPut: 1 })
  expect((await sessions.list()).sessions[0]?.messageCount).toBe(1_500)
  expect(storage.take()).toMatchObject({ lines: 0, docsPut: 0 })
})

test("if the first prompts are deleted, the list reads the log once for the one that takes over", async () => {
  const storage = counting()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "s" })
  const ids: string[] = []
  for (let n = 1; n <= 6; n++) ids.push(...(await session.append(user(`say ${n}`))).ids)
  for (const id of ids.slice(0, 4)) await session.tombstone(id)
  expect((await session.info()).firstPrompt).toBe("say 5")
  expect((await sessions.info("s")).firstPrompt).toBe("say 5")
  storage.take()
  expect((await sessions.list()).sessions[0]?.firstPrompt).toBe("say 5")
  expect(storage.take().lines).toBe(0)
  await session.append(user("say 7"))
  expect((await sessions.info("s")).firstPrompt).toBe("say 5")
  expect(storage.take().lines).toBe(0)
})

test("a reader that continues from stored information sees prompts deleted at the log's end", async () => {
  const storage = memory()
  const gone = [1, 2, 3].map((n) => entryLine(5 + n, { type: "tombstone", targetId: `e${n}` }))
  const lines = [headerLine(), ...[1, 2, 3, 4, 5].map(saidLine), ...gone]
  await storeKept(storage, lines, 5, encodeProjection(projectTo(lines, 5, "")), true)
  expect((await createSessions({ storage }).info(STORED_ID)).firstPrompt).toMatch(/^say 4 /)
})

test("after a conflict the head is read again: the information is that of the new log", async () => {
  for (const read of [
    async (sessions: Sessions) => sessions.info(STORED_ID),
    async (sessions: Sessions) => (await sessions.list()).sessions[0],
  ]) {
    const storage = await storeLines([headerLine()], memory())
    const disturbed = conflictOnce(storage, async () => {
      await storage.delete(STORED_ID)
      await storeLines([headerLine(), saidLine(1), saidLine(2)], storage)
    })
    const info = await read(createSessions({ storage: disturbed }))
    expect(info).toMatchObject({ messageCount: 2, bytes: (await storage.head(STORED_ID))?.bytes })
  }
})

test("a log that is deleted while it is read is `not_found`", async () => {
  const storage = await storeLines([headerLine()], memory())
  const disturbed = conflictOnce(storage, () => storage.delete(STORED_ID))
  expect(await codeOf(createSessions({ storage: disturbed }).info(STORED_ID))).toBe("not_found")
})

test("a log that is replaced at every reading is a conflict", async () => {
  const storage = memory()
  await storeLines([headerLine()], storage)
  let readings = 0
  const read = (): never => {
    readings++
    throw new StorageError("conflict", "The log was replaced.")
  }
  expect(await codeOf(createSessions({ storage: { ...storage, read } }).info(STORED_ID))).toBe("conflict")
  expect(readings).toBeLessThan(10)
})

test("a prompt that is too long for a line shows its start, never a reference", async () => {
  const storage = counting()
  const long = `It begins ${"here ".repeat(200)}`
  const sessions = createSessions({ storage, blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  const { ids } = await session.append(user("short"))
  await session.append(user(long))
  await session.tombstone(ids[0] as string)
  expect((await session.info()).firstPrompt).toBe(long.slice(0, 200))
  const copy = memory()
  for await (const { hash } of storage.blobs.list()) await copy.blobs.put((await storage.blobs.get(hash)) as Uint8Array)
  await storeLines(await linesOf(storage, "s"), copy)
  const elsewhere = createSessions({ storage: copy })
  expect((await elsewhere.info(STORED_ID)).firstPrompt).toBe(long.slice(0, 200))
  expect(await (await elsewhere.open(STORED_ID)).info()).toMatchObject({ firstPrompt: long.slice(0, 200) })
  for await (const { hash } of copy.blobs.list()) await copy.blobs.delete(hash)
  const bare = createSessions({ storage: memory(copy) })
  expect((await bare.info(STORED_ID)).firstPrompt).not.toMatch(/blob:/)
})

test("only the blobs of prompts that the information needs are read, and the list reads the log once", async () => {
  const written = memory()
  const session = await createSessions({ storage: written, blobs: { textUnits: 100 } }).create({ id: "s" })
  const ids: string[] = []
  for (const text of ["one", "two", "three"]) ids.push(...(await session.append(user(text))).ids)
  for (const start of ["fourth", "fifth", "sixth", "seventh"]) await session.append(user(`${start} ${"-".repeat(200)}`))
  const check = async (firstPrompt: RegExp, blobsGot: number): Promise<void> => {
    const storage = counting()
    for await (const { hash } of written.blobs.list())
      await storage.blobs.put((await written.blobs.get(hash)) as Uint8Array)
    await storeLines(
      [
        ...(await linesOf(written, "s")),
        // So many that the information is worth being stored.
        ...Array.from({ length: 800 }, (_, n) => entryLine(n + 100, { type: "custom", customType: "x" })),
      ],
      storage,
    )
    for (const [lines, blobs] of [
      [true, blobsGot],
      [false, 0],
    ] as const) {
      expect((await createSessions({ storage }).list()).sessions[0]?.firstPrompt).toMatch(firstPrompt)
      const { lines: read, blobsGot: got } = storage.take()
      expect([read > 0, got]).toEqual([lines, blobs])
    }
  }
  await check(/^one$/, 0)
  for (const id of ids) await session.tombstone(id)
  await check(/^fourth -/, 1)
})

describe("information without the open tips, which were too long for it,", () => {
  const lines = [
    headerLine(),
    ...[1, 2, 3].map(saidLine),
    entryLine(4, { type: "message", message: { role: "user", content: "aside" } }, "e1"),
    saidLine(5),
  ]
  const openTips = { tips: [{ seq: 3, id: "e3" }] }
  /** As after the path of the leaf was read. */
  const complete = (seq: number, log: string): InfoProjection => {
    const { stale: _, ...projection } = projectTo([...lines, saidLine(6)], seq, log)
    return projection
  }
  const withoutTips = async (storage: SessionStorage): Promise<void> =>
    storeKept(storage, lines, 5, encodeProjection(withTips(complete(5, ""), undefined, 0)), true)

  test("is completed by `info`, which reads the log for them once; a list reads it for none", async () => {
    const storage = counting()
    await withoutTips(storage)
    const sessions = createSessions({ storage })
    for (const known of [false, true]) {
      expect((await sessions.list()).sessions[0]).not.toHaveProperty("openTips")
      expect(storage.take()).toMatchObject({ lines: 0, docsGot: 0 })
      expect(await sessions.info(STORED_ID)).toMatchObject({ messageCount: 5, openTips })
      // The first line, which has the version, and then all.
      expect(storage.take()).toMatchObject({ lines: known ? 0 : 1 + lines.length, docsPut: known ? 0 : 1 })
    }
  })

  test("is completed by the next append of a session that was opened", async () => {
    const storage = counting()
    await withoutTips(storage)
    const session = await createSessions({ storage }).open(STORED_ID)
    await session.append({ type: "title_change", title: "t", source: "user" })
    storage.take()
    expect((await createSessions({ storage }).list()).sessions[0]).toMatchObject({ title: "t", openTips })
    expect(storage.take()).toMatchObject({ lines: 0, docsGot: 0 })
  })

  test("takes the tips of the document, and reads only the lines since then", async () => {
    const storage = counting()
    await storeKept(storage, lines, 4, encodeProjection(complete(4, "")), false)
    const head = (await storage.head(STORED_ID)) as HeadInfo
    const text = encodeProjection(withTips(complete(6, head.log), undefined, 0))
    await storage.append(STORED_ID, [saidLine(6)], { expect: head, info: text })
    storage.take()
    expect(await createSessions({ storage }).info(STORED_ID)).toMatchObject({ messageCount: 6, openTips })
    // The line that the document ends with, and the two behind it.
    expect(storage.take().lines).toBe(3)
  })

  test("is all that there is of a log that cannot be read", async () => {
    const storage = counting()
    await withoutTips(storage)
    const read: SessionStorage["read"] = async function* () {
      yield* []
      throw new StorageError("corrupt", "A line is not UTF-8.")
    }
    const info = await createSessions({ storage: { ...storage, read } }).info(STORED_ID)
    expect(info).toMatchObject({ messageCount: 5 })
    expect(info).not.toHaveProperty("openTips")
  })
})

test("after a conflict with another writer the information is complete, and a list reads no log for it", async () => {
  const storage = counting()
  const [one, two] = [createSessions({ storage }), createSessions({ storage: memory(storage) })]
  const session = await one.create({ id: "s" })
  await session.append([user("q"), { type: "model_change", provider: "p", model: "m" }])
  const other = await two.open("s")
  const listed = async (): Promise<unknown> => {
    storage.take()
    const [info] = (await createSessions({ storage }).list()).sessions
    expect(storage.take()).toMatchObject({ lines: 0, docsGot: 0 })
    return info
  }
  const path = { model: { provider: "p", model: "m" } }
  await other.append(user("theirs"))
  await session.append(user("mine"))
  expect(await listed()).toMatchObject({ ...path, openTips: { tips: [{ seq: 3 }] } })
  await other.append(user("theirs again"))
  await session.title("of both")
  expect(await listed()).toMatchObject({ title: "of both", ...path })
  await other.append(user("theirs once more"))
  expect(await codeOf(session.append(user("mine"), { onConflict: "fail" }))).toBe("conflict")
  await session.title("of all")
  expect(await listed()).toMatchObject({ title: "of all", ...path })
})

/** The storage, whose log changes during the first reading, which then rejects with `conflict`. */
function conflictOnce(storage: SessionStorage, change: () => Promise<unknown>): SessionStorage {
  let isFirst = true
  return {
    ...storage,
    async *read(id, range, o) {
      if (!isFirst) return yield* storage.read(id, range, o)
      isFirst = false
      await change()
      throw new StorageError("conflict", "The log was replaced.")
    },
  }
}
