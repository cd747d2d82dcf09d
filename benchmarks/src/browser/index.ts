/** Benchmarks of IndexedDB in a browser, whose profile is on disk if the engine allows it. */
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "../../../.config/browsers/bundle.ts"
import type { Engine } from "../../../.config/browsers/page.ts"
import { withFolder } from "../folder.ts"
import { type Result, type Scenario, timed } from "../report.ts"
import { ROUNDS } from "../rounds.ts"
import type { PageBenchmarks, PageFigures } from "./page.ts"

export const engines: readonly Engine[] = ["chromium", "firefox", "webkit"]

/** Many short rounds, since the time of a disk sync varies from second to second. */
const APPENDS = 50
const APPEND_ROUNDS = 30

export function browserScenarios(quick: boolean, engine: Engine): readonly Scenario[] {
  // The default `maxSessionBytes` less one batch.
  const bytes = quick ? 10e6 : 199e6
  const rounds = quick ? 5 : ROUNDS
  return [
    {
      id: "idb.append",
      async run() {
        const figures = await inPage(engine, "append", { count: APPENDS, rounds: quick ? 5 : APPEND_ROUNDS })
        return result("idb.append", "µs/message", figures, (ms) => (ms * 1_000) / APPENDS)
      },
    },
    {
      id: "idb.replay.200mb",
      async run() {
        const figures = await inPage(engine, "replay", { bytes, rounds })
        return result("idb.replay.200mb", "ms", figures, (ms) => ms)
      },
    },
  ]

  function result(
    id: string,
    unit: string,
    { pair, work, userAgent }: PageFigures,
    to: (ms: number) => number,
  ): Result {
    const [, version = ""] = /(?:Chrome|Firefox|Version)\/(\d+)/.exec(userAgent) ?? []
    const inUnit = { ours: pair.ours.map(to), raw: pair.raw.map(to) }
    return { ...timed(id, unit, inUnit), runtime: `${engine} ${version}`, work }
  }
}

/** Runs one benchmark in a new browser and closes it. */
function inPage<K extends keyof PageBenchmarks>(
  engine: Engine,
  name: K,
  options: Parameters<PageBenchmarks[K]>[0],
): Promise<PageFigures> {
  return withFolder(async (folder) => {
    const script = await bundle(fileURLToPath(new URL("page.ts", import.meta.url)), { conditions: [] })
    // Not before it is needed: it imports `node:test`, whose report would be among the listed rows.
    const { openBrowser, serve } = await import("../../../.config/browsers/page.ts")
    const server = await serve({ "/page.js": script })
    const page = await openBrowser(engine, { profile: join(folder, "profile") })
    try {
      await page.open(server.url)
      await page.evaluate(`await new Promise((onload) => {
        document.head.append(Object.assign(document.createElement("script"), { src: "page.js", onload }))
      })`)
      return (await page.evaluate(`return benchmarks.${name}(${JSON.stringify(options)})`)) as PageFigures
    } finally {
      await page.close()
      await server.close()
    }
  })
}
