/**
 * Uses the page as a user does, in the engine ENGINE, `chromium` or `firefox`. Not in vitest, whose runner is in the page and would not
 * survive a reload.
 */
import assert from "node:assert/strict"
import { readFile, rm } from "node:fs/promises"
import { after, before, test } from "node:test"
import type { BrowserContext, Page } from "playwright"
import type { ColorScheme } from "../../../.config/browsers/launch.ts"
import { sharedBrowser } from "../../../.config/browsers/page.ts"
import { HANG_MS } from "../../../.config/limits.ts"
import { buildPage, openSite, type Site } from "./site.ts"

const engine = engineOf(process.env["ENGINE"] ?? "chromium")

let dist = ""
let site: Site

before(async () => {
  dist = await buildPage()
  site = await openSite(dist)
})
after(async () => {
  await site?.close()
  await rm(dist, { recursive: true, force: true })
})

function engineOf(name: string): "chromium" | "firefox" {
  if (name === "chromium" || name === "firefox") return name
  throw new Error(`ENGINE is ${name}, not chromium or firefox.`)
}

/** A server of the same page that a test may stop. */
export function openOwnSite(): Promise<Site> {
  return openSite(dist)
}

/** Opens a page in the browser context of the check. */
type Open = (hash?: string) => Promise<Page>

/**
 * Runs a test in a browser context of its own. It fails if a page writes an error or a warning to its console that is not `expected`, or
 * sends a request to another machine.
 */
export function check(
  name: string,
  work: (open: Open, context: BrowserContext, newContext: () => Promise<BrowserContext>) => Promise<void>,
  { expected, scheme = "light" }: { readonly expected?: RegExp; readonly scheme?: ColorScheme } = {},
): void {
  void test(name, async () => {
    const problems: string[] = []
    const contexts: BrowserContext[] = []
    const newContext = async (): Promise<BrowserContext> => {
      const context = await watched(problems, scheme)
      contexts.push(context)
      return context
    }
    try {
      const context = await newContext()
      await work(
        async (hash = "") => {
          const page = await context.newPage()
          await page.goto(`${site.url}${hash}`)
          await page.getByRole("textbox", { name: "Message" }).waitFor()
          return page
        },
        context,
        newContext,
      )
    } catch (error) {
      const pages = await Promise.all(contexts.flatMap((context) => context.pages()).map(shownOn))
      throw new Error(["The pages show:", ...pages, ...problems].join("\n"), { cause: error })
    } finally {
      for (const context of contexts) await context.close()
    }
    assert.deepEqual(
      problems.filter((problem) => expected?.test(problem) !== true),
      [],
    )
  })
}

/** What a page shows, and what is in its field: a failed test says where it stood. */
async function shownOn(page: Page): Promise<string> {
  const text = await page
    .evaluate(() => `${document.body.innerText}\n${document.querySelector("textarea")?.value ?? ""}`)
    .catch(String)
  return `--- ${page.url()}\n${text}`
}

/** A new browser context, whose problems are noted. Without motion, so that a size or a place is final when it is measured. */
async function watched(problems: string[], colorScheme: ColorScheme): Promise<BrowserContext> {
  const browser = await sharedBrowser(engine, colorScheme)
  const viewport = { width: 1280, height: 800 }
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" })
  context.setDefaultTimeout(HANG_MS)
  context.on("request", (request) => {
    const { protocol, hostname } = new URL(request.url())
    const here = protocol === "data:" || protocol === "blob:" || (protocol === "http:" && hostname === "127.0.0.1")
    if (!here) problems.push(`request: ${request.url()}`)
  })
  context.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(`console: ${message.text()}`)
  })
  context.on("weberror", (error) => problems.push(`error: ${String(error.error())}`))
  return context
}

export async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text)
  await page.keyboard.press("Enter")
}

/** Runs a whole turn and waits for the expected answer. */
export async function ask(page: Page, text: string, answer: RegExp): Promise<void> {
  await send(page, text)
  await answered(page, answer)
  await ready(page)
}

/** Waits for an answer without tool calls in the log. */
export function answered(page: Page, text: string | RegExp): Promise<void> {
  return page.locator(".line.assistant:not(.live):not(:has(.call))", { hasText: text }).waitFor()
}

/**
 * Sends a message, lets the page's time pass in steps until the text appears, and stops it there: on a busy machine, too, the agent is
 * then in the middle of its turn, until `page.clock.resume()`.
 */
export async function sendAndStopAt(
  page: Page,
  text: string,
  wanted: { selector: string; text: string },
): Promise<void> {
  const now = Date.now()
  await page.clock.install({ time: now })
  await pauseAfter(page, now)
  await send(page, text)
  const found = page.locator(wanted.selector, { hasText: wanted.text })
  while ((await found.count()) === 0) await page.clock.runFor(STEP_MS)
}

/**
 * Stops the page's time soon after `start`. A time that the page has already passed is refused, so on a busy machine it is a later one. Never
 * far ahead: the jump ends what the page waits for, such as an answer of its database.
 */
async function pauseAfter(page: Page, start: number): Promise<void> {
  for (let ahead = 500; ; ahead *= 2) {
    try {
      return await page.clock.pauseAt(start + ahead)
    } catch (error) {
      if (!String(error).includes("Cannot fast-forward to the past")) throw error
    }
  }
}

/** Less than the agent needs for a word, so that no word is missed. */
const STEP_MS = 20

/** Waits until the text that could not be stored is in the field again. */
export async function keptInField(page: Page, text: string): Promise<void> {
  const field = (expected: string): boolean =>
    document.querySelector<HTMLTextAreaElement>(".composer textarea")?.value === expected
  await page.waitForFunction(field, text)
}

export function ready(page: Page): Promise<void> {
  return page.getByRole("button", { name: "Send", exact: true }).waitFor()
}

export async function questions(page: Page): Promise<string[]> {
  return (await page.locator(".line.user .body").allTextContents()).map((text) => text.trim())
}

/** Waits until the shown questions are the expected ones. */
export async function asked(page: Page, expected: readonly string[]): Promise<void> {
  const isShown = (wanted: string): boolean => {
    const bodies = Array.from(document.querySelectorAll(".line.user .body"), ({ textContent }) => textContent?.trim())
    return JSON.stringify(bodies) === wanted
  }
  // After a timeout the assertion shows the difference.
  await page.waitForFunction(isShown, JSON.stringify(expected)).catch(() => undefined)
  assert.deepEqual(await questions(page), expected)
}

/** Deletes the shown session. The page shows a new one at once, but lists the deleted one until it is gone. */
export async function deleteShown(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Delete" }).click()
  const rows = page.locator(".sessions li")
  const last = (await rows.count()) - 1
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click()
  await rows.nth(last).waitFor({ state: "detached" })
}

export const sessionId = (page: Page): string => new URL(page.url()).hash.slice(1)
export const titles = (page: Page): Promise<string[]> => page.locator(".sessions .title").allTextContents()

export async function exported(page: Page): Promise<string> {
  const [text] = await Promise.all([
    engine === "firefox" ? page.evaluate(savedText) : downloaded(page),
    page.getByRole("button", { name: "Export as a .jsonl file" }).click(),
  ])
  return text
}

async function downloaded(page: Page): Promise<string> {
  const download = await page.waitForEvent("download")
  return readFile(await download.path(), "utf8")
}

/** The next text that the page saves. Playwright gets no event for a download of a `blob:` URL from Firefox. */
function savedText(): Promise<string> {
  const original = URL.createObjectURL.bind(URL)
  return new Promise((resolve) => {
    URL.createObjectURL = (blob: Blob) => {
      URL.createObjectURL = original
      resolve(blob.text())
      return original(blob)
    }
  })
}
