/** The page in Chromium, as a person uses it. Not in vitest: a tab that is reloaded would take the runner inside it along. */
import assert from "node:assert/strict"
import { readFile } from "node:fs/promises"
import { after, before, test } from "node:test"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright"
import { chromiumOptions } from "../../../.config/browsers/launch.ts"
import { openSite, type Site } from "./site.ts"

let site: Site
let browser: Browser

before(async () => {
  ;[site, browser] = await Promise.all([openSite(), chromium.launch(chromiumOptions)])
})
after(async () => {
  await browser?.close()
  await site?.close()
})

/** A page, in one browser with the others of the same check. */
type Open = (hash?: string) => Promise<Page>

/**
 * A browser of its own for each; no page of it may complain on its console, but for what is `expected`, or ask anybody outside of this
 * machine.
 */
export function check(
  name: string,
  work: (open: Open, context: BrowserContext) => Promise<void>,
  { expected }: { readonly expected?: RegExp } = {},
): void {
  void test(name, async () => {
    const complaints: string[] = []
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    context.setDefaultTimeout(15_000)
    context.on("request", (request) => {
      const { protocol, hostname } = new URL(request.url())
      const here = protocol === "data:" || protocol === "blob:" || (protocol === "http:" && hostname === "127.0.0.1")
      if (!here) complaints.push(`request: ${request.url()}`)
    })
    context.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") complaints.push(`console: ${message.text()}`)
    })
    context.on("weberror", (error) => complaints.push(`error: ${String(error.error())}`))
    try {
      await work(async (hash = "") => {
        const page = await context.newPage()
        await page.goto(`${site.url}${hash}`)
        await page.getByRole("textbox", { name: "Message" }).waitFor()
        return page
      }, context)
    } finally {
      await context.close()
    }
    assert.deepEqual(
      complaints.filter((complaint) => expected?.test(complaint) !== true),
      [],
    )
  })
}

export async function send(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Message" }).fill(text)
  await page.keyboard.press("Enter")
}

/** A whole turn: the last answer is the one that is expected. */
export async function ask(page: Page, text: string, answer: RegExp): Promise<void> {
  await send(page, text)
  await answered(page, answer)
  await ready(page)
}

/** Of the agent, in the log: what it says besides calling tools. */
export function answered(page: Page, text: string | RegExp): Promise<void> {
  return page.locator(".line.assistant:not(.live):not(:has(.call))", { hasText: text }).waitFor()
}

/** Does it in the page at the moment when this first stands there, however slow the machine is that drives it. */
export function atOnce(
  page: Page,
  wanted: { selector: string; text: string },
  action: "reload" | "stop",
): Promise<void> {
  return page.evaluate(
    ({ wanted, action }) => {
      const observer = new MutationObserver(() => {
        const found = Array.from(document.querySelectorAll(wanted.selector))
        if (!found.some((element) => element.textContent.includes(wanted.text))) return
        observer.disconnect()
        if (action === "reload") location.reload()
        else
          document
            .querySelector<HTMLElement>("main textarea")
            ?.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }))
      })
      observer.observe(document.body, { subtree: true, childList: true, characterData: true })
    },
    { wanted, action },
  )
}

/** What could not be stored goes back where it was typed, when all is told. */
export async function typedAgain(page: Page, text: string): Promise<void> {
  const field = (expected: string): boolean =>
    document.querySelector<HTMLTextAreaElement>(".composer textarea")?.value === expected
  await page.waitForFunction(field, text)
}

export function ready(page: Page): Promise<void> {
  return page.getByRole("button", { name: "Send", exact: true }).waitFor()
}

export const questions = (page: Page): Promise<string[]> => page.locator(".line.user .body").allTextContents()

/** The questions of the session are these, once all of them are shown. */
export async function asked(page: Page, expected: readonly string[]): Promise<void> {
  const isShown = (wanted: string): boolean => {
    const bodies = Array.from(document.querySelectorAll(".line.user .body"), ({ textContent }) => textContent)
    return JSON.stringify(bodies) === wanted
  }
  // Where they never are, the assertion says what is there instead.
  await page.waitForFunction(isShown, JSON.stringify(expected)).catch(() => undefined)
  assert.deepEqual(await questions(page), expected)
}

export const sessionId = (page: Page): string => new URL(page.url()).hash.slice(1)
export const titles = (page: Page): Promise<string[]> => page.locator(".sessions .title").allTextContents()

export async function exported(page: Page): Promise<string> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export as a .jsonl file" }).click(),
  ])
  return readFile(await download.path(), "utf8")
}
