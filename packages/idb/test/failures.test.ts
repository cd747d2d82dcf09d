/** The table of what the errors of browsers mean. */
import { describe, expect, test } from "vitest"
import { toStorageError } from "../src/database/errors.ts"

const NAME = { description: "indexeddb:name", instead: "the fallback" }

/** What engines say, and the code. */
const OPENING: readonly (readonly [engine: string, name: string, message: string, code: string])[] = [
  ["Chromium, blocked site data", "UnknownError", "The user denied permission to access the database.", "unsupported"],
  ["Firefox, blocked site data", "SecurityError", "IDBFactory.open: The operation is insecure", "unsupported"],
  [
    "Firefox, no IndexedDB in private windows",
    "InvalidStateError",
    "A mutation operation was attempted on a database that did not allow mutations.",
    "unsupported",
  ],
  [
    "Chromium, a sandboxed frame",
    "SecurityError",
    "Failed to execute 'open' on 'IDBFactory': access to the Indexed Database API is denied in this context.",
    "unsupported",
  ],
  [
    "a newer version",
    "VersionError",
    "The requested version (1) is less than the existing version (2).",
    "unsupported",
  ],
  [
    "Chromium, a full disk",
    "QuotaExceededError",
    "Encountered full disk while opening backing store for indexedDB.open.",
    "quota",
  ],
  ["Chromium, its files", "UnknownError", "Internal error opening backing store for indexedDB.open.", "unavailable"],
  [
    "WebKit",
    "UnknownError",
    "Connection to Indexed Database server lost. Refresh the page to try again",
    "unavailable",
  ],
]

const CALLS: typeof OPENING = [
  ["a full site", "QuotaExceededError", "The current transaction exceeded its quota limitations.", "quota"],
  ["Chromium, a full disk and a large value", "DataError", "Failed to write blobs (IOError)", "quota"],
  [
    "Chromium, a full disk",
    "UnknownError",
    "Connection is closing because of: IO error: .../000003.log: FILE_ERROR_NO_SPACE (ChromeMethodBFE: 3::WritableFileAppend::8)",
    "quota",
  ],
  ["Chromium, a lost file", "NotReadableError", "Data lost due to missing file.", "corrupt"],
  ["WebKit", "UnknownError", "Attempt to get records from database without an in-progress transaction", "unavailable"],
  ["Firefox, cleared site data", "AbortError", "A request was aborted.", "unavailable"],
  ["a closing connection", "InvalidStateError", "The database connection is closing.", "unavailable"],
]

describe("what engines say has a code and a way out", () => {
  for (const [engine, name, message, code] of OPENING)
    test(`opening: ${engine}`, () => {
      const error = toStorageError(new DOMException(message, name), NAME)
      expect(error).toMatchObject({ code, storage: "indexeddb:name" })
      expect(error.message).toContain(`Could not open indexeddb:name (${name}: `)
      if (code === "unsupported" && name !== "VersionError") expect(error.message).toContain("or use the fallback.")
    })
  for (const [engine, name, message, code] of CALLS)
    test(`a call: ${engine}`, () => {
      const error = toStorageError(new DOMException(message, name), NAME, "append to the log in")
      expect(error).toMatchObject({ code })
      expect(error.message).toContain(`Could not append to the log in indexeddb:name (${name}: `)
    })
})

test("a full disk, and a browser without a reason, name three ways out", () => {
  for (const message of ["Encountered full disk while opening backing store.", "Internal error."]) {
    const error = toStorageError(new DOMException(message, "UnknownError"), NAME)
    expect(error.message).toMatch(/free space on the disk, (then )?restart the browser, at last clear this site's data/)
  }
})

test("without IndexedDB, as on a server, opening is `unsupported` and names what works", () => {
  for (const missing of [new ReferenceError("indexedDB is not defined"), new TypeError("indexedDB is null")])
    expect(toStorageError(missing, NAME)).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining("or use the fallback"),
    })
})

test("the last row takes every error, whatever is thrown", () => {
  for (const thrown of [undefined, "text", new Error("no name of a browser"), new DOMException("", "NewError")])
    expect(toStorageError(thrown, NAME, "read")).toMatchObject({ code: "unavailable" })
})
