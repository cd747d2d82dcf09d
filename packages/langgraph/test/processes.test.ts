/** A process on a thread in files that is killed. */
import { expect, test } from "vitest"
import { newFolder } from "./folders.ts"
import { killPutter } from "./putters.ts"

test("a process that is killed while it puts loses nothing that was stored and doubles nothing, and the next one goes on", async () => {
  expect(await killPutter(newFolder(), "killed", ({ stored }) => stored() > 5)).toBeGreaterThan(5)
})
