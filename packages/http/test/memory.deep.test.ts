/** What requests leave in the memory of a server: about the bytes of what they sent while they are there, and next to nothing afterwards. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import type { SessionEvent } from "@sessions/http/client"
import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { createStorageHandler, type Handler } from "../src/server.ts"
import { endOf, eventually, newId, say, serve } from "./sessions/server.ts"

const MB = 1_000_000
const isNode = !("Bun" in globalThis) && !("Deno" in globalThis)

/** Bytes of the heap and of buffers, after a collection. */
function used(): number {
  setFlagsFromString("--expose-gc")
  const collect = runInNewContext("gc") as () => void
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** What stays in memory of `count` calls, by which everything that is made once is there. */
async function left(count: number, call: (n: number) => Promise<Response>): Promise<number> {
  const send = async (n: number): Promise<void> => void (await (await call(n)).arrayBuffer())
  await send(0)
  const before = used()
  for (let n = 1; n <= count; n++) await send(n)
  return used() - before
}

async function stored(): Promise<Handler> {
  const storage = createMemoryStorage()
  await storage.append("a", ["1"], { expect: 0 })
  return createStorageHandler({ authorize: () => "me", storage: () => storage })
}

const text = (n: number): string => `${n}${"x".repeat(MB)}`

// Other engines do not say what is in use.
describe.runIf(isNode)("a server keeps no bodies", () => {
  test("of appends that it has refused", async () => {
    const handler = await stored()
    const append = (n: number): Promise<Response> =>
      handler(
        new Request("http://host/sessions/a/lines", {
          method: "POST",
          body: `{"expect":{"next":1,"log":"other"},"lines":1}\n${text(n)}\n`,
          headers: { "content-type": "application/x-ndjson", "idempotency-key": `${n}` },
        }),
      )
    expect((await append(-1)).status).toBe(409)
    expect(await left(8, append)).toBeLessThan(3 * MB)
  })

  test("of changes of documents that it has refused", async () => {
    const handler = await stored()
    const change = (n: number): Promise<Response> =>
      handler(
        new Request("http://host/docs/d", {
          method: "PUT",
          body: JSON.stringify({ from: "other", to: text(n) }),
          headers: { "content-type": "application/json", "idempotency-key": `${n}` },
        }),
      )
    expect((await change(-1)).status).toBe(409)
    expect(await left(8, change)).toBeLessThan(3 * MB)
  })

  test("of sessions that were deleted since", async () => {
    const { call } = serve()
    const create = async (n: number): Promise<Response> => {
      const body = { metadata: { a: text(n).slice(0, 90_000) } }
      const { id } = (await (await call("POST", "/sessions", body, { "idempotency-key": `${n}` })).json()) as {
        id: string
      }
      return call("DELETE", `/sessions/${id}`)
    }
    expect(await left(60, create)).toBeLessThan(3 * MB)
  })
})

test.runIf(isNode)("a body in pieces of one byte takes the memory of its bytes", async () => {
  const handler = await stored()
  const count = 50_000
  const before = used()
  let most = 0
  let sent = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (sent++ < count) return controller.enqueue(Uint8Array.of(120))
      most = used() - before
      controller.close()
    },
  })
  const headers = { "content-type": "application/octet-stream" }
  const init: RequestInit & { duplex: "half" } = { method: "PUT", body, headers, duplex: "half" }
  expect((await handler(new Request(`http://host/blobs/${"0".repeat(64)}`, init))).status).toBe(400)
  expect(most).toBeLessThan(40 * count)
})

test("a page has 4 MB of lines at most, whatever was asked for", async () => {
  const storage = createMemoryStorage()
  const handler = createStorageHandler({ authorize: () => "me", storage: () => storage })
  await storage.append(
    "a",
    Array.from({ length: 20 }, (_, n) => text(n)),
    { expect: 0 },
  )
  for (const range of ["", "&before=20&maxBytes=20000000"]) {
    const url = `http://host/sessions/a/lines?pageBytes=${Number.MAX_SAFE_INTEGER}${range}`
    const page = await (await handler(new Request(url))).arrayBuffer()
    expect(page.byteLength).toBeLessThan(6 * MB)
    expect(page.byteLength).toBeGreaterThan(3 * MB)
  }
})

test("the id of a write has 256 characters at most", async () => {
  const handler = await stored()
  const statusOf = async (id: string): Promise<number> => {
    const init = { method: "DELETE", headers: { "idempotency-key": id } }
    return (await handler(new Request("http://host/sessions/b", init))).status
  }
  expect(await statusOf("a".repeat(256))).toBe(200)
  expect(await statusOf("a".repeat(257))).toBe(400)
})

describe.runIf(isNode)(
  "a client that takes its events at once costs at most 32 MB, however long the session becomes",
  () => {
    const SIZE = 200_000
    const COUNT = 180

    test.each(["another server", "this server"])("by entries of %s", async (writer) => {
      const root = mkdtempSync(join(tmpdir(), "sessions-follower-"))
      const { client, handler, sessions } = serve({
        storage: createFileStorage({ root }),
        run: async ({ session }) => {
          for (let n = 0; n < COUNT; n++) await say(session, "x".repeat(SIZE))
        },
      })
      try {
        const { id } = await client.create()
        const events = client.events(id)[Symbol.asyncIterator]()
        await events.next()
        // An open session keeps what it has appended, so each round has its own.
        const write = async (): Promise<void> => {
          const other = await createSessions({ storage: createFileStorage({ root }) }).open(id)
          const entry = { type: "custom", customType: "t:n", data: "x".repeat(SIZE) } as const
          for (let n = 0; n < COUNT; n++) await other.append(entry)
          await other.append({ type: "title_change", title: "end", source: "user" })
          await other.close()
        }
        const wasUsed = used()
        for (let round = 0; round < 4; round++) {
          const turn = newId()
          if (writer === "this server") await client.prompt(id, { id: turn, text: "go" })
          else await write()
          const isLast = (event: SessionEvent): boolean =>
            writer === "this server"
              ? endOf(turn)(event)
              : event.event === "appended" && event.data.entries.some(({ type }) => type === "title_change")
          for (let event = await events.next(); !isLast(event.value as SessionEvent); event = await events.next());
        }
        await eventually(() => expect(used() - wasUsed).toBeLessThan(32 * MB))
        await events.return?.()
      } finally {
        await handler.close()
        await sessions.close()
        rmSync(root, { recursive: true, force: true })
      }
    })
  },
)
