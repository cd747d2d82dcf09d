/** A browser provider of vitest for WebKitGTK, which playwright does not drive. */
import { defineBrowserProvider } from "@vitest/browser"
import type { BrowserCommands } from "vitest/browser"
import type { BrowserProvider, BrowserProviderOption, TestProject } from "vitest/node"
import { startWebKit, type WebKit } from "./webkit.ts"

export function webkit(): BrowserProviderOption {
  return defineBrowserProvider({
    name: "webkit-webdriver",
    supportedBrowser: ["webkit"],
    options: {},
    providerFactory: createProvider,
  })
}

/** An internal command of vitest, missing in its types. */
const VIEWPORT = "__vitest_viewport" as keyof BrowserCommands

function createProvider(project: TestProject): BrowserProvider {
  let starting: Promise<WebKit> | undefined
  // The frame of the tests keeps its size.
  project.browser?.registerCommand(VIEWPORT, async () => undefined)
  return {
    name: "webkit-webdriver",
    supportsParallelism: false,
    initScripts: [],
    getCommandsContext: () => ({}),
    async openPage(_session, url) {
      starting ??= startWebKit()
      await (await starting).open(url)
    },
    async close() {
      const browser = starting
      starting = undefined
      await (await browser?.catch(() => undefined))?.close()
    },
  }
}
