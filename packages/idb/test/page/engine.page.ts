/** In a page with no test runner, of the engine that ENGINE names: the suite through `run()`, its workers, and a race of many. */
import assert from "node:assert/strict"
import { after, test } from "node:test"
import type { Engine } from "../../../../.config/browsers/page.ts"
import { type Driven, drive } from "./driver.ts"
import type { Race, WorkerKind } from "./page.ts"
import type { Summary } from "./summary.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine
const RACES = Number(process.env["RACES"] ?? 100)
const CONTEXTS = 32
/** What depends on where code runs: transactions, channels, hashes. Limits and large logs do not. */
const PART = ["open", "create", "append", "cas", "docs", "blobs", "watch"]

let opened: Promise<Driven> | undefined
const page = (): Promise<Driven> => (opened ??= drive(engine, "page.ts"))
after(async () => (await opened)?.close())

void test(`${engine}: the suite passes in a private window, without a runner`, async () => {
  const window = await drive(engine, "page.ts", { private: true })
  try {
    const { passed, failures } = await window.call<Summary>("tests", "conformance")
    assert.deepEqual(failures, [])
    assert.ok(passed > 100, `${passed} passed`)
  } finally {
    await window.close()
  }
})

for (const kind of ["Worker", "SharedWorker", "ServiceWorker"] satisfies WorkerKind[]) {
  void test(`${engine}: the part of the suite that depends on it passes in a ${kind}`, async (context) => {
    const summary = await (await page()).call<Summary | string>("tests", "inWorker", kind, PART)
    if (typeof summary === "string") {
      console.log(`${engine}: no ${kind}: ${summary}`)
      return context.skip(summary)
    }
    assert.deepEqual(summary.failures, [])
    assert.ok(summary.passed > 40, `${summary.passed} passed`)
  })
}

void test(`${engine}: of ${CONTEXTS} workers that append on one head exactly one wins, ${RACES} times`, async () => {
  const race = await (await page()).call<Race>("tests", "race", CONTEXTS, RACES)
  assert.deepEqual(race, { wrong: [], lines: RACES + 1, strange: 0 })
})
