/** Runs the servers of docs/http.md on the runtime of this test, and the client of the page against each. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const text = readFileSync(new URL("../../docs/http.md", import.meta.url), "utf8")
const section = text.slice(text.indexOf("## The session API"))
const [handler = "", client = ""] = [...section.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, code]) => code ?? "")
const hosts = [...section.matchAll(/^```js\n\/\/ (\w+)\.js\n([^]*?)^```$/gm)].map(([, name = "", code = ""]) => ({
  name,
  code,
}))

const isDeno = "Deno" in globalThis
const FLAGS = isDeno ? ["run", "-A", "--no-lock", "--cached-only", "--conditions=source"] : ["--conditions=source"]
const here = isDeno ? ["deno"] : "Bun" in globalThis ? ["bun"] : ["node", "hono"]
/** The programs run in this package to find its dependencies. */
const HERE = fileURLToPath(new URL(".", import.meta.url))
const { NODE_OPTIONS: _, ...env } = process.env

test("the page has a server for Node, Hono, Bun and Deno", () => {
  expect(hosts.map(({ name }) => name)).toEqual(["node", "hono", "bun", "deno"])
})

test.each(hosts.filter(({ name }) => here.includes(name)))(
  "the server for $name answers the client of the page",
  async ({ name, code }) => {
    const cwd = mkdtempSync(join(tmpdir(), "sessions-http-docs-"))
    const folder = mkdtempSync(join(HERE, ".run-"))
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
      rmSync(folder, { recursive: true })
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
