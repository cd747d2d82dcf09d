import { expect, test } from "vitest"
import { SessionError } from "../format/errors.ts"
import { StorageError } from "./errors.ts"

test("an error has the details that are known, and no empty ones beside them", () => {
  expect(Object.keys(new StorageError("conflict", "message"))).toEqual(["code", "name"])
  expect(Object.keys(new StorageError("aborted", "message", { session: "s", sent: true }))).toEqual([
    "code",
    "session",
    "name",
    "sent",
  ])
  expect(Object.keys(new SessionError("invalid", "message", { at: "key" }))).toEqual(["code", "at", "name"])
})
