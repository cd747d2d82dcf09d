import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { hasStorageCode } from "@sessions/core/storage"
import { afterEach, beforeEach, expect, test } from "vitest"
import { withFileLock } from "./index.ts"

let folder = ""
beforeEach(() => void (folder = fs.mkdtempSync(join(tmpdir(), "sessions-file-lock-"))))
afterEach(() => fs.rmSync(folder, { recursive: true }))

test("work under one lock runs one after another, and the folder of the lock is made", async () => {
  const lock = join(folder, "deep", ".lock")
  let running = 0
  let most = 0
  const work = async (): Promise<void> => {
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
  }
  await Promise.all(Array.from({ length: 8 }, () => withFileLock(lock, work)))
  expect(most).toBe(1)
  expect(fs.readdirSync(join(folder, "deep"))).toEqual([])
})

test("what the work throws is passed on unchanged, and the lock is released", async () => {
  const lock = join(folder, ".lock")
  const error = Object.assign(new Error("mine"), { code: "ENOSPC" })
  await expect(withFileLock(lock, () => Promise.reject(error))).rejects.toBe(error)
  expect(await withFileLock(lock, async () => "again")).toBe("again")
})

test("a lock that is held is `unavailable` after the timeout, and `aborted` at the signal", async () => {
  const lock = join(folder, ".lock")
  await withFileLock(lock, async () => {
    const late = await withFileLock(lock, async () => undefined, { timeout: 1 }).catch((error: unknown) => error)
    expect(hasStorageCode(late, "unavailable")).toBe(true)
    // An option of the storage, not of this function.
    expect(String(late)).not.toContain("lockTimeout")
    const stop = new AbortController()
    const waiting = withFileLock(lock, async () => undefined, { signal: stop.signal }).catch((error: unknown) => error)
    stop.abort()
    expect(hasStorageCode(await waiting, "aborted")).toBe(true)
  })
})

test("a holder that lost its lock learns it from checkHeld", async () => {
  const lock = join(folder, ".lock")
  const holder = withFileLock(lock, async (checkHeld) => {
    checkHeld()
    fs.writeFileSync(lock, JSON.stringify({ token: "another", pid: process.pid }))
    checkHeld()
  })
  await expect(holder).rejects.toThrow(/was taken over/)
  fs.rmSync(lock)
})

test("a folder that is a link is refused", async () => {
  fs.mkdirSync(join(folder, "real"))
  fs.symlinkSync(join(folder, "real"), join(folder, "link"))
  const refused = await withFileLock(join(folder, "link", ".lock"), async () => undefined).catch(
    (error: unknown) => error,
  )
  expect(hasStorageCode(refused, "misconfigured")).toBe(true)
  expect(fs.readdirSync(join(folder, "real"))).toEqual([])
})

test.each(["an hour ahead", "an hour ago"])(
  "a lock that nobody refreshes, with a time that is %s, is taken over however short each call waits",
  async (time) => {
    const lock = join(folder, ".lock")
    fs.writeFileSync(lock, JSON.stringify({ token: "t", pid: 1, host: "another", boot: "b", space: "", fence: false }))
    const at = Date.now() / 1_000 + (time === "an hour ahead" ? 3_600 : -3_600)
    fs.utimesSync(lock, at, at)
    const take = () => withFileLock(lock, async () => "taken", { timeout: 50 })
    let fate: unknown
    // More than half a second altogether.
    for (let tries = 0; tries < 40 && fate !== "taken"; tries++) fate = await take().catch((error: unknown) => error)
    expect(fate).toBe("taken")
  },
)
