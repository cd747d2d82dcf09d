/** Drives WebKitGTK without a screen: WebKitWebDriver runs MiniBrowser on an Xvfb server. */
import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import type { Readable } from "node:stream"
import { miniBrowser } from "./launch.ts"

export interface WebKit {
  open(url: string): Promise<void>
  /** Runs the body of a function in the page and returns its result, awaited. */
  evaluate(body: string): Promise<unknown>
  close(): Promise<void>
}

export async function startWebKit(): Promise<WebKit> {
  const children: ChildProcess[] = []
  const stop = (): void => {
    for (const child of children.splice(0).reverse()) child.kill("SIGKILL")
  }
  try {
    const display = await startDisplay(children)
    const base = await startDriver(children, display)
    const options = { binary: miniBrowser(), args: ["--automation"] }
    const { sessionId } = (await call(base, "POST", "/session", {
      capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } },
    })) as { sessionId: string }
    const session = `${base}/session/${sessionId}`
    await call(session, "POST", "/timeouts", { script: 600_000 })
    return {
      open: async (url) => void (await call(session, "POST", "/url", { url })),
      evaluate: (body) =>
        call(session, "POST", "/execute/async", {
          script: `const done = arguments[0]; (async () => { ${body} })().then((value) => done({ value }), (error) => done({ error: String(error) }))`,
          args: [],
        }).then((answer) => valueOf(answer as { value?: unknown; error?: string })),
      async close() {
        await call(session, "DELETE", "").catch(() => undefined)
        stop()
      },
    }
  } catch (error) {
    stop()
    throw error
  }
}

function valueOf({ value, error }: { value?: unknown; error?: string }): unknown {
  if (error !== undefined) throw new Error(error)
  return value
}

async function startDisplay(children: ChildProcess[]): Promise<string> {
  const args = ["-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
  const child = spawn("Xvfb", args, { stdio: ["ignore", "ignore", "ignore", "pipe"] })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    ;(child.stdio[3] as Readable).once("data", (chunk) => resolve(`:${String(chunk).trim()}`))
  })
}

async function startDriver(children: ChildProcess[], display: string): Promise<string> {
  const port = await freePort()
  const quiet = { WEBKIT_DISABLE_COMPOSITING_MODE: "1", LIBGL_ALWAYS_SOFTWARE: "1", NO_AT_BRIDGE: "1" }
  const env = { ...process.env, ...quiet, DISPLAY: display, GSETTINGS_BACKEND: "memory" }
  const child = spawn("WebKitWebDriver", ["--host=127.0.0.1", `--port=${port}`], { env, stdio: "ignore" })
  children.push(child)
  const failed = new Promise<never>((_, reject) => child.once("error", reject))
  const base = `http://127.0.0.1:${port}`
  await Promise.race([answering(base), failed])
  return base
}

const STARTS_WITHIN_MS = 20_000

async function answering(base: string): Promise<void> {
  const end = Date.now() + STARTS_WITHIN_MS
  for (;;) {
    try {
      await call(base, "GET", "/status")
      return
    } catch (error) {
      if (Date.now() > end) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function call(base: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(base + path, { method, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const { value } = (await response.json()) as { value: unknown }
  if (!response.ok) throw new Error(`WebDriver ${method} ${path}: ${JSON.stringify(value)}`)
  return value
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
