import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { removeOf, withLock } from "../lib/lock.mjs"

let folder
let file
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sessions-lock-"))
  file = join(folder, "lock")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** The id of a process that has ended. */
const ended = () => spawnSync(process.execPath, ["--version"]).pid

test("works run one after the other, and leave no file", async () => {
  const order = []
  const work = (name) =>
    withLock(file, async () => {
      order.push(`${name} begins`)
      await new Promise(setImmediate)
      order.push(`${name} ends`)
    })
  await Promise.all([work("a"), work("b")])
  expect(order.map((line) => line.split(" ")[1])).toEqual(["begins", "ends", "begins", "ends"])
  expect(existsSync(file)).toBe(false)
})

test("the file of a process that was killed does not count", async () => {
  writeFileSync(file, String(ended()))
  expect(await withLock(file, () => "ran")).toBe("ran")
})

test("a process that saw the file of a killed one leaves that of the next holder", () => {
  const holder = ended()
  writeFileSync(file, String(process.pid))
  removeOf(holder, file)
  expect(readFileSync(file, "utf8")).toBe(String(process.pid))
})

test("a process killed while it removed such a file keeps no other from it", async () => {
  const holder = ended()
  writeFileSync(file, String(holder))
  writeFileSync(`${file}.of-${holder}`, String(ended()))
  expect(await withLock(file, () => "ran")).toBe("ran")
})
