import { expect, test } from "vitest"
import { checkRestores } from "../../core/test/restores.ts"
import { makeStore } from "./restores.ts"

test("after a restore no line is behind one that its writer has not seen, and every lost entry is named", async () => {
  expect(await checkRestores(makeStore, 10)).toBe(10)
})
