import assert from "node:assert/strict"
import { after, before, describe } from "node:test"
import type { Page } from "playwright"
import {
  answered,
  ask,
  asked,
  check,
  deleteShown,
  exported,
  openOwnSite,
  questions,
  ready,
  send,
  sessionId,
  titles,
} from "./harness.ts"
import { type Site, TOKENS } from "./site.ts"

/** While the server is away the browser logs each refused connection. */
const REFUSED = { expected: /ERR_CONNECTION_REFUSED|ERR_INTERNET_DISCONNECTED|status of 401/ }
const [ADA = "", BOB = "", CAT = "", DAN = ""] = TOKENS.values()

void describe("offline first", { concurrency: 4 }, () => {
  let site: Site
  let stopped: Site
  before(async () => {
    ;[site, stopped] = await Promise.all([openOwnSite(), openOwnSite()])
  })
  after(() => Promise.all([site.close(), stopped.close()]))

  check(
    "two devices without a server open the page and write; later both have everything once, and the two answers are branches",
    async (_, one, newContext) => {
      const two = await newContext()
      const [a, b] = [await device(stopped, one, ADA), await device(stopped, two, ADA)]
      await ask(a, "How do branches work?", /Looking writes nothing/)
      const id = sessionId(a)
      await syncNow(a)
      await syncNow(b)
      await b.goto(`${stopped.url}#${id}`)
      await answered(b, "Looking writes nothing")

      await stopped.stop()
      for (const page of [a, b]) {
        await page.reload()
        await answered(page, "Looking writes nothing")
      }
      await Promise.all([
        ask(a, "What is in storage?", /A browser may clear/),
        ask(b, "Can I export a file?", /Drop such a file/),
      ])
      for (const [page, text] of [
        [a, "May I use two tabs at once?"],
        [b, "What happens when the context is full?"],
      ] as const) {
        await page.getByRole("button", { name: "New session", exact: true }).click()
        await send(page, text)
        await page.locator(".line.assistant").first().waitFor()
        await ready(page)
      }
      await a.getByText("The server is not reached.").waitFor()

      await stopped.start()
      // The first one gives, the second one gets and gives, the first one gets.
      for (const page of [a, b, a]) await syncNow(page)
      for (const page of [a, b]) {
        const shown = new Set(await titles(page))
        for (const title of [
          "How do branches work?",
          "May I use two tabs at once?",
          "What happens when the context is full?",
        ])
          assert.ok(shown.has(title), `${title} is not in ${[...shown].join()}`)
        assert.equal((await titles(page)).length, 3)
        await page.goto(`${stopped.url}#${id}`)
        await page.getByText("Both branches are kept.").waitFor()
      }
      const logs = await Promise.all([a, b].map(logOf))
      assert.deepEqual(logs[0], logs[1])
      assert.equal(new Set(logs[0]?.map(({ id }) => id)).size, logs[0]?.length)
      const asks = logs[0]
        ?.filter(({ message }) => message?.role === "user")
        .map(({ message }) => message?.content[0]?.text)
      assert.deepEqual(asks?.toSorted(), ["Can I export a file?", "How do branches work?", "What is in storage?"])
      assert.deepEqual(await questions(a), await questions(b))
    },
    REFUSED,
  )

  check(
    "what one device writes appears in the session that another one shows, and a reconnected device syncs by itself",
    async (_, one, newContext) => {
      const [a, b] = [await device(site, one, ADA), await device(site, await newContext(), ADA)]
      await ask(a, "How do branches work?", /Looking writes nothing/)
      await syncNow(a)
      await syncNow(b)
      await b.goto(`${site.url}#${sessionId(a)}`)
      await answered(b, "Looking writes nothing")
      await one.setOffline(true)
      await ask(a, "What is in storage?", /A browser may clear/)
      await a.getByText("The server is not reached.").waitFor()
      await one.setOffline(false)
      await a.getByText("In step with the server").waitFor()
      await syncNow(b)
      await answered(b, "A browser may clear")
      await asked(b, ["How do branches work?", "What is in storage?"])
    },
    REFUSED,
  )

  check("a deletion reaches the other device", async (_, one, newContext) => {
    const [a, b] = [await device(site, one, BOB), await device(site, await newContext(), BOB)]
    await ask(a, "How do branches work?", /Looking writes nothing/)
    await syncNow(a)
    await syncNow(b)
    const before = (await titles(b)).length
    await deleteShown(a)
    await syncNow(a)
    await syncNow(b)
    assert.equal((await titles(b)).length, before - 1)
  })

  check(
    "each token has sessions of its own; a wrong one is refused with a sentence, and nothing here is lost",
    async (_, one, newContext) => {
      const a = await device(site, one, CAT)
      await ask(a, "May I use two tabs at once?", /./)
      await syncNow(a)
      const other = await device(site, await newContext(), DAN)
      assert.deepEqual(await titles(other), [])
      const here = await titles(a)
      await useToken(a, `${CAT}-wrong`)
      await a.getByText("The server refuses the token.").waitFor()
      assert.deepEqual(await titles(a), here)
    },
    REFUSED,
  )
})

/** A browser context with the page open, in step with the server, and with the page's files kept by its service worker. */
async function device(site: Site, context: { newPage(): Promise<Page> }, token: string): Promise<Page> {
  const page = await context.newPage()
  await page.addInitScript(withoutPauses)
  await page.goto(site.url)
  await page.getByRole("textbox", { name: "Message" }).waitFor()
  await page.evaluate(async () => void (await navigator.serviceWorker.ready))
  await useToken(page, token)
  await page.getByText("In step with the server").waitFor()
  return page
}

/** The stand-in for the model pauses between its words. */
function withoutPauses(): void {
  const original = globalThis.setTimeout
  const quick = (work: () => void, ms = 0): unknown => original(work, ms < 1_000 ? 0 : ms)
  globalThis.setTimeout = quick as typeof setTimeout
}

async function useToken(page: Page, token: string): Promise<void> {
  await page.getByRole("button", { name: "Sync with a server" }).click()
  const dialog = page.getByRole("dialog", { name: "Sync with a server" })
  await dialog.getByLabel("Token").fill(token)
  await dialog.getByRole("button", { name: "Sync", exact: true }).click()
}

/** Waits for the sync that is running, and makes one more. */
async function syncNow(page: Page): Promise<void> {
  const status = page.locator(".sync")
  await page.getByRole("button", { name: "Sync now" }).click()
  await page.waitForFunction(() => document.querySelector(".sync")?.getAttribute("aria-busy") === "false")
  await status.getByText("In step with the server").waitFor()
}

interface Line {
  readonly id: string
  readonly message?: { readonly role: string; readonly content: readonly { readonly text?: string }[] }
}

/** The entries of the shown session, in the order of their ids: the two logs have them in different orders. */
async function logOf(page: Page): Promise<readonly Line[]> {
  await page.getByRole("button", { name: "Export as a .jsonl file" }).waitFor()
  const lines = (await exported(page)).trimEnd().split("\n").slice(1)
  return lines
    .map((line) => {
      const { seq: _, targetSeq: __, firstKeptSeq: ___, ...entry } = JSON.parse(line) as Line & Record<string, unknown>
      return entry
    })
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
}
