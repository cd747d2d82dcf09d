/** Values that are nested deeply: bodies of them are refused, and stored ones fail no answer and no list. */
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createStorageHandler } from "../../src/server.ts"
import { serve, until } from "./server.ts"

const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`
const TYPE = { "content-type": "application/json" }
const ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

test("a body of more than 200 levels is 413, at any depth, and nothing is stored", async () => {
  const { handler, sessions, errors } = serve({ maxBodyBytes: 1_000_000 })
  const create = (levels: number): Promise<Response> => {
    const body = `{"metadata":{"a":${nested(levels)}}}`
    return handler(new Request("http://host/sessions", { method: "POST", body, headers: TYPE }))
  }
  expect((await create(198)).status).toBe(201)
  for (const levels of [199, 6_000, 200_000]) {
    const answer = await create(levels)
    expect([answer.status, (await answer.json()).error.code]).toEqual([413, "too_large"])
  }
  expect((await sessions.list()).sessions).toHaveLength(1)
  expect(errors).toEqual([])
})

test("a document of more than 200 levels is 413 over HTTP", async () => {
  const handler = createStorageHandler({ authorize: () => "me", storage: () => createMemoryStorage() })
  const put = async (text: string): Promise<number> => {
    const body = JSON.stringify({ from: null, to: text })
    return (await handler(new Request("http://host/docs/a", { method: "PUT", body, headers: TYPE }))).status
  }
  expect([await put(nested(201)), await put(nested(200))]).toEqual([413, 200])
})

test("what another program has stored deeper is listed, loaded and sent with a text in its place", async () => {
  const storage = createMemoryStorage()
  const timestamp = "2026-01-31T09:30:00.000Z"
  const lines = [
    `{"type":"session","format":"@sessions","version":4,"id":"${ID}","timestamp":"${timestamp}"}`,
    `{"type":"metadata","id":"a","parentId":null,"seq":1,"timestamp":"${timestamp}","key":"k","value":${nested(20_000)}}`,
    `{"type":"message","id":"b","parentId":"a","seq":2,"timestamp":"${timestamp}","message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"t","arguments":{"a":${nested(20_000)}}}]}}`,
  ]
  await storage.append(ID, lines, { expect: 0 })
  const { client, call, errors } = serve({ storage })
  expect((await client.list()).sessions[0]?.metadata).toEqual({ k: "(nested too deeply)" })
  const { messages } = await client.load(ID)
  expect(JSON.stringify(messages)).toContain('"[[[')
  expect((await call("GET", `/sessions/${ID}/context`)).status).toBe(200)
  const stop = new AbortController()
  const after = `${(await storage.head(ID))?.log}.1.-`
  const events = client.events(ID, { signal: stop.signal, after })
  const seen = await until(events, ({ event }) => event === "appended")
  stop.abort()
  expect(JSON.stringify(seen.at(-1)?.data)).toContain('"[[[')
  expect(errors).toEqual([])
})
