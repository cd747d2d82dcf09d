/**
 * `pnpm test:browser-crash [--rounds N] [--seed N]`: a page appends in Chromium with a profile on disk, and the browser with all its
 * processes is killed at a random moment. With durability `strict` the next browser must find every acknowledged line. With `relaxed`,
 * which survives the end of the tab only, it must find a prefix of them. Lines after the acknowledged ones must be whole and in order.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { type Browser, chromium, type Page } from "playwright"
import { bundle } from "../../../../.config/browsers/bundle.ts"
import { HANG_MS } from "../../../../.config/limits.ts"
import { chromiumOptions } from "../../../../.config/browsers/launch.ts"
import { serve } from "../../../../.config/browsers/page.ts"
import type { Durability } from "./crash-page.ts"

const { values } = parseArgs({ options: { rounds: { type: "string" }, seed: { type: "string" } } })
const rounds = Number(values.rounds ?? 50)
const seed = Number(values.seed ?? Date.now() % 2 ** 31)
const random = createRandom(seed)
console.log(`SEED=${seed}`)

const script = await bundle(fileURLToPath(new URL("crash-page.ts", import.meta.url)))
const html = '<!doctype html><meta charset="utf-8"><title>crash</title><script src="page.js"></script>'
const server = await serve({ "/": html, "/page.js": script })
const profile = mkdtempSync(join(tmpdir(), "sessions-crash-"))
const problems: string[] = []
try {
  for (const durability of ["strict", "relaxed"] as const) {
    let acknowledged = 0
    let found = 0
    for (let round = 1; round <= rounds; round++) {
      const crashed = await crash(durability, 50 + random() * 600)
      acknowledged = crashed.acknowledged
      found = await verifyLog(durability, acknowledged, `${durability}, round ${round}`)
    }
    console.log(`${durability}: killed ${rounds} times, ${acknowledged} lines acknowledged at last, ${found} found`)
  }
} finally {
  await server.close()
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

/** Lets the page append until the browser is killed; returns how many lines were acknowledged by then. */
async function crash(durability: Durability, after: number): Promise<{ acknowledged: number }> {
  const { page, kill } = await start()
  let acknowledged = 0
  let begun = (): void => undefined
  const first = new Promise<void>((resolve) => {
    begun = resolve
  })
  await page.exposeFunction("acknowledged", (next: number) => {
    acknowledged = next
    begun()
  })
  await page.goto(server.url)
  await page.evaluate(`page.appendForEver(${JSON.stringify(durability)})`)
  await first
  await sleep(after)
  await kill()
  return { acknowledged }
}

async function verifyLog(durability: Durability, acknowledged: number, name: string): Promise<number> {
  const { page, kill } = await start()
  await page.goto(server.url)
  const lines = await page.evaluate<string[]>(`page.lines(${JSON.stringify(durability)})`)
  await kill()
  if (durability === "strict" && lines.length < acknowledged)
    problems.push(`${name}: ${acknowledged} lines were acknowledged, ${lines.length} are there`)
  const wrong = lines.findIndex((line, seq) => (JSON.parse(line) as { seq: number }).seq !== seq)
  if (wrong >= 0) problems.push(`${name}: line ${wrong} is ${lines[wrong]}`)
  return lines.length
}

interface Started {
  readonly page: Page
  /** Kills the browser and all its processes. */
  readonly kill: () => Promise<void>
}

async function start(): Promise<Started> {
  const args = [
    ...(chromiumOptions.args ?? []),
    "--headless",
    "--remote-debugging-port=0",
    `--user-data-dir=${profile}`,
  ]
  // In a process group of its own, so that all its processes can be killed together.
  const child = spawn(chromiumOptions.executablePath ?? "chromium", [...args, "about:blank"], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  })
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  const browser: Browser = await chromium.connectOverCDP(await endpointOf(child), { timeout: HANG_MS })
  const context = browser.contexts()[0] ?? (await browser.newContext())
  context.setDefaultTimeout(HANG_MS)
  return {
    page: context.pages()[0] ?? (await context.newPage()),
    async kill() {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL")
      await exited
      await browser.close().catch(() => undefined)
    },
  }
}

function endpointOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ""
    child.once("error", reject)
    child.once("exit", (code) => reject(new Error(`Chromium ended with ${code}: ${text}`)))
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
      const found = /DevTools listening on (ws:\S+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
  })
}

/** Random numbers from 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state / 2 ** 31
  }
}
