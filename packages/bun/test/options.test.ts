import { type BunStorageOptions, createBunStorage } from "@sessions/bun"
import { expect, test } from "vitest"

test.each([
  [undefined, "createBunStorage takes an object with the options root, durability,"],
  ["./sessions", "createBunStorage takes an object with the options root, durability,"],
  [{}, "File storage needs `root`, the path of a folder."],
  [{ root: "r", rooot: "x" }, 'createBunStorage has no option "rooot". Did you mean "root"?'],
  [{ root: "r", decodeLines: () => [] }, 'createBunStorage has no option "decodeLines".'],
])("wrong options are `invalid`, with a sentence that says what to do: %j", (options, message) => {
  expect(() => createBunStorage(options as BunStorageOptions)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(message) }),
  )
})
