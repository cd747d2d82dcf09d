/** IndexedDB: tabs of one Chromium, with a profile on disk. A kill closes the tab, or ends the process behind it. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium, type Page } from "playwright"
import { bundle } from "../../../../.config/browsers/bundle.ts"
import { chromiumOptions } from "../../../../.config/browsers/launch.ts"
import { serve } from "../../../../.config/browsers/page.ts"
import { HANG_MS } from "../../../../.config/limits.ts"
import type { Answer, Call, Plan, Stored } from "../client/plan.ts"
import type { Recording } from "../recording.ts"
import type { Client, Store } from "./store.ts"

type Report = { readonly begin: number; readonly call: Call } | { readonly end: number; readonly answer: Answer }

export async function openStore(): Promise<Store> {
  const script = await bundle(fileURLToPath(new URL("../client/page.ts", import.meta.url)))
  const html = '<!doctype html><meta charset="utf-8"><title>linear</title><script src="page.js"></script>'
  const server = await serve({ "/": html, "/page.js": script })
  const profile = mkdtempSync(join(tmpdir(), "sessions-linear-"))
  const context = await chromium.launchPersistentContext(profile, chromiumOptions)
  context.setDefaultTimeout(HANG_MS)
  let opened = 0
  let killed = 0
  return {
    atomicBatch: "all",
    async open() {
      const place = `linear-${opened++}`
      return {
        start: (plan, recording, begun) => startTab({ ...plan, place }, recording, begun),
        settle: async () => undefined,
        async readStored(plan) {
          const page = await openTab()
          const stored = await follow(page, { ...plan, place })
          await page.close()
          return stored
        },
        remove: async () => undefined,
      }
    },
    async close() {
      await context.close()
      await server.close()
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }

  async function openTab(): Promise<Page> {
    const page = await context.newPage()
    await page.goto(server.url)
    return page
  }

  function startTab(plan: Plan, recording: Recording, begun: () => void): Client {
    let kill = (): void => undefined
    const death = new Promise<void>((resolve) => {
      kill = resolve
    })
    return { kill, ended: run() }

    async function run(): Promise<void> {
      const page = await openTab()
      // The times of this process: a call begins after its report has come, and ends before that of its answer goes.
      await page.exposeFunction("report", (report: Report) => {
        if ("end" in report) recording.end(plan.name, report.end, report.answer, performance.now())
        else {
          recording.begin(plan.name, report.begin, report.call, performance.now())
          begun()
        }
      })
      const crashed = new Promise<void>((resolve) => page.once("crash", () => resolve()))
      const done = follow(page, plan)
      const isDead = await Promise.race([done.then(() => false), death.then(() => true)])
      if (isDead) {
        done.catch(() => undefined)
        if (killed++ % 2 === 0) await crash(page, crashed)
      }
      await page.close()
    }
  }

  async function crash(page: Page, crashed: Promise<void>): Promise<void> {
    const tools = await context.newCDPSession(page)
    void tools.send("Page.crash").catch(() => undefined)
    await crashed
  }
}

function follow(page: Page, plan: Plan): Promise<Stored> {
  return page.evaluate<Stored>(`client.follow(${JSON.stringify(plan)})`)
}
