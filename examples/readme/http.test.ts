/** Runs the servers of docs/http.md on the runtime of this test, and the client of the page against each. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"
import { newFolder } from "./here.ts"

const text = readFileSync(new URL("../../docs/http.md", import.meta.url), "utf8")
const section = text.slice(text.indexOf("## The session API"))
const [handler = "", client = ""] = [...section.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code ?? "")
const hosts = [...section.matchAll(/^```js\n\/\/ (\w+)\.js\n([^]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}))

const isDeno = "Deno" in globalThis
const here = isDeno ? ["deno"] : "Bun" in globalThis ? ["bun"] : ["node", "hono"]
const { NODE_OPTIONS: _, ...env } = process.env

test("the page has a server for Node, Hono, Bun, Deno, Lambda and workers", () => {
  expect(hosts.map(({ name }) => name)).toEqual(["node", "hono", "bun", "deno", "lambda", "worker"])
})

/** Events of an HTTP API (payload format 2.0), in order; `ID` is the session that the first one has made. */
const EVENTS = [
  lambdaEvent("POST", "/sessions", { body: '{"title":"é"}' }),
  lambdaEvent("POST", "/sessions", { body: btoa('{"title":"encoded"}'), isBase64Encoded: true }),
  lambdaEvent("GET", "/sessions", { rawQueryString: "limit=1" }),
  lambdaEvent("GET", "/sessions/ID"),
  lambdaEvent("GET", "/sessions/ID/events", { rawQueryString: "wait=0" }),
  lambdaEvent("GET", "/sessions/..%2fID"),
  lambdaEvent("GET", "/sessions", { headers: { host: "api.example" } }),
]

test.runIf(here.includes("node"))("the function of Lambda answers the events of an HTTP API", () => {
  const answers = runProgram(
    "lambda",
    `import { handler } from "./lambda.ts"
let id = ""
const context = { awsRequestId: "1", callbackWaitsForEmptyEventLoop: false, functionName: "f" }
for (const event of ${JSON.stringify(EVENTS)}) {
  const answer = await handler({ ...event, rawPath: event.rawPath.replace("ID", id) }, context)
  if (id === "") id = JSON.parse(answer.body).id
  console.log(JSON.stringify(answer))
}
process.exit(0)`,
  ) as { statusCode: number; body: string; isBase64Encoded: boolean }[]
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 200, 200, 200, 400, 401])
  expect(answers.every(({ isBase64Encoded }) => !isBase64Encoded)).toBe(true)
  expect(JSON.parse(answers[0]?.body ?? "")).toMatchObject({ info: { title: "é" } })
  expect(JSON.parse(answers[2]?.body ?? "")).toMatchObject({ sessions: [{}], next: expect.any(String) as string })
  expect(JSON.parse(answers[3]?.body ?? "")).toMatchObject({ info: { title: "é" }, messages: [] })
})

test.runIf(here.includes("node"))(
  "the module of a worker answers on a storage elsewhere, gives its host what goes on after the answer, and sends events",
  () => {
    const [created, prompted, waited] = runProgram(
      "worker",
      `import { createServer } from "node:http"
import { createMemoryStorage } from "@sessions/memory"
import { toNodeListener } from "@sessions/http/node"
import { createStorageHandler } from "@sessions/http/server"
import worker from "./worker.ts"
const storage = createMemoryStorage()
const authorize = (request) => (request.headers.get("authorization") === "Bearer of-storage" ? "worker" : undefined)
const server = createServer(toNodeListener(createStorageHandler({ authorize, storage: () => storage })))
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
const bindings = { STORAGE_URL: "http://127.0.0.1:" + server.address().port, STORAGE_TOKEN: "of-storage", TOKEN: "7f3c9a" }
const headers = { authorization: "Bearer 7f3c9a", "content-type": "application/json" }
const waiting = []
const context = { waitUntil: (work) => void waiting.push(work) }
const get = (path) => worker.fetch(new Request("https://worker.example" + path, { headers }), bindings, context)
const post = async (path, body) => {
  const request = new Request("https://worker.example" + path, { method: "POST", headers, body: JSON.stringify(body) })
  const answer = await worker.fetch(request, bindings, context)
  const text = await answer.json()
  console.log(JSON.stringify({ status: answer.status }))
  return text
}
const { id } = await post("/sessions", {})
const streamed = (await get("/sessions/" + id + "/events")).body.getReader()
const prompt = id.slice(0, -1) + (id.endsWith("0") ? "1" : "0")
await post("/sessions/" + id + "/prompts", { id: prompt, text: "hello" })
const count = waiting.length
await Promise.all(waiting)
let events = ""
while (!events.includes("You wrote: hello")) events += new TextDecoder().decode((await streamed.read()).value)
const shown = await get("/sessions/" + id)
console.log(JSON.stringify({ count, messages: (await shown.json()).messages.length }))
process.exit(0)`,
    ) as [{ status: number }, { status: number }, { count: number; messages: number }]
    expect([created.status, prompted.status]).toEqual([201, 202])
    expect(waited.count).toBeGreaterThan(0)
    expect(waited.messages).toBe(2)
  },
)

function lambdaEvent(method: string, rawPath: string, more: object = {}) {
  const rawQueryString = ""
  const headers = {
    accept: "*/*",
    authorization: "Bearer 7f3c9a",
    "content-type": "application/json",
    host: "api.example",
    "x-forwarded-for": "192.0.2.1",
    "x-forwarded-proto": "https",
  }
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath,
    rawQueryString,
    headers,
    requestContext: {
      accountId: "123456789012",
      apiId: "api-id",
      domainName: "api.example",
      domainPrefix: "api",
      http: { method, path: rawPath, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
      requestId: "id",
      routeKey: "$default",
      stage: "$default",
      time: "12/Mar/2026:19:03:58 +0000",
      timeEpoch: 1_773_342_238_000,
    },
    body: null,
    isBase64Encoded: false,
    ...more,
  }
}

/** Runs a program beside the server of the page and one of its modules; returns the lines of JSON that it prints. */
function runProgram(name: string, program: string): unknown {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-http-docs-"))
  const { folder, remove } = newFolder()
  try {
    const code = hosts.find((host) => host.name === name)?.code ?? ""
    writeFileSync(join(folder, "server.ts"), handler)
    writeFileSync(join(folder, `${name}.ts`), code.replace("./server.js", "./server.ts"))
    writeFileSync(join(folder, "program.ts"), program)
    const options = { cwd, env, encoding: "utf8" } as const
    const { stdout, stderr, status } = spawnSync(process.execPath, [...FLAGS, join(folder, "program.ts")], options)
    expect(status, stderr).toBe(0)
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown)
  } finally {
    remove()
    rmSync(cwd, { recursive: true, force: true })
  }
}

test.each(hosts.filter(({ name }) => here.includes(name)))(
  "the server for $name answers the client of the page",
  async ({ name, code }) => {
    const cwd = mkdtempSync(join(tmpdir(), "sessions-http-docs-"))
    const { folder, remove } = newFolder()
    let server: ChildProcess | undefined
    try {
      const port = await freePort()
      const url = `http://127.0.0.1:${port}`
      writeFileSync(join(folder, "server.ts"), handler)
      writeFileSync(join(folder, `${name}.ts`), code.replace("./server.js", "./server.ts"))
      writeFileSync(join(folder, "client.ts"), client.replace("https://example.com", url))
      const options = { cwd, env: { ...env, PORT: String(port) } }
      server = spawn(process.execPath, [...FLAGS, join(folder, `${name}.ts`)], { ...options, stdio: "inherit" })
      await expect.poll(() => statusOf(`${url}/sessions`)).toBe(401)
      const { stdout, stderr, status } = spawnSync(process.execPath, [...FLAGS, join(folder, "client.ts")], {
        ...options,
        encoding: "utf8",
      })
      expect(status, stderr).toBe(0)
      expect(stdout).toContain("Why does it fail?")
      expect(stdout).toContain("That was message 1.")
    } finally {
      if (server !== undefined) await ended(server)
      remove()
      rmSync(cwd, { recursive: true, force: true })
    }
  },
)

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  await new Promise<void>((resolve) => void server.close(() => resolve()))
  return port
}

/** 0 until the server listens. */
function statusOf(url: string): Promise<number> {
  return fetch(url).then(
    ({ status }) => status,
    () => 0,
  )
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once("close", () => resolve())
    child.kill("SIGKILL")
  })
}
