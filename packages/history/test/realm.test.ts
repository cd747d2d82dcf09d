import { runInNewContext } from "node:vm"
import { createMemoryHistory } from "@sessions/history"
import { expect, test } from "vitest"

test("a Date of another realm, as of another frame or a VM context, is a Date", async () => {
  const history = createMemoryHistory()
  history.add("typed")
  expect(await history.clear({ olderThan: runInNewContext("new Date(0)") as Date })).toBe(0)
  const invalid = runInNewContext("new Date(NaN)") as Date
  await expect(history.clear({ olderThan: invalid })).rejects.toMatchObject({ code: "invalid" })
  expect(await history.clear({ olderThan: runInNewContext(`new Date(${Date.now() + 60_000})`) as Date })).toBe(1)
})
