import { expect, test } from "vitest"
import { rounds } from "../../../.config/rounds.ts"
import { checkRestores } from "../../core/test/restores.ts"
import { makeStore } from "./restores.ts"

test("after a restore no line is behind one that its writer has not seen, and every lost entry is named", async () => {
  const count = rounds(1_000)
  expect(await checkRestores(makeStore, count)).toBe(count)
})
