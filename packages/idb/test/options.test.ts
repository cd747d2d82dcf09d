import { createIndexedDbStorage, type IndexedDbStorageOptions } from "@sessions/idb"
import { expect, test } from "vitest"
import { checkOptions } from "../src/options.ts"

const DEFAULTS = {
  database: "@sessions/idb",
  durability: "strict",
  maxBatchBytes: 50_000_000,
  maxSessionBytes: 200_000_000,
}

test("missing and undefined options have their defaults", () => {
  expect(checkOptions({})).toEqual(DEFAULTS)
  expect(checkOptions({ database: undefined, folder: undefined } as object)).toEqual(DEFAULTS)
  expect(checkOptions({ durability: "relaxed", maxBatchBytes: 2 })).toEqual({
    ...DEFAULTS,
    durability: "relaxed",
    maxBatchBytes: 2,
  })
})

test.each([
  [{ durabilty: "strict" }, 'createIndexedDbStorage has no option "durabilty". Did you mean "durability"?'],
  [{ maxbatchbytes: 5 }, 'createIndexedDbStorage has no option "maxbatchbytes". Did you mean "maxBatchBytes"?'],
  [{ maxSessionSize: 5 }, 'createIndexedDbStorage has no option "maxSessionSize". Did you mean "maxSessionBytes"?'],
  [
    { folder: "/" },
    'createIndexedDbStorage has no option "folder". Its options are database, durability, maxBatchBytes, maxSessionBytes.',
  ],
])("an unknown option is `invalid`, with the nearest name or all of them: %j", (options, message) => {
  expect(errorOf(options)).toMatchObject({ code: "invalid", message })
})

test.each([{ database: "" }, { database: 5 }, { durability: "some" }, { maxBatchBytes: "1" }, { maxSessionBytes: 1 }])(
  "a wrong value is `invalid`, with the name of the option: %j",
  (options) => {
    const error = errorOf(options)
    expect(error.code).toBe("invalid")
    expect(error.message).toContain(
      `The option "${Object.keys(options)[0]}" of createIndexedDbStorage has a wrong value`,
    )
  },
)

test.each([null, "sessions", 5])("options that are not an object are `invalid`: %j", (options) => {
  expect(errorOf(options)).toMatchObject({
    code: "invalid",
    message: expect.stringContaining("takes an object with the options"),
  })
})

function errorOf(options: unknown): { code?: string; message: string } {
  try {
    createIndexedDbStorage(options as IndexedDbStorageOptions)
  } catch (error) {
    return error as Error
  }
  throw new Error("The options were accepted.")
}
