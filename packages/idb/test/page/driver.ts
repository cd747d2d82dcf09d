/** Pages for the driver: the bundled scripts on a server, a browser that has loaded them. */
import { fileURLToPath } from "node:url"
import { bundle } from "../../../../.config/browsers/bundle.ts"
import { type BrowserOptions, type Engine, openBrowser, type Page, serve } from "../../../../.config/browsers/page.ts"

export interface Driven extends Page {
  /** Calls a function of an object that the page's script has put on its global. */
  call<T>(object: string, name: string, ...args: unknown[]): Promise<T>
}

export async function drive(engine: Engine, script: string, options: BrowserOptions = {}): Promise<Driven> {
  const bundled = (name: string): Promise<string> => bundle(fileURLToPath(new URL(name, import.meta.url)))
  const files = {
    "/": '<!doctype html><meta charset="utf-8"><title>test</title><script src="page.js"></script>',
    "/page.js": await bundled(script),
    "/worker.js": await bundled("worker.ts"),
  }
  const server = await serve(files)
  const page = await openBrowser(engine, options)
  await page.open(server.url)
  return {
    ...page,
    call: (object, name, ...args) =>
      page.evaluate(`return ${object}.${name}(...${JSON.stringify(args)})`) as Promise<never>,
    async close() {
      await page.close()
      await server.close()
    },
  }
}
