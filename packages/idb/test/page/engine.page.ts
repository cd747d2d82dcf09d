/** Tests in pages without a test runner, in the engine ENGINE: the suite through `run()`, workers, concurrent appends, a full disk. */
import assert from "node:assert/strict"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, test } from "node:test"
import type { Engine } from "../../../../.config/browsers/page.ts"
import { type Driven, drive, driveOn, serveScript } from "./driver.ts"
import { mountSmallDisk } from "./small-disk.ts"
import type { Filled, Race, WorkerKind } from "./page.ts"
import type { Summary } from "./summary.ts"

const engine = (process.env["ENGINE"] ?? "chromium") as Engine
const RACES = Number(process.env["RACES"] ?? 100)
const WORKERS = 32
/** The groups that depend on the environment: transactions, channels, hashes. Limits and large logs do not. */
const GROUPS = ["open", "create", "append", "cas", "docs", "blobs", "watch"]

let opened: Promise<Driven> | undefined
const page = (): Promise<Driven> => (opened ??= drive(engine, "page.ts"))
after(async () => (await opened)?.close())

if (process.env["DEEP"] !== undefined)
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
  void test(`${engine}: the groups that depend on the environment pass in a ${kind}`, async (context) => {
    const summary = await (await page()).call<Summary | string>("tests", "inWorker", kind, GROUPS)
    if (typeof summary === "string") {
      console.log(`${engine}: no ${kind}: ${summary}`)
      return context.skip(summary)
    }
    assert.deepEqual(summary.failures, [])
    assert.ok(summary.passed > 40, `${summary.passed} passed`)
  })
}

void test(`${engine}: of ${WORKERS} workers that append with the same expected head exactly one succeeds, ${RACES} times`, async () => {
  const race = await (await page()).call<Race>("tests", "race", WORKERS, RACES)
  assert.deepEqual(race, { wrong: [], lines: RACES + 1, misplaced: 0 })
})

void test(`${engine}: if the origin's quota is used up an append is "quota", nothing is lost, and appends work again when there is space`, async (context) => {
  if (engine !== "chromium") {
    const reason = `${engine} cannot set a quota; the suite's injected fault tests the same`
    console.log(reason)
    return context.skip(reason)
  }
  const window = await drive(engine, "page.ts", { fresh: true })
  try {
    assert.ok(window.devTools)
    const origin = String(await window.evaluate("return location.origin"))
    await window.devTools("Storage.overrideQuotaForOrigin", { origin, quotaSize: 4_000_000 })
    await window.call("tests", "begin")
    const { code, message, acknowledged, found } = await window.call<Filled>("tests", "fill")
    assert.equal(code, "quota")
    assert.match(message, /delete sessions or free space/)
    assert.ok(acknowledged > 1, `${acknowledged} lines were acknowledged`)
    assert.equal(found, acknowledged)
    await window.devTools("Storage.overrideQuotaForOrigin", { origin, quotaSize: 100_000_000 })
    assert.equal(await window.call<number>("tests", "appendAfterDelete"), acknowledged + 1)
  } finally {
    await window.close()
  }
})

void test(`${engine}: on a full disk an append is "quota", nothing acknowledged is lost, and appends work again when there is space`, async (context) => {
  const disk = engine === "webkit" ? "the driver of WebKitGTK takes no profile" : mountSmallDisk(80_000_000)
  if (typeof disk === "string") {
    console.log(`${engine}: no full disk: ${disk}`)
    return context.skip(disk)
  }
  try {
    const window = await drive(engine, "page.ts", { profile: disk.profile })
    try {
      await window.call("tests", "begin")
      disk.fillUp(6_000_000)
      const { code, acknowledged, found } = await window.call<Filled>("tests", "fill")
      assert.equal(code, "quota")
      assert.ok(acknowledged > 1, `${acknowledged} lines were acknowledged`)
      assert.equal(found, acknowledged)
      disk.free()
      assert.equal(await window.call<number>("tests", "appendAfterDelete"), acknowledged + 1)
    } finally {
      await window.close()
    }
  } finally {
    disk.close()
  }
})

if (process.env["DEEP"] !== undefined && engine === "chromium")
  void test(`${engine}: a database that the browser deletes as damaged is told once as "corrupt", not as empty`, async () => {
    const profile = mkdtempSync(join(tmpdir(), "sessions-profile-"))
    const server = await serveScript("page.ts")
    try {
      const before = await driveOn(server, engine, { profile })
      await before.call("tests", "begin")
      await before.close()
      for (const log of globSync(join(profile, "**", "*.indexeddb.leveldb", "*.log"))) {
        const bytes = readFileSync(log)
        writeFileSync(log, bytes.fill(7, 2_000, 3_000))
      }
      const after = await driveOn(server, engine, { profile })
      try {
        await assert.rejects(after.call("tests", "begin"), /found its data of this site damaged and has deleted it/)
        await after.call("tests", "begin")
      } finally {
        await after.close()
      }
    } finally {
      await server.close()
      rmSync(profile, { recursive: true, force: true })
    }
  })
