/** The page of a server in a real browser, the engine ENGINE: what is shown while a large session is read. */
import assert from "node:assert/strict"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { after, test } from "node:test"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { type Engine, openBrowser, type Page } from "../../../../.config/browsers/page.ts"
import { createInspector } from "../../src/index.ts"

const TOKEN = "a-token-of-some-length"
const engine = (process.env["ENGINE"] ?? "chromium") as Engine

/** The server answers a request for the whole of a session when this is called. */
let release = (): void => undefined
const released = new Promise<void>((resolve) => (release = resolve))
const sessions = createSessions({ storage: createMemoryStorage() })
const inspector = createInspector({ sessions, token: TOKEN })
const server = createServer((request, response) => {
  void (async () => {
    if (request.url?.endsWith("/whole") === true) await released
    const headers = Object.entries(request.headers).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value] as [string, string]] : [],
    )
    const answer = await inspector(
      new Request(`http://${String(request.headers.host)}${request.url ?? "/"}`, { headers }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  })()
})
let page: Page | undefined
after(async () => {
  await page?.close()
  server.closeAllConnections()
  server.close()
})

async function until(page: Page, condition: string): Promise<void> {
  while ((await page.evaluate(`return ${condition}`)) !== true) await new Promise((resolve) => setTimeout(resolve, 20))
}

void test(`${engine}: an early entry that was found is shown before the whole session is read, and then among the others`, async () => {
  const session = await sessions.create({ id: "long" })
  await session.append(
    Array.from(
      { length: 200 },
      (_, n) => ({ type: "message", message: { role: "user", content: `text ${n}.` } }) as const,
    ),
  )
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  page = await openBrowser(engine)
  await page.open(`${url}#token=${TOKEN}`)
  await page.evaluate(`location.hash = "#@long/"`)
  await until(page, `document.querySelectorAll("main article").length === 60`)
  // A conversation of a server opens at its end, where its news are.
  await until(page, `scrollY > 0 && Math.abs(scrollY + innerHeight - document.documentElement.scrollHeight) < 2`)
  assert.match(
    String(
      await page.evaluate(`return document.querySelector("main > .conversation > article:last-of-type").textContent`),
    ),
    /text 199\./,
  )
  await page.evaluate(`
    const field = document.querySelector("input[type=search]")
    field.value = "text 3."
    field.dispatchEvent(new Event("input", { bubbles: true }))`)
  await until(page, `document.querySelector("main .entries a")?.textContent.includes("text 3.") === true`)
  await page.evaluate(`document.querySelector("main .entries a").click()`)
  const isShown = `document.activeElement?.matches("article.target") === true && document.activeElement.textContent.includes("text 3.")`
  await until(page, isShown)
  assert.equal(await page.evaluate(`return document.querySelectorAll("main article").length`), 1)
  release()
  await until(page, `document.querySelectorAll("main article").length > 1 && ${isShown}`)
})
