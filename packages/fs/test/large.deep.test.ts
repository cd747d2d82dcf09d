/** What must not grow: memory and descriptors with the number of appends and opens, memory with a log. */
import * as fs from "node:fs"
import { expect, test } from "vitest"
import { makeRoot } from "./helpers.ts"
import { measured, replayTest } from "./measured.ts"

const hasProc = fs.existsSync("/proc/self/fd")
if (!hasProc) console.log("Tests of descriptors are left out: this system has no /proc to see them in.")

test.skipIf(!hasProc)("100,000 appends leave memory and descriptors as they were", async () => {
  const { lines, bytes, descriptors } = await measured("appends", makeRoot())
  expect(lines).toBe(100_000)
  expect(descriptors).toBeLessThanOrEqual(2)
  expect(bytes).toBeLessThan(2_000_000)
})

test.skipIf(!hasProc)("1,000 opens leave memory and descriptors as they were", async () => {
  const { lines, bytes, descriptors } = await measured("opens", makeRoot())
  expect(lines).toBe(1_000)
  expect(descriptors).toBeLessThanOrEqual(2)
  expect(bytes).toBeLessThan(4_000_000)
})

replayTest(5, 40_000_000)
replayTest(1, 100_000_000)
