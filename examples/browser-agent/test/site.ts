/** Builds the page and serves it as static files on loopback. */
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { extname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { build } from "vite"

export interface Site {
  readonly url: string
  close(): Promise<void>
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
}

export async function openSite(): Promise<Site> {
  const outDir = await mkdtemp(join(tmpdir(), "browser-agent-"))
  const root = fileURLToPath(new URL("..", import.meta.url))
  await build({ root, logLevel: "error", build: { outDir, emptyOutDir: true } })
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://localhost").pathname)
    const file = join(outDir, path === "/" ? "index.html" : path)
    readFile(file).then(
      (bytes) => response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "text/plain" }).end(bytes),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await rm(outDir, { recursive: true, force: true })
    },
  }
}
