// Opens the main pages of the built site in Chromium, light and dark, at the width of a phone and of a desk: axe must find nothing serious, no page
// may scroll sideways, and nothing may be requested from elsewhere. The search finds pages before names of the API. `--build`: builds the
// site first. `--all`: every page. `--screenshots FOLDER` keeps what it saw.
import { createReadStream, existsSync, globSync, readFileSync, statSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright"

if (process.argv.includes("--build")) await import("./build.mjs")

const MAIN = [
  "/",
  "/getting-started",
  "/concepts",
  "/storages",
  "/errors",
  "/options",
  "/comparison",
  "/api/packages/core/src",
]
const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
}
const dist = fileURLToPath(new URL("dist", import.meta.url))
const all = globSync("**/*.html", { cwd: dist }).map((file) => `/${file.slice(0, -".html".length)}`)
const PAGES = process.argv.includes("--all") ? all : MAIN
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const folder = process.argv[process.argv.indexOf("--screenshots") + 1]

const server = createServer(({ url = "/" }, response) => {
  const path = decodeURIComponent(new URL(url, "http://site").pathname)
  const file = [path, `${path}.html`, join(path, "index.html")]
    .map((one) => join(dist, one))
    .find((one) => one.startsWith(dist) && existsSync(one) && statSync(one).isFile())
  response.writeHead(file === undefined ? 404 : 200, {
    "content-type": TYPES[extname(file ?? "")] ?? "application/octet-stream",
  })
  if (file === undefined) response.end()
  else createReadStream(file).pipe(response)
})
await new Promise((resolve) => void server.listen(0, "127.0.0.1", resolve))
const origin = `http://127.0.0.1:${server.address().port}`
const executablePath = ["/usr/bin/chromium", "/usr/bin/chromium-browser"].find((path) => existsSync(path))
const browser = await chromium.launch({ args: ["--no-sandbox"], ...(executablePath && { executablePath }) })
const problems = []
for (const colorScheme of ["light", "dark"])
  for (const width of [320, 1280]) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    page.on("request", (request) => {
      const url = request.url()
      if (!url.startsWith(origin) && !url.startsWith("data:")) problems.push(`requests ${url}`)
    })
    for (const path of PAGES) {
      const response = await page.goto(`${origin}${path}`, { waitUntil: "networkidle" })
      if (response?.status() !== 200) problems.push(`${path}: ${response?.status()}`)
      await page.evaluate(axe)
      const { violations } = await page.evaluate(() => globalThis.axe.run())
      for (const { id, impact, nodes } of violations)
        if (impact === "serious" || impact === "critical")
          problems.push(
            `${path}, ${colorScheme}, ${width} px: ${id}: ${nodes
              .slice(0, 3)
              .map(({ target }) => target.join(" "))
              .join("; ")}`,
          )
      if (await page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth))
        problems.push(`${path}, ${width} px: scrolls sideways`)
      if (process.argv.includes("--screenshots"))
        await page.screenshot({ path: join(folder, `${path.replaceAll("/", "_")}-${colorScheme}-${width}.png`) })
    }
    await page.close()
  }
await checkSearch()
await browser.close()
server.close()
console.log(problems.length === 0 ? `${PAGES.length} pages: nothing serious` : [...new Set(problems)].join("\n"))
process.exitCode = problems.length === 0 ? 0 : 1

/** The first results for words of the API are pages. */
async function checkSearch() {
  const page = await browser.newPage()
  await page.goto(`${origin}/`, { waitUntil: "networkidle" })
  let last
  for (const words of ["compaction", "append", "storage", "conformance"]) {
    await page.keyboard.press("Control+k")
    await page.locator(".search-input").fill(words)
    const results = page.locator(".results a.result")
    // Those of the words before stay until there are others.
    await page.waitForFunction((last) => {
      const first = document.querySelector(".results a.result")?.href
      return first !== undefined && first !== last
    }, last)
    last = await results.first().evaluate((link) => link.href)
    const found = await results.evaluateAll((links) => links.slice(0, 5).map((link) => new URL(link.href).pathname))
    if (found.length < 5 || found.some((path) => /^\/(?:api|packages)\//.test(path)))
      problems.push(`the search for "${words}" finds first: ${found.join(", ")}`)
    await page.keyboard.press("Escape")
  }
  await page.close()
}
