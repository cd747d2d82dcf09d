/** Bundles and serves a test page, and opens it in a browser. */
import { fileURLToPath } from "node:url"
import { bundle } from "../../../../.config/browsers/bundle.ts"
import {
  type BrowserOptions,
  type Engine,
  openBrowser,
  type Page,
  type Server,
  serve,
} from "../../../../.config/browsers/page.ts"

export interface Driven extends Page {
  /** Calls a function of a global object of the page. */
  call<T>(object: string, name: string, ...args: unknown[]): Promise<T>
}

export async function drive(engine: Engine, script: string, options: BrowserOptions = {}): Promise<Driven> {
  const server = await serveScript(script)
  const page = await driveOn(server, engine, options)
  return {
    ...page,
    async close() {
      await page.close()
      await server.close()
    },
  }
}

/** A server of the page with this script, for several browsers on one origin. */
export async function serveScript(script: string): Promise<Server> {
  const bundled = (name: string): Promise<string> => bundle(fileURLToPath(new URL(name, import.meta.url)))
  return serve({
    "/": '<!doctype html><meta charset="utf-8"><title>test</title><script src="page.js"></script>',
    "/page.js": await bundled(script),
    "/worker.js": await bundled("worker.ts"),
  })
}

export async function driveOn(server: Server, engine: Engine, options: BrowserOptions = {}): Promise<Driven> {
  const page = await openBrowser(engine, options)
  try {
    await page.open(server.url)
  } catch (error) {
    await page.close()
    throw error
  }
  return {
    ...page,
    call: (object, name, ...args) =>
      page.evaluate(`return ${object}.${name}(...${JSON.stringify(args)})`) as Promise<never>,
  }
}
