import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createSessions, type Sessions } from "@sessions/core"
import { createSessionClient, type SessionClient } from "@sessions/http/client"
import { createSessionHandler } from "@sessions/http/server"
import { captured } from "../../test/harness.ts"
import { makeSample, USER } from "../../test/sample.ts"
import { run, type StoreFactory } from "../index.ts"

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sessions-serve-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Answer {
  readonly status: number
  readonly text: string
}

/** Sends any Host, which `fetch` does not. */
function send(
  port: number,
  path: string,
  headers: Record<string, string>,
  method = "GET",
  body?: unknown,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent: false, host: "127.0.0.1", port, path, headers, method }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on("error", reject).end(body === undefined ? undefined : JSON.stringify(body))
  })
}

interface Started {
  readonly id: string
  readonly port: number
  readonly token: string
  /** Of the same store, as another program has them. */
  readonly sessions: Sessions
  readonly stop: () => Promise<number>
}

function clientOf(port: number, token: string): SessionClient {
  return createSessionClient({ url: `http://127.0.0.1:${port}`, headers: { authorization: `Bearer ${token}` } })
}

async function start(...options: string[]): Promise<Started> {
  const location = createMemoryLocation()
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const { id } = await makeSample(sessions)
  const store: StoreFactory = () => createMemoryStorage({ location })
  const stop = new AbortController()
  const { io } = captured({ cwd: folder })
  let print: (text: string) => void = () => undefined
  const printed = new Promise<string>((resolve) => (print = resolve))
  const stdout = { ...io.stdout, write: async (text: string) => print(text) }
  const ended = run(["serve", "--store", "mem:", ...options], { ...io, stdout, signal: stop.signal }, { mem: store })
  const url = new URL(await Promise.race([printed, ended.then((exit) => `http://ended/${exit}`)]))
  return {
    id,
    sessions,
    port: Number(url.port),
    token: url.hash.slice("#token=".length),
    stop() {
      stop.abort()
      return ended
    },
  }
}

test("serve prints an address with a new token, answers with it alone, and ends on an interrupt", async () => {
  const { id, port, token, stop } = await start()
  expect(token).toMatch(/^[\w-]{32}$/)
  const host = `127.0.0.1:${port}`
  const authorization = `Bearer ${token}`
  const answer = await send(port, `/api/sessions/${id}`, { host, authorization })
  expect([answer.status, answer.text.includes(USER)]).toEqual([200, true])
  expect((await send(port, `/api/sessions/${id}`, { host })).status).toBe(401)
  expect((await send(port, "/", { host })).text.startsWith("<!doctype html>")).toBe(true)
  expect(await stop()).toBe(0)
  await expect(send(port, "/", { host })).rejects.toThrow(/ECONNREFUSED/)
})

test("serve refuses a Host that is not its own, an Origin that is not its own, and every method that writes", async () => {
  const { port, token, stop } = await start()
  const authorization = `Bearer ${token}`
  const own = `127.0.0.1:${port}`
  for (const host of [`evil.example:${port}`, "evil.example", `x@${own}`])
    expect([403, 400]).toContain((await send(port, "/api/sessions", { host, authorization })).status)
  expect((await send(port, "/api/sessions", { host: own, authorization, origin: "http://evil.example" })).status).toBe(
    403,
  )
  for (const method of ["POST", "DELETE", "PUT", "PATCH"])
    for (const path of ["/api/sessions", "/api/sessions/x", "/sessions", "/sessions/x", "/sessions/x/prompts"]) {
      const { status, text } = await send(port, path, { host: own, authorization }, method)
      expect([method, path, status, text.includes("--write")]).toEqual([method, path, 405, true])
    }
  expect((await send(port, "/api/sessions", { host: own, authorization })).status).toBe(200)
  await stop()
})

test("serve has the session API: it reads with the token alone, and events come as they happen", async () => {
  const { id, port, token, stop, sessions } = await start()
  const host = `127.0.0.1:${port}`
  expect((await send(port, "/sessions", { host })).status).toBe(401)
  expect((await send(port, "/sessions", { host, authorization: `Bearer ${token}`, origin: "http://x.y" })).status).toBe(
    403,
  )
  const client = clientOf(port, token)
  expect((await client.list()).sessions.map((info) => info.id)).toEqual([id])
  const { messages, cursor } = await client.load(id)
  expect(JSON.stringify(messages)).toContain(USER)
  expect((await client.context(id)).tokens).toBeGreaterThan(0)
  const end = new AbortController()
  const appended: string[] = []
  for await (const { event, data } of client.events(id, { after: cursor, signal: end.signal })) {
    if (event === "state") {
      const session = await sessions.open(id)
      await session.append({ type: "message", message: { role: "user", content: "from another program" } })
      await session.close()
    } else if (event === "appended") {
      appended.push(JSON.stringify(data.entries))
      break
    }
  }
  end.abort()
  expect(appended.join("")).toContain("from another program")
  await expect(client.rename(id, "x")).rejects.toThrow(/--write/)
  expect(await stop()).toBe(0)
})

test("serve --write: the session API creates, renames and deletes, but takes no prompt; the page changes entries", async () => {
  const { id, port, token, stop, sessions } = await start("--write")
  const client = clientOf(port, token)
  expect((await client.rename(id, "A new name")).info.title).toBe("A new name")
  const made = await client.create({ title: "made" })
  await expect(client.prompt(made.id, { text: "hello" })).rejects.toThrow(/no agent/)
  expect((await client.load(made.id)).messages).toEqual([])
  const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}`, "content-type": "application/json" }
  const session = await sessions.open(id)
  const { entries } = await session.path({ limit: 1 })
  await session.close()
  const entry = entries[0]?.id
  expect((await send(port, `/api/sessions/${id}/label`, headers, "POST", { entry, label: "here" })).status).toBe(200)
  expect((await send(port, `/api/sessions/${id}`, headers)).text).toContain('"here"')
  const none = await send(port, `/api/sessions/${id}/compact`, headers, "POST", {})
  expect([none.status, none.text.includes("--summarizer")]).toEqual([501, true])
  expect((await client.delete(made.id)).id).toBe(made.id)
  expect((await send(port, `/api/sessions/${id}`, headers, "DELETE")).status).toBe(200)
  expect((await client.list()).sessions).toEqual([])
  await stop()
})

test("serve runs no prompt that waits for the agent of another server", async () => {
  const { id, port, token, stop, sessions } = await start("--write")
  const before = await sessions.storage.head(id)
  const waits = createSessionHandler({
    sessions: () => sessions,
    authorize: () => "other",
    background: false,
    run: () => Promise.reject(new Error("not here")),
  })
  const other = createSessionClient({ url: "http://other", fetch: (url, init) => waits(new Request(url, init)) })
  await other.prompt(id, { text: "for the agent" })
  const client = clientOf(port, token)
  await client.load(id)
  await client.context(id)
  for await (const { event, data } of client.events(id)) {
    expect([event, event === "state" && [data.running, data.queued.length]]).toEqual(["state", [undefined, 1]])
    break
  }
  expect(await sessions.storage.head(id)).toEqual(before)
  await waits.close()
  await stop()
})

test("--summarizer needs --write and a command", async () => {
  for (const options of [
    ["--summarizer", "cat"],
    ["--write", "--summarizer", " "],
  ]) {
    const { io, stderr } = captured({ cwd: folder })
    const store: StoreFactory = () => createMemoryStorage()
    expect(await run(["serve", "--store", "mem:", ...options], io, { mem: store })).toBe(2)
    expect(stderr()).toMatch(/--summarizer/)
  }
})

test("serve --token-file: the token of the file, which must be long enough", async () => {
  await writeFile(join(folder, "token"), "0123456789abcdef\n")
  const { port, token, stop } = await start("--token-file", "token")
  expect(token).toBe("0123456789abcdef")
  const headers = { host: `localhost:${port}`, authorization: `Bearer ${token}` }
  expect((await send(port, "/api/sessions", headers)).status).toBe(200)
  await stop()
  await writeFile(join(folder, "token"), "short\n")
  const { io, stderr } = captured({ cwd: folder })
  const store: StoreFactory = () => createMemoryStorage()
  expect(await run(["serve", "--store", "mem:", "--token-file", "token"], io, { mem: store })).toBe(2)
  expect(stderr()).toMatch(/at least 16/)
})

test("serve on a port that is in use says so", async () => {
  const { port, stop } = await start()
  const { io, stderr } = captured({ cwd: folder })
  const store: StoreFactory = () => createMemoryStorage()
  expect(await run(["serve", "--store", "mem:", "--port", String(port)], io, { mem: store })).toBe(1)
  expect(stderr()).toMatch(/in use; choose another one/)
  await stop()
})
