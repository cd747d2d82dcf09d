import { createMemoryStorage } from "@sessions/memory"
import { ulidAt } from "@sessions/core/format"
import { copySession, forkSession, mergeSession, verifySession } from "../index.ts"
import { expect, test } from "vitest"
import { entriesIn, type Fuse, seenIn, storeNamed } from "../../../test/merge-stores.ts"
import { codeOf, linesIn, sessionsIn, smallBatches } from "../../../test/transfer.ts"
import { createSessions } from "../../session/repository.ts"
import type { Sessions } from "../../session/repository-types.ts"
import type { SessionStorage } from "../../storage/contract.ts"

const said = (text: string) => ({ type: "message", message: { role: "user", content: text } }) as const

/** Two storages with the same session, and repositories on them. */
async function twoCopies(o: { now?: () => number; fuse?: Fuse } = {}) {
  const a = storeNamed("a", o.fuse)
  const b = storeNamed("b", o.fuse)
  const [here, there] = [sessionsIn(a, o.now === undefined ? {} : { now: o.now }), sessionsIn(b)]
  const session = await here.create({ id: "s" })
  const { ids } = await session.append(said("first"))
  await session.close()
  await mergeSession(here, "s", b)
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

test("the hook `merge` runs if entries came, or may have, and `save` does not", async () => {
  const fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives: true }
  const { a, b, there } = await twoCopies({ fuse })
  const ran: string[] = []
  const note = (name: string) => (about: { readonly session: string }) => void ran.push(`${name} ${about.session}`)
  const sessions = sessionsIn(a, { hooks: { merge: note("merge"), save: note("save") } })
  await mergeSession(sessions, "s", b)
  expect(ran).toEqual([])
  await add(there, "more")
  await mergeSession(sessions, "s", b)
  expect(ran).toEqual(["merge s"])
  await add(there, "and more")
  fuse.left = 1
  expect(await codeOf(mergeSession(sessions, "s", b))).toBe("closed")
  expect(ran).toEqual(["merge s", "merge s"])
})

test("a session that is missing in the other storage is copied; a second merge writes nothing", async () => {
  const { a, b, here } = await twoCopies()
  expect(await linesIn(b, "s")).toEqual(await linesIn(a, "s"))
  const before = [await linesIn(a, "s"), await linesIn(b, "s")]
  expect(await mergeSession(here, "s", b)).toMatchObject({
    sent: 0,
    received: 0,
    differing: [],
    openTips: { tips: [] },
  })
  expect([await linesIn(a, "s"), await linesIn(b, "s")]).toEqual(before)
})

test("turns of both sides are on both afterwards, the later one is continued, and the other is an open tip on both", async () => {
  const { a, b, here, there } = await twoCopies({ now: () => Date.now() - 1_000 })
  const one = await add(here, "from here")
  const other = await add(there, "from there")
  const result = await mergeSession(here, "s", b)
  expect(result).toMatchObject({ sent: 1, received: 1, leaf: other, openTips: { tips: [{ id: one }] }, differing: [] })
  for (const sessions of [here, there]) {
    expect(await texts(sessions)).toEqual(["first", "from there"])
    const session = await sessions.open("s")
    expect((await session.info()).openTips?.tips).toMatchObject([{ id: one }])
    await session.close()
    expect(await verifySession(sessions, "s")).toMatchObject({ damaged: false })
  }
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})

test("a merge that is killed after any write is completed by the next", async () => {
  for (const arrives of [true, false]) {
    for (let kill = 1; kill < 12; kill++) {
      const fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives }
      const { a, b, here, there } = await twoCopies({ fuse })
      for (let n = 0; n < 3; n++) await add(here, `here ${n}`)
      for (let n = 0; n < 3; n++) await add(there, `there ${n}`)
      fuse.left = kill
      const outcome = await mergeSession(here, "s", b).catch((error: { code?: string }) => error.code)
      fuse.left = Number.POSITIVE_INFINITY
      if (typeof outcome === "string") expect(outcome).toBe("closed")
      await mergeSession(sessionsIn(a), "s", b)
      expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
      expect((await entriesIn(a, "s")).filter(({ type }) => type === "message")).toHaveLength(7)
      expect(await mergeSession(sessionsIn(a), "s", b)).toMatchObject({ sent: 0, received: 0 })
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
  await mergeSession(here, "s", b)
  const merged = await there.open("s")
  const { messages } = await merged.context()
  expect(messages.at(-1)?.message.content).toEqual([{ type: "image", mimeType: "image/png", data }])
  await merged.close()
})

test("a session that was deleted in the other storage is not brought back; one that is missing here is not found", async () => {
  const { b, here, there } = await twoCopies()
  await there.delete("s")
  expect(await codeOf(mergeSession(here, "s", b))).toBe("not_found")
  expect(await b.head("s")).toBeUndefined()
  expect(await codeOf(mergeSession(there, "s", createMemoryStorage()))).toBe("not_found")
  await copySession(here, "s", b)
  expect(await mergeSession(here, "s", b)).toMatchObject({ sent: 0, received: 0 })
})

test("another session under the same id is `exists`, and neither is changed", async () => {
  const { a, here } = await twoCopies()
  const other = storeNamed("other")
  const session = await sessionsIn(other, { now: () => 1 }).create({ id: "s" })
  await session.append(said("another"))
  await session.close()
  const before = [await linesIn(a, "s"), await linesIn(other, "s")]
  expect(await codeOf(mergeSession(here, "s", other))).toBe("exists")
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
  expect(await mergeSession(here, "s", changed)).toMatchObject({ sent: 1, received: 0, differing: [first] })
  expect(JSON.stringify(await linesIn(changed, "s"))).toContain("changed")
  expect(JSON.stringify(await linesIn(a, "s"))).toContain("first")
  expect(await mergeSession(here, "s", changed)).toMatchObject({ sent: 0, differing: [first] })
})

test("an id that is twice in a log, and a parent that is missing, are `corrupt` before anything is written", async () => {
  const { a, b, here } = await twoCopies()
  await add(here, "more")
  const [header = "", line = ""] = await linesIn(b, "s")
  for (const bad of [line, line.replace(/"id":"\w+"/, '"id":"x"').replace('"parentId":null', '"parentId":"gone"')]) {
    const damaged = storeNamed("damaged")
    await damaged.append("s", [header, line, bad], { expect: 0 })
    const before = await linesIn(a, "s")
    expect(await codeOf(mergeSession(here, "s", damaged))).toBe("corrupt")
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
  await mergeSession(here, "s", small)
  await add(sessionsIn(small), "there")
  await add(here, "x".repeat(2_000))
  const before = [await linesIn(a, "s"), await linesIn(small, "s")]
  expect(await codeOf(mergeSession(here, "s", small))).toBe("too_large")
  expect([await linesIn(a, "s"), await linesIn(small, "s")]).toEqual(before)
})

test("a merge in small batches writes every entry once", async () => {
  const { a, here } = await twoCopies()
  const small = storeNamed(
    "small",
    undefined,
    createMemoryStorage({ limits: { maxLineBytes: 1_000, maxBatchBytes: 1_001 } }),
  )
  await mergeSession(here, "s", small)
  for (let n = 0; n < 8; n++) await add(here, `here ${n}`)
  await add(sessionsIn(small), "there")
  expect(await mergeSession(here, "s", small)).toMatchObject({ sent: 8, received: 1 })
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
  expect(await mergeSession(here, "s", busy)).toMatchObject({ sent: 1, received: 1 })
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})

test("a session that another merge creates or continues in the other storage meanwhile is merged too", async () => {
  const { b, here, there } = await twoCopies()
  await add(here, `here ${"x".repeat(600)}`)
  await add(there, `there ${"y".repeat(600)}`)
  for (const batches of [createMemoryStorage(), smallBatches()])
    for (const nth of [1, 2]) {
      const other = storeNamed(`other ${nth} of ${batches.description}`, undefined, batches)
      await other.delete("s")
      let appends = 0
      const busy: SessionStorage = {
        ...other,
        async append(id, lines, o) {
          if (++appends === nth) await mergeSession(there, "s", other)
          return other.append(id, lines, o)
        },
      }
      await mergeSession(here, "s", busy)
      await mergeSession(here, "s", b)
      await mergeSession(there, "s", other)
      expect(await seenIn(other, "s")).toEqual(await seenIn(b, "s"))
    }
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
  const merging = mergeSession(here, "s", b).then(() => order.push("merged"))
  goOn()
  await Promise.all([turn, merging])
  expect(order).toEqual(["turn", "merged"])
  expect(await codeOf(session.turn(async () => void (await mergeSession(here, "s", b))))).toBe("invalid")
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
  expect(await mergeSession(sessionsIn(a), "s", b)).toMatchObject({ sent: 0, received: 1 })
  expect(await seenIn(a, "s")).toEqual(await seenIn(b, "s"))
})

test("a merge completes an interrupted copy on either side, also with its lines that are no entries", async () => {
  for (const side of ["here", "there"]) {
    const fuse: Fuse = { left: Number.POSITIVE_INFINITY, arrives: true }
    const whole = storeNamed("whole")
    const part = storeNamed("part", fuse, smallBatches())
    const session = await sessionsIn(whole).create({ id: "s" })
    const { head } = await session.append([said("x".repeat(600)), said("y".repeat(600))])
    await session.close()
    await whole.append("s", ["no entry"], { expect: head })
    await add(sessionsIn(whole), "z".repeat(600))
    fuse.left = 1
    expect(await codeOf(copySession(sessionsIn(whole), "s", part))).toBe("closed")
    fuse.left = Number.POSITIVE_INFINITY
    const merged =
      side === "here" ? mergeSession(sessionsIn(part), "s", whole) : mergeSession(sessionsIn(whole), "s", part)
    expect(await merged).toMatchObject(side === "here" ? { sent: 0, received: 3 } : { sent: 3, received: 0 })
    expect((await linesIn(part, "s")).slice(1)).toEqual((await linesIn(whole, "s")).slice(1))
    expect((await sessionsIn(part).info("s")).incomplete).toBeUndefined()
  }
})

test("a blob that is missing is reported once, also if the session is copied or another writer appends meanwhile", async () => {
  const { a, b, here, there } = await twoCopies()
  const data = btoa("bytes of an image ".repeat(100))
  const image = { type: "image", mimeType: "image/png", data } as const
  const session = await here.open("s")
  await session.append({ type: "message", message: { role: "user", content: [image] } })
  await session.close()
  for await (const { hash } of a.blobs.list()) await a.blobs.delete(hash)
  const found = { diagnostics: [expect.objectContaining({ code: "missing_blob" })] }
  expect(await mergeSession(here, "s", storeNamed("copied"))).toMatchObject(found)
  let isFirst = true
  const busy: SessionStorage = {
    ...a,
    async append(id, lines, o) {
      const appends = isFirst
      isFirst = false
      if (appends) await add(here, "meanwhile")
      return a.append(id, lines, o)
    },
  }
  await add(there, "there")
  expect(await mergeSession(sessionsIn(busy), "s", b)).toMatchObject({ ...found, sent: 2 })
})

/** A storage that counts how often line 0 of a log is read, and how many lines are. */
function counting(storage: SessionStorage): SessionStorage & { readonly counted: { headers: number; lines: number } } {
  const counted = { headers: 0, lines: 0 }
  return {
    ...storage,
    counted,
    async head(id, o) {
      const head = await storage.head(id, o)
      if (head?.first !== undefined) counted.headers++
      return head
    },
    async *read(id, range, o) {
      for await (const chunk of storage.read(id, range, o)) {
        if (range !== undefined && "to" in range && range.to === 1) counted.headers++
        counted.lines += chunk.lines.length
        yield chunk
      }
    },
  }
}

test("a merge reads each header once, and only the heads if nothing has changed", async () => {
  const { a, b, there } = await twoCopies()
  await add(there, "more")
  const [here, other] = [counting(a), counting(b)]
  await mergeSession(sessionsIn(here), "s", other)
  expect([here.counted.headers, other.counted.headers]).toEqual([1, 1])
  const before = here.counted.lines + other.counted.lines
  await mergeSession(sessionsIn(here), "s", other)
  expect([here.counted.headers, other.counted.headers]).toEqual([1, 1])
  expect(here.counted.lines + other.counted.lines).toBe(before)
})

test("two storages in memory have different descriptions, so that each is known as what it is", async () => {
  const [one, other] = [createMemoryStorage(), createMemoryStorage()]
  const here = createSessions({ storage: createMemoryStorage() })
  const session = await here.create({ id: "s" })
  await session.append(said("first"))
  await session.close()
  await mergeSession(here, "s", one)
  // With one description for both, the session would count as deleted there.
  expect(await mergeSession(here, "s", other)).toMatchObject({ sent: 1 })
  expect(await linesIn(other, "s")).toEqual(await linesIn(one, "s"))
})

test("a storage whose description every object has as a key was not merged with before", async () => {
  const { here } = await twoCopies()
  for (const description of ["toString", "__proto__"])
    expect(await mergeSession(here, "s", storeNamed(description))).toMatchObject({ sent: 1 })
})

test("every difference of content is named, whatever the order of the lines and the keys", async () => {
  const { b, here, there } = await twoCopies()
  const ids: string[] = []
  for (let n = 0; n < 4; n++) ids.push(await add(n % 2 === 0 ? here : there, `text ${n}`))
  await mergeSession(here, "s", b)
  const [header = "", ...lines] = await linesIn(b, "s")
  const changed = storeNamed("changed")
  const edited = lines.map((line) => {
    if (line.includes("text 1")) return line.replace("text 1", "text I")
    if (line.includes("text 2")) return line.replace('"role":"user",', "").replace(/"message":\{/, '$&"role":"user",')
    return line.includes("text 3") ? line.replace("}}", '},"acme":1}') : line
  })
  await changed.append("s", [header, ...edited], { expect: 0 })
  const { differing } = await mergeSession(here, "s", changed)
  expect(new Set(differing)).toEqual(new Set([ids[1], ids[3]]))
})

test("an id is found before older entries that a merge has put behind it, and they are no difference", async () => {
  const DAY = 24 * 60 * 60 * 1000
  const now = Date.now()
  const { a, b, here } = await twoCopies({ now: () => now })
  const offline = await createSessions({ storage: b, now: () => now - 3 * DAY }).open("s")
  for (let n = 0; n < 300; n++) await offline.append(said("-".repeat(1_000)))
  await offline.close()
  const pay = { ...said("pay"), id: ulidAt(now, 1) }
  const session = await here.open("s")
  await session.append(pay)
  await session.close()
  expect(await mergeSession(here, "s", b)).toMatchObject({ received: 300, sent: 1 })
  const cold = await createSessions({ storage: a, now: () => now }).open("s")
  await cold.append(pay)
  expect(await codeOf(cold.append({ ...pay, ...said("other") }))).toBe("exists")
  await cold.close()
  expect((await entriesIn(a, "s")).filter(({ id }) => id === pay.id)).toHaveLength(1)
  const fromOffline = (await entriesIn(a, "s")).filter(({ writtenAt }) => writtenAt === new Date(now).toISOString())
  expect(fromOffline).toHaveLength(300)
  // The document that records the last merge is gone, so the logs are compared.
  const key = "sessions/s/merged"
  await a.docs.delete(key, { expect: (await a.docs.get(key))?.version ?? "" })
  expect(await mergeSession(here, "s", b)).toMatchObject({ received: 0, sent: 0, differing: [] })
})

test("a field of an own type that has the name of a hint is content", async () => {
  const { a, b, here } = await twoCopies()
  const session = await here.open("s")
  await session.append({ type: "acme:note", id: "n", targetSeq: 7, firstKeptSeq: "x" })
  await session.close()
  await mergeSession(here, "s", b)
  expect((await linesIn(b, "s")).at(-1)).toBe((await linesIn(a, "s")).at(-1))
  const changed = storeNamed("changed")
  const lines = (await linesIn(a, "s")).map((line) => line.replace('"targetSeq":7', '"targetSeq":8'))
  await changed.append("s", lines, { expect: 0 })
  expect(await mergeSession(here, "s", changed)).toMatchObject({ sent: 0, differing: ["n"] })
})

test("two texts with one FNV-1a of 53 bits are different texts", async () => {
  const time = "2026-01-31T09:30:01.000Z"
  const [a, b] = ["bzjrhg", "kapjti"].map((content) => {
    const header = { type: "session", format: "@sessions", version: 4, id: "s", timestamp: time }
    const place = { type: "message", id: "e1", parentId: null, seq: 1, timestamp: time }
    const lines = [header, { ...place, message: { role: "user", content } }].map((line) => JSON.stringify(line))
    return { storage: storeNamed(content), lines }
  }) as [{ storage: SessionStorage; lines: string[] }, { storage: SessionStorage; lines: string[] }]
  for (const { storage, lines } of [a, b]) await storage.append("s", lines, { expect: 0 })
  expect(await mergeSession(sessionsIn(a.storage), "s", b.storage)).toMatchObject({ sent: 0, differing: ["e1"] })
})

test("a fork is merged as a session of its own, and goes on in both storages", async () => {
  const { a, b, here, there } = await twoCopies()
  const mine = await forkSession(here, "s", { id: "fork" })
  await mine.append(said("in the fork, here"))
  await mine.close()
  expect(await mergeSession(here, "fork", b)).toMatchObject({ received: 0, differing: [] })
  const theirs = await there.open("fork")
  expect(theirs.header.parentSession).toEqual(mine.header.parentSession)
  await theirs.append(said("in the fork, there"))
  await theirs.close()
  expect(await mergeSession(here, "fork", b)).toMatchObject({ sent: 0, received: 1 })
  expect(await mergeSession(here, "s", b)).toMatchObject({ sent: 0, received: 0 })
  for (const id of ["s", "fork"]) expect(await seenIn(a, id)).toEqual(await seenIn(b, id))
})

test("forks that both sides made under one id are two sessions", async () => {
  const { a, b } = await twoCopies()
  for (const [storage, time] of [[a, 1] as const, [b, 2] as const]) {
    await (await forkSession(sessionsIn(storage, { now: () => Date.UTC(2026, 1, time) }), "s", { id: "fork" })).close()
  }
  const before = [await linesIn(a, "fork"), await linesIn(b, "fork")]
  expect(await codeOf(mergeSession(sessionsIn(a), "fork", b))).toBe("exists")
  expect([await linesIn(a, "fork"), await linesIn(b, "fork")]).toEqual(before)
})

test("forks that each side made of a merged session stay where they are until they are merged themselves", async () => {
  const { a, b, here, there } = await twoCopies()
  await (await forkSession(here, "s", { id: "mine" })).close()
  await (await forkSession(there, "s", { id: "theirs" })).close()
  await mergeSession(here, "s", b)
  expect([await a.head("theirs"), await b.head("mine")]).toEqual([undefined, undefined])
  await mergeSession(here, "mine", b)
  await mergeSession(there, "theirs", a)
  for (const id of ["s", "mine", "theirs"]) expect(await seenIn(a, id)).toEqual(await seenIn(b, id))
})
