/** Drives WebKitGTK without a screen: WebKitWebDriver runs MiniBrowser on an Xvfb server. */
import { type ChildProcess, spawn } from "node:child_process"
import { createServer } from "node:net"
import type { Readable } from "node:stream"
import { HANG_MS } from "../limits.ts"
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
    const driver = await startDriver(children, display)
    const { base } = driver
    const options = { binary: miniBrowser(), args: ["--automation"] }
    const { sessionId } = (await call(base, "POST", "/session", {
      capabilities: { alwaysMatch: { "webkitgtk:browserOptions": options } },
    })) as { sessionId: string }
    const session = `${base}/session/${sessionId}`
    await call(session, "POST", "/timeouts", { script: HANG_MS, pageLoad: HANG_MS })
    const execute = async <T>(script: string, ...args: unknown[]): Promise<T> => {
      try {
        return (await call(session, "POST", "/execute/sync", { script, args })) as T
      } catch (error) {
        throw new PageLost(`${String(error)}\n${driver.output()}`)
      }
    }
    return {
      open: async (url) => void (await call(session, "POST", "/url", { url })),
      evaluate: (body) => evaluate(execute, body),
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

/** The page's process crashed, or the driver failed: neither a result nor an error of the script. */
class PageLost extends Error {
  constructor(details: string) {
    super(
      `The page was lost while it ran a script. If its process crashed, the browser reports that below.\n${details}`,
    )
    this.name = "PageLost"
  }
}

/**
 * Starts the function and polls for its result with short scripts. If the page's process crashes, the driver answers a script that
 * is still running with "Could not parse script result", which looks like an error of the script.
 */
async function evaluate(
  execute: <T>(script: string, ...args: unknown[]) => Promise<T>,
  body: string,
): Promise<unknown> {
  const index = await execute<number>(
    `const call = {}; (async () => { ${body} })().then((value) => { call.answer = { value } }, (error) => { call.answer = { error: String(error) } }); return (window.calls ??= []).push(call) - 1`,
  )
  for (;;) {
    const call = await execute<{ answer?: Answer } | null>("return window.calls?.[arguments[0]] ?? null", index)
    if (call === null) throw new PageLost("Its document is another one than that in which the script started.")
    if (call.answer !== undefined) return valueOf(call.answer)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}

const POLL_MS = 20

interface Answer {
  readonly value?: unknown
  readonly error?: string
}

function valueOf({ value, error }: Answer): unknown {
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

interface Driver {
  readonly base: string
  /** What the driver and the browser have printed. */
  output(): string
}

async function startDriver(children: ChildProcess[], display: string): Promise<Driver> {
  const port = await freePort()
  const quiet = { WEBKIT_DISABLE_COMPOSITING_MODE: "1", LIBGL_ALWAYS_SOFTWARE: "1", NO_AT_BRIDGE: "1" }
  const env = { ...process.env, ...quiet, DISPLAY: display, GSETTINGS_BACKEND: "memory" }
  const stdio = ["ignore", "ignore", "pipe"] as const
  const child = spawn("WebKitWebDriver", ["--host=127.0.0.1", `--port=${port}`], { env, stdio: [...stdio] })
  children.push(child)
  let output = ""
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  const failed = new Promise<never>((_, reject) => child.once("error", reject))
  const base = `http://127.0.0.1:${port}`
  await Promise.race([answering(base), failed])
  return { base, output: () => output }
}

async function answering(base: string): Promise<void> {
  const end = Date.now() + HANG_MS
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
