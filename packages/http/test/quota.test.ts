/** How many sessions and bytes a principal may have: counted, refused with 507, and given back. */
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { copySession, forkSession, importSession } from "@sessions/core/transfer"
import { createHttpStorage } from "@sessions/http/client"
import { createMemoryStorage } from "@sessions/memory"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { createStorageHandler, type TenantLimits } from "../src/server.ts"
import { newId, serve } from "./sessions/server.ts"

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterEach(() => void vi.useRealTimers())

/** Nothing is counted twice in less. */
const WHILE_MS = 6_000

const later = (): void => void vi.setSystemTime(Date.now() + WHILE_MS)
const message = (content: string) => ({ type: "message", message: { role: "user", content } }) as const
const QUOTA = { code: "quota" }

async function bytesIn(storage: SessionStorage): Promise<number> {
  let bytes = 0
  for await (const row of storage.list()) bytes += row.error === undefined ? row.bytes : 0
  for await (const blob of storage.blobs.list()) bytes += blob.bytes
  for await (const key of storage.docs.list()) bytes += (await storage.docs.get(key))?.text.length ?? 0
  return bytes
}

describe("a storage over HTTP", () => {
  function over(limits: TenantLimits) {
    const storage = createMemoryStorage()
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const handler = createStorageHandler({ authorize: () => "me", storage: () => storage, limits, onError })
    const remote = createHttpStorage({
      url: "http://host",
      capabilities: { ...storage.capabilities, writers: "any", replace: false },
      fetch: (url, init) => handler(new Request(url, init)),
    })
    return { storage, remote, sessions: createSessions({ storage: remote }), errors }
  }

  test("takes no more sessions than it may have by create, import, copy and fork; a deletion makes room", async () => {
    const { sessions, storage, errors } = over({ sessions: 2 })
    const local = createSessions({ storage: createMemoryStorage() })
    const { id } = await local.create()
    await sessions.create({ id: "a" })
    await copySession(local, id, sessions.storage)
    const calls = [
      () => sessions.create(),
      () => forkSession(sessions, "a"),
      () =>
        importSession(
          sessions,
          `{"type":"session","format":"@sessions","version":4,"id":"x","timestamp":"${new Date().toISOString()}"}\n`,
        ),
      async () => copySession(local, (await local.create()).id, sessions.storage),
    ]
    for (const call of calls) await expect(call()).rejects.toMatchObject(QUOTA)
    // What there is goes on.
    await (await sessions.open("a")).append(message("goes on"))
    for (const call of calls) {
      let last = ""
      for await (const row of storage.list()) if (row.id !== "a") last = row.id
      await sessions.delete(last)
      await call()
      await expect(sessions.create()).rejects.toMatchObject(QUOTA)
    }
    expect(errors).toEqual([])
  })

  test("takes bytes of lines, blobs and documents up to the limit, and never more", async () => {
    const bytes = 20_000
    const { sessions, storage, remote } = over({ bytes })
    const session = await sessions.create()
    const writes = [
      () => session.append(message("x".repeat(900))),
      () => remote.blobs.put(new TextEncoder().encode(`${"y".repeat(900)}${newId()}`)),
      () => remote.docs.put(`d${newId()}`, "z".repeat(900), { expect: null }),
    ]
    let taken = 0
    for (let n = 0; n < 60; n++) {
      const write = writes[n % 3] as () => Promise<unknown>
      const isTaken = await write().then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject(QUOTA)
          return false
        },
      )
      taken += isTaken ? 1 : 0
      expect(await bytesIn(storage)).toBeLessThanOrEqual(bytes)
    }
    expect(taken).toBeGreaterThan(14)
    await expect(session.append(message("x".repeat(2_000)))).rejects.toMatchObject(QUOTA)
    for await (const { hash } of remote.blobs.list()) await remote.blobs.delete(hash)
    await session.append(message("x".repeat(2_000)))
  })

  test("takes writes at once no further than one after the other", async () => {
    const { remote, storage } = over({ bytes: 5_000 })
    const puts = Array.from({ length: 20 }, (_, n) =>
      remote.blobs.put(new TextEncoder().encode(`${n}`.padEnd(1_000, "-"))),
    )
    const outcomes = await Promise.allSettled(puts)
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(5)
    expect(await bytesIn(storage)).toBe(5_000)
    // Bytes that are there need no room.
    const stored = outcomes.findIndex(({ status }) => status === "fulfilled")
    await remote.blobs.put(new TextEncoder().encode(`${stored}`.padEnd(1_000, "-")))
  })

  test("counts what others have deleted before it refuses", async () => {
    const { sessions, storage } = over({ sessions: 1 })
    const { id } = await sessions.create()
    await storage.delete(id)
    await expect(sessions.create()).rejects.toMatchObject(QUOTA)
    later()
    expect((await sessions.create()).head?.next).toBe(1)
  })
})

describe("the session API", () => {
  test("refuses a further session, and is told of room by a deletion", async () => {
    const { client, call, errors } = serve({ limits: { sessions: 1 } })
    const { id } = await client.create()
    const refused = await call("POST", "/sessions", {})
    expect([refused.status, (await refused.json()).error.code]).toEqual([507, "quota"])
    expect(refused.headers.get("retry-after")).toBeNull()
    await client.delete(id)
    await client.create()
    expect(errors).toEqual([])
  })

  test("refuses sessions, prompts and names when the agent has used the bytes; a prompt that is sent again is none", async () => {
    const { client, call, sessions } = serve({ limits: { bytes: 5_000 }, background: false })
    const { id } = await client.create()
    const prompt = { id: newId(), text: "one" }
    await client.prompt(id, prompt)
    const session = await sessions.open(id)
    await session.append(message("x".repeat(5_000)))
    later()
    expect((await call("POST", "/sessions", {})).status).toBe(507)
    expect((await call("PATCH", `/sessions/${id}`, { title: "t" })).status).toBe(507)
    expect((await call("POST", `/sessions/${id}/prompts`, { id: newId(), text: "two" })).status).toBe(507)
    expect((await call("POST", `/sessions/${id}/prompts`, prompt)).status).toBe(200)
    expect((await client.load(id)).messages).toHaveLength(1)
  })
})
