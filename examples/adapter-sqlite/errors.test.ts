import { expect, test } from "vitest"
import { toError } from "./src/database.ts"

test("an error of SQLite is named as one, with its code, and any other one as a defect of the adapter", () => {
  const full = Object.assign(new Error("database or disk is full"), { errcode: 13, errno: 13 })
  expect(toError(full, { doing: "append to the log" })).toMatchObject({
    code: "quota",
    message: "Could not append to the log. SQLite reported an error: Error: database or disk is full.",
  })
  expect(toError(new TypeError("x is not a function"), { doing: "append to the log" })).toMatchObject({
    code: "unavailable",
    message: "Could not append to the log. This is a defect of the adapter: TypeError: x is not a function.",
  })
})
