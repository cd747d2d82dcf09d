/**
 * What a person waits for in the page of a long session, in Chromium against `sessions serve`: the end, and a word of the first line that is
 * typed some seconds after the end is there (default 0, 0.3, 1 and Infinity: when everything is). With the longest task of the page, its heap,
 * and the memory of its process. A log in files, of the size that is given in MB (default 200); each round is a new tab. On Linux.
 * Run: `node --conditions=@sessions/source --import ./.tools/typescript.mjs packages/inspector/bench/page.ts [MB [ROUNDS [SECONDS…]]]`.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { type Browser, chromium } from "playwright"
import { chromiumOptions } from "../../../.config/browsers/launch.ts"
import { writeLongSession } from "./long-session.ts"

const [megabytes = 200, rounds = 10, ...given] = process.argv.slice(2).map(Number)
const typedAfter = given.length > 0 ? given : [0, 0.3, 1, Infinity]
/** What the page says until it has the rows of all entries. */
const READING = `[...document.querySelectorAll(".note")].some(({ textContent }) => textContent.startsWith("Reading the older"))`

const root = mkdtempSync(join(tmpdir(), "inspector-bench-"))
let server: ChildProcess | undefined
let browser: Browser | undefined
try {
  const { sessions } = await writeLongSession(root, megabytes)
  await sessions.close()
  const started = await startServer()
  server = started.process
  browser = await chromium.launch(chromiumOptions)
  for (const seconds of typedAfter) await measure(browser, started.url, seconds)
} finally {
  await browser?.close()
  server?.kill()
  rmSync(root, { recursive: true, force: true })
}

async function startServer(): Promise<{ readonly process: ChildProcess; readonly url: string }> {
  const bin = join(import.meta.dirname, "../../cli/src/bin.ts")
  const child = spawn(process.execPath, [...process.execArgv, bin, "serve", "--no-index", "--store", `file:${root}`], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  for await (const line of createInterface({ input: child.stdout })) return { process: child, url: line }
  throw new Error("The server did not start.")
}

interface Round {
  readonly end: number
  readonly word: number
  readonly longest: number
  /** Of JavaScript, when everything is there. */
  readonly heap: number
  /** The most that the process of the page had. */
  readonly peak: number
}

async function measure(browser: Browser, url: string, seconds: number): Promise<void> {
  const found: Round[] = []
  for (let round = 0; round < rounds; round++) found.push(await oneRound(browser, url, seconds))
  const when = seconds === Infinity ? "when all is there" : `${seconds} s after the end`
  const of = (name: keyof Round): string => {
    const sorted = found.map((round) => round[name]).sort((a, b) => a - b)
    return [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].map((value) => (value ?? 0).toFixed(0)).join(" / ")
  }
  console.log(
    `typed ${when}: end ${of("end")} ms, word ${of("word")} ms, longest task ${of("longest")} ms, heap ${of("heap")} MB, process ${of("peak")} MB (best / median / worst)`,
  )
}

async function oneRound(browser: Browser, url: string, seconds: number): Promise<Round> {
  const page = await browser.newPage()
  try {
    await page.goto(url)
    await page.waitForSelector("main .entries a, main a")
    const times = await page.evaluate<Omit<Round, "heap" | "peak">>(`(async () => {
      const until = (condition) => new Promise((resolve) => {
        const look = () => condition() && (observer.disconnect(), resolve())
        const observer = new MutationObserver(look)
        observer.observe(document.documentElement, { childList: true, subtree: true, characterData: true })
        look()
      })
      const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))
      let longest = 0
      new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) longest = Math.max(longest, duration) }).observe({ type: "longtask" })
      const start = performance.now()
      location.hash = "#@long/"
      await until(() => document.querySelector("article") !== null)
      await painted()
      const end = performance.now() - start
      if (${seconds === Infinity}) await until(() => !${READING})
      else await new Promise((resolve) => setTimeout(resolve, ${seconds === Infinity ? 0 : seconds * 1000}))
      const typed = performance.now()
      const field = document.querySelector("input[type=search]")
      field.value = "firstword"
      field.dispatchEvent(new Event("input", { bubbles: true }))
      await until(() => document.querySelector("main .entries li") !== null)
      await painted()
      const word = performance.now() - typed
      field.value = ""
      field.dispatchEvent(new Event("input", { bubbles: true }))
      await until(() => document.querySelector("article") !== null && !${READING})
      await painted()
      return { end, word, longest }
    })()`)
    const tools = await page.context().newCDPSession(page)
    await tools.send("HeapProfiler.collectGarbage")
    const { usedSize } = await tools.send("Runtime.getHeapUsage")
    return { ...times, heap: usedSize / 1e6, peak: await peakOf(browser) }
  } finally {
    await page.close()
  }
}

/** In MB. Other pages are closed, so the largest process of a page is that of this one. */
async function peakOf(browser: Browser): Promise<number> {
  const tools = await browser.newBrowserCDPSession()
  const { processInfo } = await tools.send("SystemInfo.getProcessInfo")
  await tools.detach()
  const peaks = processInfo
    .filter(({ type }) => type === "renderer")
    .map(({ id }) => Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1]) / 1e3)
  return Math.max(...peaks)
}
