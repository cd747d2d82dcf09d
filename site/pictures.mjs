// `node --conditions=@sessions/source site/pictures.mjs`: takes the pictures of the first page, from the running inspector and the running example, in Chromium.
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { chromium } from "playwright"
import { chromiumOptions } from "../.config/browsers/launch.ts"
import { buildPage, openSite } from "../examples/browser-agent/test/site.ts"
import { createSessions } from "../packages/core/src/index.ts"
import { sessionPage } from "../packages/inspector/src/index.ts"
import { sampleSession } from "../packages/inspector/test/sample.ts"
import { createMemoryStorage } from "../packages/memory/src/index.ts"

const SIZE = { width: 1100, height: 700 }
const to = (name) => fileURLToPath(new URL(`pictures/${name}.jpg`, import.meta.url))
const folder = await mkdtemp(join(tmpdir(), "sessions-pictures-"))
const browser = await chromium.launch(chromiumOptions)
const page = await browser.newPage({ viewport: SIZE })
const take = (name) => page.screenshot({ path: to(name), type: "jpeg", quality: 80 })

const sessions = createSessions({ storage: createMemoryStorage() })
const { id } = await sampleSession(sessions)
const html = join(folder, "session.html")
await writeFile(html, sessionPage(sessions, id))
await page.goto(pathToFileURL(html).href)
await page.getByText("Where is the flag set?").first().waitFor()
await take("inspector")

const dist = await buildPage()
const site = await openSite(dist)
await page.goto(site.url)
const field = page.getByRole("textbox", { name: "Message" })
for (const question of ["What happens offline?", "How do branches work?"]) {
  await field.fill(question)
  await field.press("Enter")
  await page.getByRole("button", { name: "Stop" }).waitFor()
  await page.getByRole("button", { name: "Stop" }).waitFor({ state: "hidden" })
}
await take("browser")

await browser.close()
await site.close()
for (const path of [folder, dist]) await rm(path, { recursive: true, force: true })
