import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { pairsOf } from "../../test/merge-model.ts"
import { entriesIn, type Fuse, seenIn, storeNamed } from "../../test/merge-stores.ts"
import { holdsAsync } from "../../test/property.ts"
import { codeOf, linesIn, sessionsIn } from "../../test/transfer.ts"
import type { Sessions } from "../session/repository-types.ts"
import type { SessionStorage } from "../storage/contract.ts"

const said = (text: string) => ({ type: "message", message: { role: "user", content: text } }) as const

/** Two storages with the same session, and repositories on them. */
async function twoCopies(o: { now?: () => number; fuse?: Fuse } = {}) {
  const a = storeNamed("a", o.fuse)
  const b = storeNamed("b", o.fuse)
  const [here, there] = [sessionsIn(a, o.now === undefined ? {} : { now: o.now }), sessionsIn(b)]
  const session = await here.create({ id: "s" })
  const { ids } = await session.append(said("first"))
  await session.close()
  await here.merge("s", b)
  return { a, b, here, there, first: ids[0] as string }
}

async function add(sessions: Sessions, text: string): Promise<string> {
  const session = await sessions.open("s")
  const { ids } = await session.append(said(text))
  await session.close()
  return ids[0] as string
}

async function texts(sessions: Sessions): Promise<string[]> {
  const session = await sessions.open("s")
  const { messages } = await session.context()
  await session.close()
  return messages.map(({ message }) => (message.content as readonly { text?: string }[])[0]?.text ?? "")
}

test("a session that is missing in the other storage is copied; a second merge writes nothing", async () => {
  const { a, b, here } = await twoCopies()
  expect(await linesIn(b, "s")).toEqual(await linesIn(a, "s"))
  const before = [await linesIn(a, "s"), await linesIn(b, "s")]
  expect(await here.merge("s", b)).toMatchObject({ sent: 0, received: 0, differing: [], openTips: { tips: [] } })
  expect([await linesIn(a, "s"), await linesIn(b, "s")]).toEqual(before)
})

test("turns of both sides are on both afterwards, the later one is continued, and the other is an open tip on both", async () => {
  const { a, b, here, there } = await twoCopies()
  const one = await add(here, "from here")
  await new Promise((resolve) => setTimeout(resolve, 2))
  const other = await add(there, "from there")
  const result = await here.merge("s", b)
  expect(result).toMatchObject({ sent: 1, received: 1, leaf: other, openTips: { tips: [{ id: one }] }, differing: [] })
  for (const sessions of [here, there]) {
    expect(await texts(sessions)).toEqual(["first", "from there"])
    const session = await sessions.open("s")
    expect((await session.info()).openTips?.tips).toMatchObject([{ id: one }])
    await session.close()
    expect(await sessions.verify("s")).toMatchObject({ damaged: false })
  }
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})

test("merges converge with real sessions: annotations, branches, compactions, blobs, skewed clocks, killed after any write", async () => {
  const kind = fc.constantFrom(
    "turn",
    "image",
    "title",
    "metadata",
    "label",
    "delete",
    "branch",
    "compact",
    "merge",
    "merge",
  )
  const step = fc.record({
    kind,
    at: fc.nat({ max: 3 }),
    n: fc.nat({ max: 99 }),
    clock: fc.nat({ max: 9 }),
    kill: fc.nat({ max: 20 }),
  })
  const histories = fc.record({
    storages: fc.integer({ min: 2, max: 4 }),
    shape: fc.constantFrom("ring" as const, "star" as const),
    steps: fc.array(step, { maxLength: 14 }),
    arrives: fc.boolean(),
  })
  await holdsAsync(
    fc.asyncProperty(histories, async ({ steps, arrives, ...h }) => {
      let time = 0
      const fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives }
      const stores = Array.from({ length: h.storages }, (_, n) => storeNamed(`store ${n}`, fuse))
      const open = (n: number): Sessions => sessionsIn(stores[n], { now: () => Date.UTC(2026, 0, 31) + time })
      const made = await open(0).create({ id: "s", title: "from the header" })
      await made.append(said("first"))
      await made.close()
      const pairs = pairsOf(h)
      const merge = async ([one, other]: readonly [number, number]): Promise<number> => {
        const [from, to] = [stores[one] as SessionStorage, stores[other] as SessionStorage]
        const [here, there] = (await from.head("s")) === undefined ? [to, from] : [from, to]
        if ((await here.head("s")) === undefined) return 0
        const before = (await linesIn(here, "s")).length + (await linesIn(there, "s")).length
        await sessionsIn(here).merge("s", there)
        return (await linesIn(here, "s")).length + (await linesIn(there, "s")).length - before
      }
      for (const { kind, at, n, clock, kill } of steps) {
        if (kind === "merge") {
          if (kill < 9) fuse.left = kill + 1
          await merge(pairs[n % pairs.length] as readonly [number, number]).catch((error: { code?: string }) => {
            if (error.code !== "closed") throw error
          })
          fuse.left = Number.POSITIVE_INFINITY
          continue
        }
        time = clock
        const store = stores[at % h.storages] as SessionStorage
        if ((await store.head("s")) === undefined) continue
        const session = await open(at % h.storages).open("s")
        const ids = (await entriesIn(store, "s")).filter(({ type }) => type === "message").map(({ id }) => id)
        const target = ids[n % ids.length] as string
        if (kind === "turn") await session.append(said(`turn ${n}`))
        else if (kind === "image") {
          const data = btoa(`image ${n} `.repeat(200))
          await session.append({
            type: "message",
            message: { role: "user", content: [{ type: "image", mimeType: "image/png", data }] },
          })
        } else if (kind === "title") await session.title(n % 5 === 0 ? null : `title ${n}`)
        else if (kind === "metadata") await session.metadata(`k${n % 2}`, n)
        else if (kind === "label") await session.label(target, `label ${n}`)
        else if (kind === "delete") await session.append({ type: "tombstone", targetId: target })
        else if (kind === "branch") await session.branch(target)
        else {
          const summary = {
            type: "compaction",
            summary: `summary ${n}`,
            tokensBefore: 1,
            readFiles: [],
            modifiedFiles: [],
          } as const
          await session.append({ ...summary, firstKeptEntryId: session.leafId ?? target })
        }
        if (kind === "title") expect((await session.info()).title).toBe(n % 5 === 0 ? undefined : `title ${n}`)
        await session.close()
      }
      let written = 1
      for (let round = 1; round <= 5 && written > 0; round++) {
        written = 0
        for (const pair of pairs) written += await merge(pair)
      }
      expect(written).toBe(0)
      const seen = await Promise.all(stores.map((store) => seenIn(store, "s")))
      for (const one of seen) expect(one).toEqual(seen[0])
      for (const store of stores) {
        expect((await sessionsIn(store).verify("s")).damaged).toBe(false)
        const entries = await entriesIn(store, "s")
        expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
      }
    }),
    100,
  )
})

test("a merge that is killed after any write is completed by the next", async () => {
  for (const arrives of [true, false]) {
    for (let kill = 1; kill < 12; kill++) {
      const fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives }
      const { a, b, here, there } = await twoCopies({ fuse })
      for (let n = 0; n < 3; n++) await add(here, `here ${n}`)
      for (let n = 0; n < 3; n++) await add(there, `there ${n}`)
      fuse.left = kill
      const outcome = await here.merge("s", b).catch((error: { code?: string }) => error.code)
      fuse.left = Number.POSITIVE_INFINITY
      if (typeof outcome === "string") expect(outcome).toBe("closed")
      await sessionsIn(a).merge("s", b)
      expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
      expect((await entriesIn(a, "s")).filter(({ type }) => type === "message")).toHaveLength(7)
      expect(await sessionsIn(a).merge("s", b)).toMatchObject({ sent: 0, received: 0 })
    }
  }
})

test("blobs come along, before the lines that refer to them", async () => {
  const { b, here, there } = await twoCopies()
  const data = btoa("bytes of an image ".repeat(100))
  const session = await here.open("s")
  await session.append({
    type: "message",
    message: { role: "user", content: [{ type: "image", mimeType: "image/png", data }] },
  })
  await session.close()
  await here.merge("s", b)
  const merged = await there.open("s")
  const { messages } = await merged.context()
  expect(messages.at(-1)?.message.content).toEqual([{ type: "image", mimeType: "image/png", data }])
  await merged.close()
})

test("a session that was deleted in the other storage is not brought back; one that is missing here is not found", async () => {
  const { b, here, there } = await twoCopies()
  await there.delete("s")
  expect(await codeOf(here.merge("s", b))).toBe("not_found")
  expect(await b.head("s")).toBeUndefined()
  expect(await codeOf(there.merge("s", createMemoryStorage()))).toBe("not_found")
  await here.copy("s", b)
  expect(await here.merge("s", b)).toMatchObject({ sent: 0, received: 0 })
})

test("another session under the same id is `exists`, and neither is changed", async () => {
  const { a, here } = await twoCopies()
  const other = storeNamed("other")
  const session = await sessionsIn(other, { now: () => 1 }).create({ id: "s" })
  await session.append(said("another"))
  await session.close()
  const before = [await linesIn(a, "s"), await linesIn(other, "s")]
  expect(await codeOf(here.merge("s", other))).toBe("exists")
  expect([await linesIn(a, "s"), await linesIn(other, "s")]).toEqual(before)
})

test("an entry with other content is named in `differing`, and stays as it is on each side", async () => {
  const { a, b, here, first } = await twoCopies()
  const lines = await linesIn(b, "s")
  const changed = storeNamed("changed")
  await changed.append(
    "s",
    lines.map((line) => line.replace("first", "changed")),
    { expect: 0 },
  )
  await add(here, "more")
  expect(await here.merge("s", changed)).toMatchObject({ sent: 1, received: 0, differing: [first] })
  expect(JSON.stringify(await linesIn(changed, "s"))).toContain("changed")
  expect(JSON.stringify(await linesIn(a, "s"))).toContain("first")
  expect(await here.merge("s", changed)).toMatchObject({ sent: 0, differing: [first] })
})

test("an id that is twice in a log, and a parent that is missing, are `corrupt` before anything is written", async () => {
  const { a, b, here } = await twoCopies()
  await add(here, "more")
  const [header = "", line = ""] = await linesIn(b, "s")
  for (const bad of [line, line.replace(/"id":"\w+"/, '"id":"x"').replace('"parentId":null', '"parentId":"gone"')]) {
    const damaged = storeNamed("damaged")
    await damaged.append("s", [header, line, bad], { expect: 0 })
    const before = await linesIn(a, "s")
    expect(await codeOf(here.merge("s", damaged))).toBe("corrupt")
    expect(await linesIn(a, "s")).toEqual(before)
    expect(await linesIn(damaged, "s")).toHaveLength(3)
  }
})

test("a line that the other storage cannot take is `too_large` before anything is written", async () => {
  const { a, here } = await twoCopies()
  const small = storeNamed(
    "small",
    undefined,
    createMemoryStorage({ limits: { maxLineBytes: 1_000, maxBatchBytes: 1_001 } }),
  )
  await here.merge("s", small)
  await add(sessionsIn(small), "there")
  await add(here, "x".repeat(2_000))
  const before = [await linesIn(a, "s"), await linesIn(small, "s")]
  expect(await codeOf(here.merge("s", small))).toBe("too_large")
  expect([await linesIn(a, "s"), await linesIn(small, "s")]).toEqual(before)
})

test("a merge in small batches writes every entry once", async () => {
  const { a, here } = await twoCopies()
  const small = storeNamed(
    "small",
    undefined,
    createMemoryStorage({ limits: { maxLineBytes: 1_000, maxBatchBytes: 1_001 } }),
  )
  await here.merge("s", small)
  for (let n = 0; n < 8; n++) await add(here, `here ${n}`)
  await add(sessionsIn(small), "there")
  expect(await here.merge("s", small)).toMatchObject({ sent: 8, received: 1 })
  expect(await seenIn(a, "s")).toEqual(await seenIn(small, "s"))
})

test("another writer that appends during the merge is merged too", async () => {
  const { a, b, here, there } = await twoCopies()
  await add(here, "here")
  let appended = false
  const busy: SessionStorage = {
    ...b,
    async append(id, lines, o) {
      if (!appended) {
        appended = true
        await add(there, "meanwhile")
      }
      return b.append(id, lines, o)
    },
  }
  expect(await here.merge("s", busy)).toMatchObject({ sent: 1, received: 1 })
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})

test("a merge waits for the turn that runs here", async () => {
  const { a, b, here } = await twoCopies()
  const session = await here.open("s")
  const order: string[] = []
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  let goOn = (): void => undefined
  const gone = new Promise<void>((resolve) => (goOn = resolve))
  const turn = session.turn(async () => {
    await session.append(said("question"))
    begin()
    await gone
    await session.append({ type: "message", message: { role: "assistant", content: "answer" } })
    order.push("turn")
  })
  await begun
  const merging = here.merge("s", b).then(() => order.push("merged"))
  goOn()
  await Promise.all([turn, merging])
  expect(order).toEqual(["turn", "merged"])
  expect(await codeOf(session.turn(async () => void (await here.merge("s", b))))).toBe("invalid")
  await session.close()
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})

test("logs of version 3 on both sides are migrated and merged", async () => {
  const lines = [
    { type: "session", version: 3, id: "s", timestamp: "2026-01-31T09:30:00.000Z", cwd: "/" },
    {
      type: "message",
      id: "a",
      parentId: null,
      timestamp: "2026-01-31T09:30:01.000Z",
      message: { role: "user", content: "hi" },
    },
  ].map((record) => JSON.stringify(record))
  const [a, b] = [storeNamed("a"), storeNamed("b")]
  for (const storage of [a, b]) await storage.append("s", lines, { expect: 0 })
  await add(sessionsIn(b), "migrated there")
  expect(await sessionsIn(a).merge("s", b)).toMatchObject({ sent: 0, received: 1 })
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})
