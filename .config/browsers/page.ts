/** Drives a page in a browser without a test runner, and serves it on loopback. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after } from "node:test"
import { type Browser, chromium, firefox, type LaunchOptions, type Page as PlaywrightPage } from "playwright"
import { HANG_MS } from "../limits.ts"
import { chromiumOptions, type ColorScheme, firefoxOptions, firefoxOptionsFor } from "./launch.ts"
import { startWebKit } from "./webkit.ts"

export type Engine = "chromium" | "firefox" | "webkit"

export interface Page {
  open(url: string): Promise<void>
  /** Runs the body of an asynchronous function in the page and returns its result; rejects with its error. */
  evaluate(body: string): Promise<unknown>
  /** The DevTools protocol, in Chromium only. */
  readonly devTools?: DevTools
  close(): Promise<void>
}

export type DevTools = (
  method: "Storage.overrideQuotaForOrigin",
  params: { origin: string; quotaSize?: number },
) => Promise<unknown>

export interface BrowserOptions {
  /** A folder for the profile. Without one nothing that pages store outlives the browser. */
  readonly profile?: string
  /** A private window. Playwright's Chromium and WebKitGTK are always private without a profile. */
  readonly private?: boolean
  /**
   * `blocked`: the user allows no site to store anything. `small`: 10 MB in Firefox, which takes that at its start only; in Chromium it is set
   * with {@link Page.devTools}.
   */
  readonly siteData?: "blocked" | "small"
  /** A browser that has not run before: Chromium remembers for half a minute how much space there is. */
  readonly fresh?: boolean
}

/** Opens a page, without options in a browser that all tests of the process share: a start takes seconds of CPU time. */
export async function openBrowser(engine: Engine, o: BrowserOptions = {}): Promise<Page> {
  if (engine === "webkit") return startWebKit()
  const type = engine === "chromium" ? chromium : firefox
  const options = engine === "chromium" ? chromiumOptions : firefoxOptionsOf(o)
  if (engine === "chromium" && o.siteData === "blocked") return openBlockedChromium(options)
  const { profile } = o
  if (profile !== undefined) {
    const context = await type.launchPersistentContext(profile, options)
    return toPage(engine, context.pages()[0] ?? (await context.newPage()), () => context.close())
  }
  if (Object.keys(o).length === 0) {
    const page = await (await sharedBrowser(engine)).newPage()
    return toPage(engine, page, () => page.close())
  }
  const browser = await type.launch(options)
  try {
    return await toPage(engine, await browser.newPage(), () => browser.close())
  } catch (error) {
    await browser.close()
    throw error
  }
}

const shared = new Map<string, Promise<Browser>>()
after(async () => {
  for (const browser of shared.values()) await (await browser).close()
})

/** The browser of all tests of the process; a Firefox takes the colour scheme at its start. */
export function sharedBrowser(engine: "chromium" | "firefox", scheme?: ColorScheme): Promise<Browser> {
  const key = engine === "firefox" ? `${engine} ${scheme}` : engine
  const browser = shared.get(key) ?? launch(engine, scheme)
  shared.set(key, browser)
  return browser
}

function launch(engine: "chromium" | "firefox", scheme?: ColorScheme): Promise<Browser> {
  if (engine === "chromium") return chromium.launch(chromiumOptions)
  return firefox.launch(scheme === undefined ? firefoxOptions : firefoxOptionsFor(scheme))
}

function firefoxOptionsOf(o: BrowserOptions): LaunchOptions {
  const firefoxUserPrefs = {
    ...firefoxOptions.firefoxUserPrefs,
    ...(o.private === true && { "browser.privatebrowsing.autostart": true }),
    ...(o.siteData === "blocked" && { "network.cookie.cookieBehavior": 2 }),
    // In KB, of which a site gets a third.
    ...(o.siteData === "small" && {
      "dom.quotaManager.testing": true,
      "dom.quotaManager.temporaryStorage.fixedLimit": 30_000,
    }),
  }
  return { ...firefoxOptions, firefoxUserPrefs }
}

/** The setting is in the profile. */
async function openBlockedChromium(options: LaunchOptions): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), "sessions-chromium-"))
  await mkdir(join(profile, "Default"))
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } }
  await writeFile(join(profile, "Default", "Preferences"), JSON.stringify(preferences))
  const context = await chromium.launchPersistentContext(profile, options)
  return toPage("chromium", await context.newPage(), async () => {
    await context.close()
    await rm(profile, { recursive: true, force: true })
  })
}

async function toPage(engine: Engine, page: PlaywrightPage, close: () => Promise<void>): Promise<Page> {
  page.setDefaultTimeout(HANG_MS)
  const tools = engine === "chromium" ? await page.context().newCDPSession(page) : undefined
  return {
    open: async (url) => void (await page.goto(url)),
    evaluate: (body) => page.evaluate(`(async () => { ${body} })()`),
    ...(tools !== undefined && { devTools: (method, params) => tools.send(method, params) }),
    close,
  }
}

export interface Server {
  readonly url: string
  close(): Promise<void>
}

/** Serves texts by path; every other path that ends with a slash is an empty page. */
export function serve(files: Readonly<Record<string, string>>): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/"
    const text =
      files[path] ?? (path.endsWith("/") ? "<!doctype html><meta charset=utf-8><title>test</title>" : undefined)
    const type = path.endsWith(".js") ? "text/javascript" : "text/html"
    response.writeHead(text === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(text)
  })
  // If no browser starts, the test fails before it can close the server, which must not keep its process alive.
  server.unref()
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      resolve({
        url: `http://127.0.0.1:${port}/`,
        close: () =>
          new Promise((done) => {
            server.close(() => done())
            server.closeAllConnections()
          }),
      })
    })
  })
}
