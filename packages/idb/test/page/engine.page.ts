/** In a page with no test runner, of the engine that ENGINE names: the suite through `run()`, its workers, and a race of many. */
import assert from "node:assert/strict"
import { after, test } from "node:test"
import type { Engine } from "../../../../.config/browsers/page.ts"
import { type Driven, drive } from "./driver.ts"
import type { Filled, Race, WorkerKind } from "./page.ts"
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

void test(`${engine}: with the origin's quota used up an append is "quota", nothing is lost, and it works when there is room`, async (context) => {
  // A browser of its own: Chromium remembers for half a minute how much room there was.
  const window = await drive(engine, "page.ts")
  try {
    if (window.devTools === undefined) {
      const reason = `${engine} has no tool that sets a quota; the suite's fault stands in for it`
      console.log(reason)
      return context.skip(reason)
    }
    const origin = String(await window.evaluate("return location.origin"))
    await window.devTools("Storage.overrideQuotaForOrigin", { origin, quotaSize: 4_000_000 })
    const { code, message, acknowledged, found } = await window.call<Filled>("tests", "fill")
    assert.equal(code, "quota")
    assert.match(message, /delete sessions or free space/)
    assert.ok(acknowledged > 1, `${acknowledged} lines were acknowledged`)
    assert.deepEqual(found, [acknowledged, acknowledged])
    await window.devTools("Storage.overrideQuotaForOrigin", { origin, quotaSize: 100_000_000 })
    assert.equal(await window.call<number>("tests", "goOn"), acknowledged + 1)
  } finally {
    await window.close()
  }
})
