import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { createSessions } from "@sessions/core"
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
function send(port: number, path: string, headers: Record<string, string>, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent: false, host: "127.0.0.1", port, path, headers, method }, (response) => {
      let text = ""
      response.setEncoding("utf8").on("data", (part: string) => (text += part))
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on("error", reject).end()
  })
}

interface Started {
  readonly id: string
  readonly port: number
  readonly token: string
  readonly stop: () => Promise<number>
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
  for (const method of ["POST", "DELETE", "PUT"])
    expect((await send(port, "/api/sessions", { host: own, authorization }, method)).status).toBe(405)
  expect((await send(port, "/api/sessions", { host: own, authorization })).status).toBe(200)
  await stop()
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
