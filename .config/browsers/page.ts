/** A page in a browser with no test runner, and a server on loopback for it. */
import { createServer } from "node:http"
import { chromium, firefox, type LaunchOptions, type Page as PlaywrightPage } from "playwright"
import { chromiumOptions, firefoxOptions } from "./launch.ts"
import { startWebKit } from "./webkit.ts"

export type Engine = "chromium" | "firefox" | "webkit"

export interface Page {
  open(url: string): Promise<void>
  /** What the body of an asynchronous function returns, run in the page; its error as an error. */
  evaluate(body: string): Promise<unknown>
  /** Chromium's own tools. */
  readonly devTools?: DevTools
  close(): Promise<void>
}

export type DevTools = (
  method: "Storage.overrideQuotaForOrigin",
  params: { origin: string; quotaSize?: number },
) => Promise<unknown>

export interface BrowserOptions {
  /** A folder that keeps what pages store; else nothing outlives the browser. */
  readonly profile?: string
  /** As in a private window, which playwright's Chromium and a driven WebKitGTK are always, unless they have a profile. */
  readonly private?: boolean
}

export async function openBrowser(engine: Engine, o: BrowserOptions = {}): Promise<Page> {
  if (engine === "webkit") return startWebKit()
  const type = engine === "chromium" ? chromium : firefox
  const options = engine === "chromium" ? chromiumOptions : firefoxOptionsFor(o)
  const { profile } = o
  if (profile !== undefined) {
    const context = await type.launchPersistentContext(profile, options)
    return toPage(engine, context.pages()[0] ?? (await context.newPage()), () => context.close())
  }
  const browser = await type.launch(options)
  return toPage(engine, await browser.newPage(), () => browser.close())
}

function firefoxOptionsFor(o: BrowserOptions): LaunchOptions {
  if (o.private !== true) return firefoxOptions
  const firefoxUserPrefs = { ...firefoxOptions.firefoxUserPrefs, "browser.privatebrowsing.autostart": true }
  return { ...firefoxOptions, firefoxUserPrefs }
}

async function toPage(engine: Engine, page: PlaywrightPage, close: () => Promise<void>): Promise<Page> {
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

/** Serves texts by their path; any other path that ends with a slash is an empty page. */
export function serve(files: Readonly<Record<string, string>>): Promise<Server> {
  const server = createServer((request, response) => {
    const path = (request.url ?? "/").split("?")[0] ?? "/"
    const text =
      files[path] ?? (path.endsWith("/") ? "<!doctype html><meta charset=utf-8><title>test</title>" : undefined)
    const type = path.endsWith(".js") ? "text/javascript" : "text/html"
    response.writeHead(text === undefined ? 404 : 200, { "content-type": `${type}; charset=utf-8` }).end(text)
  })
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
