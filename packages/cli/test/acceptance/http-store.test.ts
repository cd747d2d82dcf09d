/** A store behind HTTP: a real server with a token for each principal, whose sessions are files. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { toNodeListener } from "@sessions/http/node"
import { createStorageHandler } from "@sessions/http/server"
import { expect, onTestFinished, test } from "vitest"
import { log } from "./logs.ts"
import { createWorkspace, type Workspace } from "./workspace.ts"

const TOKEN = "secret-7f3c9a"

/** Serves `/storage`, and answers 401 to every other token; resolves to its address. */
async function serve({ root }: Workspace, token = TOKEN): Promise<string> {
  const storages = new Map<string, SessionStorage>()
  const handler = createStorageHandler({
    basePath: "/storage",
    authorize: (request) =>
      request.headers.get("authorization") === `Bearer ${token}` ? token : new Response(null, { status: 401 }),
    storage(principal) {
      const storage = storages.get(principal) ?? createFileStorage({ root: join(root, `server-${principal}`) })
      storages.set(principal, storage)
      return storage
    },
  })
  const server = createServer(toNodeListener(handler))
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    for (const storage of storages.values()) await storage[Symbol.asyncDispose]()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/storage`
}

test("sessions on a server are copied there, listed, verified, exported, merged and copied back, byte for byte", async () => {
  const workspace = createWorkspace()
  const { cliWith, file, log: stored } = workspace
  const url = await serve(workspace)
  const cli = (...argv: string[]) => cliWith({ env: { SESSIONS_HTTP_TOKEN: TOKEN } }, ...argv)
  await cli("import", file("in.jsonl", log("a")), "--id", "a")
  const original = stored("a").toString()
  expect(await cli("copy", "a", "--to", url)).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining(`copied a to ${url} (`) as string,
  })
  expect((await cli("list", "--store", url)).stdout).toMatch(/^ID .*\na /)
  expect((await cli("verify", "--all", "--store", url)).stdout).toMatch(/1 session, 0 damaged\n$/)
  expect((await cli("export", "a", "--store", url)).stdout).toBe(original)
  expect((await cli("grep", "no-such-word", "--no-index", "--store", url)).exit).toBe(1)

  await cli("rename", "a", "on the server", "--store", url)
  const merged = await cli("merge", "--all", "--with", url)
  expect(merged).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining(`merged 1 session with ${url}, 0`) as string,
  })
  expect((await cli("list")).stdout).toContain("on the server")

  await cli("rm", "a", "--yes")
  expect(await cli("copy", "--all", "--to", "file:.sessions", "--store", url)).toMatchObject({ exit: 0 })
  expect(stored("a").toString()).toBe((await cli("export", "a", "--store", url)).stdout)
})

test("the token may be in a file with a token for each server, and a command that uses two servers needs the file", async () => {
  const workspace = createWorkspace()
  const { cliWith, file } = workspace
  const [one, two] = [await serve(workspace, "token-of-one"), await serve(workspace, "token-of-two")]
  const lines = ["# servers", "", `${new URL(one).origin} wrong`, `${one}/ token-of-one`, `${two} token-of-two`]
  const env = { SESSIONS_HTTP_TOKEN_FILE: file("tokens", `${lines.join("\n")}\n`) }
  await cliWith({ env }, "import", file("in.jsonl", log("a")), "--id", "a", "--store", one)
  expect(await cliWith({ env }, "copy", "a", "--to", two, "--store", one)).toMatchObject({ exit: 0, stderr: "" })
  expect((await cliWith({ env }, "list", "--store", two)).stdout).toMatch(/\na /)
  const both = await cliWith({ env: { SESSIONS_HTTP_TOKEN: "token-of-one" } }, "copy", "a", "--to", two, "--store", one)
  expect(both).toMatchObject({ exit: 2, stderr: expect.stringContaining("this command uses two") as string })
})

test("a refused token, a missing server and a wrong address are errors that name the way out and never the token", async () => {
  const workspace = createWorkspace()
  const { cliWith, file } = workspace
  const url = await serve(workspace)
  const { host, origin } = new URL(url)
  const bad = file("bad", `${TOKEN}\n`)
  const cases: readonly (readonly [exit: number, message: string, store: string, env: Record<string, string>])[] = [
    [1, `${url} refuses without a token (401); set SESSIONS_HTTP_TOKEN`, url, {}],
    [1, `${url} refuses the token (401)`, url, { SESSIONS_HTTP_TOKEN: `${TOKEN}-not` }],
    [1, "There is no such route", `${origin}/elsewhere/storage`, { SESSIONS_HTTP_TOKEN: TOKEN }],
    [1, "The server was not reached", "http://127.0.0.1:1/storage", { SESSIONS_HTTP_TOKEN: TOKEN }],
    [2, "no user and password", `http://ada:${TOKEN}@${host}/storage`, {}],
    [2, "no parameters", `${url}?token=${TOKEN}`, {}],
    [2, "needs the address of its handler", `http:${TOKEN}`, {}],
    [2, "visible ASCII", url, { SESSIONS_HTTP_TOKEN: `${TOKEN}\nx: y` }],
    [2, "not both", url, { SESSIONS_HTTP_TOKEN: TOKEN, SESSIONS_HTTP_TOKEN_FILE: bad }],
    [2, "line 1 of bad must be an address and its token", url, { SESSIONS_HTTP_TOKEN_FILE: bad }],
    [1, "cannot read missing", url, { SESSIONS_HTTP_TOKEN_FILE: "missing" }],
  ]
  for (const [exit, message, store, env] of cases) {
    const result = await cliWith({ env }, "list", "--store", store)
    expect(result, message).toMatchObject({ exit, stderr: expect.stringContaining(message) as string })
    expect(result.stderr + result.stdout, message).not.toContain(TOKEN)
  }
})
