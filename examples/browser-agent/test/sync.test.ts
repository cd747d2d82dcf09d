/** What `syncSessions` decides, on storages in memory: two or three devices and a server. The page's own tests use it in a browser. */
import { createSessions, type Sessions } from "@sessions/core"
import { exportSession } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { syncSessions } from "../src/sessions/sync.ts"

function device(): Sessions {
  return createSessions({ storage: createMemoryStorage() })
}

async function say(sessions: Sessions, id: string | undefined, text: string): Promise<string> {
  const session = id === undefined ? await sessions.create() : await sessions.open(id)
  await session.append({ type: "message", message: { role: "user", content: text } })
  await session.close()
  return session.id
}

/** The texts of all messages, on all branches, by session. */
async function textsOf(sessions: Sessions): Promise<Record<string, readonly string[]>> {
  const all: Record<string, readonly string[]> = {}
  for await (const { id } of sessions.storage.list()) {
    const lines: string[] = []
    for await (const chunk of exportSession(sessions, id)) lines.push(...chunk.split("\n"))
    const said = lines
      .filter((line) => line !== "")
      .map((line) => (JSON.parse(line) as { message?: { content: { text: string }[] } }).message?.content[0]?.text)
    all[id] = said.filter((text) => text !== undefined).toSorted()
  }
  return all
}

test("both devices have what each wrote while it was offline, and a sync that finds nothing writes nothing", async () => {
  const [one, two, server] = [device(), device(), createMemoryStorage()]
  const id = await say(one, undefined, "first")
  await syncSessions(one, server)
  await syncSessions(two, server)
  await say(one, id, "of one")
  await say(two, id, "of two")
  const [ofOne, ofTwo] = [await say(one, undefined, "new of one"), await say(two, undefined, "new of two")]
  for (const sessions of [one, two, one]) expect((await syncSessions(sessions, server)).failed).toEqual([])
  const wanted = { [id]: ["first", "of one", "of two"], [ofOne]: ["new of one"], [ofTwo]: ["new of two"] }
  expect(await textsOf(one)).toEqual(wanted)
  expect(await textsOf(two)).toEqual(wanted)
  const before = [await one.storage.head(id), await server.head(id)]
  expect(await syncSessions(one, server)).toEqual({ changes: 0, failed: [] })
  expect([await one.storage.head(id), await server.head(id)]).toEqual(before)
})

test("a session that one device deleted is deleted on the other one, unless that has written to it since", async () => {
  const [one, two, server] = [device(), device(), createMemoryStorage()]
  const [gone, kept] = [await say(one, undefined, "a"), await say(one, undefined, "b")]
  await syncSessions(one, server)
  await syncSessions(two, server)
  await one.delete(gone)
  await one.delete(kept)
  await say(two, kept, "written offline")
  for (const sessions of [one, two, one, two]) await syncSessions(sessions, server)
  expect(await textsOf(one)).toEqual({ [kept]: ["b", "written offline"] })
  expect(await textsOf(two)).toEqual(await textsOf(one))
})

test("a session that was deleted here comes back if another device has written to it since", async () => {
  const [one, two, server] = [device(), device(), createMemoryStorage()]
  const id = await say(one, undefined, "a")
  await syncSessions(one, server)
  await syncSessions(two, server)
  await say(two, id, "newer")
  await syncSessions(two, server)
  await one.delete(id)
  await syncSessions(one, server)
  expect(await textsOf(one)).toEqual({ [id]: ["a", "newer"] })
})

test("a server whose storage is another one, or was emptied, deletes nothing here", async () => {
  const one = device()
  const id = await say(one, undefined, "a")
  await syncSessions(one, createMemoryStorage())
  const other = createMemoryStorage()
  await syncSessions(one, other)
  expect(await textsOf(one)).toEqual({ [id]: ["a"] })
  expect(await other.head(id)).toBeDefined()
})

test("a session that a side cannot read is named, and neither deleted nor in the way of the others", async () => {
  const [one, location] = [device(), createMemoryLocation()]
  const server = createMemoryStorage({ location })
  const [broken, other] = [await say(one, undefined, "a"), await say(one, undefined, "b")]
  await syncSessions(one, server)
  await say(one, other, "c")
  const error = Object.assign(new Error("damaged"), { code: "corrupt" })
  const damaged = {
    ...server,
    async *list() {
      for await (const row of server.list()) yield row.id === broken ? { id: broken, error: error as never } : row
    },
  }
  expect(await syncSessions(one, damaged)).toMatchObject({ failed: [{ id: broken, error }] })
  expect(await textsOf(one)).toEqual({ [broken]: ["a"], [other]: ["b", "c"] })
  expect((await server.head(broken))?.next).toBeGreaterThan(0)
})

test("three devices that write, delete and sync in any order end with the same sessions, and lose none that nobody deleted", async () => {
  const seed = Number(process.env["SEED"] ?? Date.now() % 100_000)
  let state = seed
  const random = (below: number): number => (state = (state * 48_271 + 11) % 2_147_483_647) % below
  for (let round = 0; round < 15; round++) {
    const devices = [device(), device(), device()]
    const server = createMemoryStorage()
    const said = new Map<string, string[]>()
    const deleted = new Set<string>()
    for (let step = 0; step < 25; step++) {
      const sessions = devices[random(3)] as Sessions
      const ids = Object.keys(await textsOf(sessions))
      const id = ids[random(Math.max(1, ids.length))]
      const act = random(6)
      if (act < 3) {
        const text = `${step}`
        const to = await say(sessions, act === 0 ? undefined : id, text)
        said.set(to, [...(said.get(to) ?? []), text].toSorted())
      } else if (act === 3 && id !== undefined && random(3) === 0) {
        await sessions.delete(id)
        deleted.add(id)
      } else await syncSessions(sessions, server)
    }
    for (let n = 0; n < 3; n++) for (const sessions of devices) await syncSessions(sessions, server)
    const [first, ...others] = await Promise.all(devices.map(textsOf))
    for (const other of others) expect(other, `SEED=${seed}`).toEqual(first)
    for (const [id, texts] of said) if (!deleted.has(id)) expect(first?.[id], `SEED=${seed}, ${id}`).toEqual(texts)
  }
})
