/** Pages for which the browser stores nothing, and sites that are full, in the engines themselves. */
import assert from "node:assert/strict"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { bundle } from "../../../../.config/browsers/bundle.ts"
import { type BrowserOptions, type Engine, openBrowser, type Page, serve } from "../../../../.config/browsers/page.ts"
import type { FullSite, Outcomes } from "./page.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine

/** What the sentences name that works all the same. */
const INSTEAD: Readonly<Record<string, RegExp>> = {
  storage: /allow its site data.*@sessions\/memory/,
  session: /allow its site data.*@sessions\/memory/,
  search: /allow its site data.*createMemoryIndex/,
  history: /allow its site data.*createMemoryHistory/,
}

function assertUnsupported(outcomes: Outcomes): void {
  for (const [name, instead] of Object.entries(INSTEAD)) {
    const { code, message } = outcomes[name as "storage" | "session" | "search" | "history"]
    assert.equal(code, "unsupported", `${name}: ${message}`)
    assert.match(message, instead)
  }
}

if (engine === "webkit") {
  const reason =
    "webkit takes no setting for site data, and opens no frames from here; the tests with injected errors have its messages"
  void test(`${engine}: site data`, { skip: reason }, () => undefined)
  console.log(reason)
} else {
  void test(`${engine}: if the user blocks site data, storage, search and history are "unsupported", say what to allow, and name what works`, () =>
    withPage({ siteData: "blocked" }, async ({ call }) => {
      const outcomes = await call<Outcomes>("calls")
      assertUnsupported(outcomes)
      assert.equal((outcomes.space as unknown[])[0], false)
    }))

  void test(`${engine}: so they are in a sandboxed frame, where nothing is persisted and there is no estimate; a full site is "quota" each time, is read, searched and deleted from`, () =>
    withPage({ siteData: "small" }, async ({ page, call }) => {
      const outcomes = await call<Outcomes>("callsInSandbox")
      assertUnsupported(outcomes)
      assert.deepEqual(outcomes.space, [false, "undefined"])

      const origin = String(await page.evaluate("return location.origin"))
      await page.devTools?.("Storage.overrideQuotaForOrigin", { origin, quotaSize: 12_000_000 })
      const { refused, messages, hits, unreadable, deleted } = await call<FullSite>("fillSite")
      assert.ok(refused.length > 10, `${refused.length} writes were refused`)
      assert.deepEqual(new Set(refused), new Set(["quota"]))
      assert.equal(messages[1], messages[0])
      assert.deepEqual(hits.toSorted(), ["old-0", "old-1"])
      assert.deepEqual(unreadable, [{ id: "talk", code: "quota" }])
      assert.deepEqual(deleted, [undefined, undefined])
      await page.devTools?.("Storage.overrideQuotaForOrigin", { origin, quotaSize: 100_000_000 })
      assert.deepEqual(await call("searchAgain"), ["old-0", "talk"])
    }))
}

interface Driven {
  readonly page: Page
  readonly call: <T>(name: string) => Promise<T>
}

async function withPage(options: BrowserOptions, work: (driven: Driven) => Promise<void>): Promise<void> {
  const server = await serve({
    "/": '<!doctype html><meta charset="utf-8"><title>test</title><body><script src="page.js"></script>',
    "/page.js": await bundle(fileURLToPath(new URL("page.ts", import.meta.url))),
  })
  const page = await openBrowser(engine, options)
  try {
    await page.open(server.url)
    await work({ page, call: (name) => page.evaluate(`return tests.${name}()`) as Promise<never> })
  } finally {
    await page.close()
    await server.close()
  }
}
