/** The page under axe-core in the engine ENGINE: every view, light and dark, at 320 and 1,280 px; and nothing is wider than the screen. */
import assert from "node:assert/strict"
import { after, test } from "node:test"
import { createSessions } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import axe from "axe-core"
import type { ColorScheme } from "../../../../.config/browsers/launch.ts"
import { type Server, serve, sharedBrowser } from "../../../../.config/browsers/page.ts"
import { sessionPage } from "../../src/index.ts"
import { textOf } from "../page-data.ts"
import { sampleSession } from "../sample.ts"

const TABS = ["conversation", "tree", "compare", "context", "usage", "compactions", "diagnostics", "details"]

const engine = process.env["ENGINE"] ?? "chromium"
const isDeep = process.env["DEEP"] !== undefined
/** Each takes ten seconds of CPU time, so that only deep runs have Firefox, and each width in both schemes. */
const isLeftOut = (width: number, scheme: ColorScheme): boolean =>
  !isDeep && (engine !== "chromium" || (width === 320) !== (scheme === "light"))

let server: Server | undefined
after(() => server?.close())

interface Finding {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

// Playwright sets the size and the colour scheme; it does not drive WebKitGTK.
if (engine === "chromium" || engine === "firefox")
  for (const width of [320, 1280])
    for (const colorScheme of ["light", "dark"] as const) {
      if (isLeftOut(width, colorScheme)) continue
      void test(`${engine}: no serious finding of axe-core, nothing wider than the screen: ${width} px, ${colorScheme}`, async (t) => {
        server ??= await serve({ "/": await samplePage() })
        const browser = await sharedBrowser(engine, colorScheme)
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme })
        t.after(() => page.close())
        const isDark = await page.evaluate<boolean>(`matchMedia("(prefers-color-scheme: dark)").matches`)
        assert.equal(isDark, colorScheme === "dark")
        for (const tab of TABS) {
          await page.goto(`${server.url}#!${tab}`)
          await page.locator("main h2, main article").first().waitFor()
          await page.evaluate(`for (const fold of document.querySelectorAll("details")) fold.open = true`)
          await page.evaluate(
            `for (const raw of [...document.querySelectorAll("article header button")].slice(0, 3)) raw.click()`,
          )
          const wide = await page.evaluate<number>(`document.documentElement.scrollWidth`)
          assert.ok(wide <= width, `${tab} is ${wide} px wide`)
          await page.evaluate(axe.source)
          const { violations } = await page.evaluate<{ violations: readonly Finding[] }>(`axe.run()`)
          const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical")
          assert.deepEqual(
            serious.map(({ id, nodes }) => `${tab}: ${id}: ${nodes[0]?.html}`),
            [],
          )
        }
      })
    }

async function samplePage(): Promise<string> {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const { id } = await sampleSession(sessions)
  return textOf(sessionPage(sessions, id, { subagents: true }))
}
