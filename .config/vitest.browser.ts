/** Vitest's configuration for tests that need a browser, `*.browser.test.ts`, with a project for each engine. */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { playwright } from "@vitest/browser-playwright"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import type { BrowserProviderOption } from "vitest/node"
import { chromiumOptions, firefoxOptions } from "./browsers/launch.ts"
import { webkit } from "./browsers/webkit-provider.ts"
import { deep } from "./deep.ts"
import { HANG_MS } from "./limits.ts"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Without a profile Chromium keeps the storage of pages in memory. */
const profile = join(root, ".reports", "chromium-profile")

export default defineConfig({
  root,
  test: {
    teardownTimeout: HANG_MS,
    projects: [
      project("chromium", playwright({ launchOptions: chromiumOptions, persistentContext: profile })),
      project("firefox", playwright({ launchOptions: firefoxOptions })),
      // It has no headless mode: its provider starts a virtual screen.
      project("webkit", webkit(), { headless: false }),
    ],
  },
})

function project(
  browser: "chromium" | "firefox" | "webkit",
  provider: BrowserProviderOption,
  { headless } = { headless: true },
): TestProjectInlineConfiguration {
  return {
    root,
    // Of the global setup, which runs in Node from the sources too: without it that would need a build.
    environments: { __vitest__: { resolve: { conditions: ["node", "@sessions/source", "import", "default"] } } },
    resolve: { conditions: ["@sessions/source", "import", "module", "browser", "default"] },
    define: { "process.env": JSON.stringify({ SEED: process.env["SEED"] }) },
    test: {
      name: browser,
      include: ["packages/*/test/**/*.browser.test.ts"],
      exclude: ["**/node_modules/**", "**/dist/**", ...(deep ? [] : ["**/*.deep.browser.test.ts"])],
      setupFiles: ".config/seed.ts",
      globalSetup: "packages/http/test/servers/for-pages.ts",
      testTimeout: HANG_MS,
      hookTimeout: HANG_MS,
      expect: { poll: { timeout: HANG_MS } },
      browser: {
        enabled: true,
        provider,
        headless,
        ui: false,
        screenshotFailures: false,
        connectTimeout: HANG_MS,
        instances: [{ browser }],
      },
    },
  }
}
