/** Builds the page, and serves it on loopback with the server of the example. */
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { toNodeListener } from "@sessions/http/node"
import { build } from "vite"
import { createSite } from "../server/site.ts"

export interface Site {
  readonly url: string
  /** The server goes away: connections are refused. */
  stop(): Promise<void>
  /** It comes back at the same address, with what it has stored. */
  start(): Promise<void>
  close(): Promise<void>
}

export const TOKENS: ReadonlyMap<string, string> = new Map(
  ["ada", "bob", "cat", "dan"].map((name) => [name, `the-token-of-${name}`]),
)

/** Resolves to the folder of the built page. */
export async function buildPage(): Promise<string> {
  const outDir = await mkdtemp(join(tmpdir(), "browser-agent-"))
  const root = fileURLToPath(new URL("..", import.meta.url))
  await build({ root, logLevel: "error", build: { outDir, emptyOutDir: true } })
  return outDir
}

export async function openSite(dist: string): Promise<Site> {
  const data = await mkdtemp(join(tmpdir(), "browser-agent-data-"))
  const listener = toNodeListener(createSite({ dist, data, tokens: TOKENS }))
  let server: Server | undefined
  async function start(port: number): Promise<number> {
    const starting = createServer(listener)
    await new Promise<void>((resolve) => starting.listen(port, "127.0.0.1", resolve))
    server = starting
    return (starting.address() as AddressInfo).port
  }
  async function stop(): Promise<void> {
    const stopping = server
    server = undefined
    if (stopping === undefined) return
    const stopped = new Promise((resolve) => stopping.close(resolve))
    stopping.closeAllConnections()
    await stopped
  }
  const port = await start(0)
  return {
    url: `http://127.0.0.1:${port}/`,
    stop,
    start: async () => void (await start(port)),
    async close() {
      await stop()
      await rm(data, { recursive: true, force: true })
    },
  }
}
