import { isSessionId } from "@sessions/core/storage"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { fromFileName, toFileName, toSessionId } from "./file-names.ts"
import { runs } from "../../../../.config/runs.ts"

const ALPHABET = "ABCZabcz0189._-:@+~"
const ids = fc
  .oneof(
    fc.string({ unit: fc.constantFrom(...ALPHABET.split("")), minLength: 1, maxLength: 128 }),
    fc.string({ unit: fc.constantFrom(..."0123456789ABCDEFGHJKMNPQRSTVWXYZ".split("")), minLength: 26, maxLength: 26 }),
    fc.mixedCase(fc.constantFrom("con", "aux.x", "nul", "com1.log", "lpt9", "con1", "01arz3ndektsv4rrffq69g5fav")),
  )
  .filter(isSessionId)

test("a canonical ULID and a plain lower-case id are folders of their own name", () => {
  for (const id of ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "build-42", "a", "x.y_z", "-x", "_", "a+b"])
    expect(toFileName(id)).toBe(id)
})

test("an id that some file system takes for another, or for a device, is written so that none does", () => {
  for (const id of ["CON", "con", "aux.x", "LPT1", "MyId", "01arz3ndektsv4rrffq69g5fav", "a:b", "a@docs", "a~1"]) {
    const name = toFileName(id)
    expect(name).toMatch(/^@[0-9a-v]*@[a-z0-9._=!,-]+$/)
    expect(isSessionId(name)).toBe(false)
  }
})

test("an id that was stored before has the name that it had", () => {
  const names = {
    MyId: "@k@myid",
    CON: "@s@con",
    con: "@@con",
    "aux.x": "@@aux.x",
    "build-42": "build-42",
    "a.B": "@4@a.b",
  }
  for (const [id, name] of Object.entries(names)) expect(toFileName(id)).toBe(name)
})

test("every id comes back from its folder name", () => {
  fc.assert(
    fc.property(ids, (id) => {
      expect(toSessionId(toFileName(id))).toBe(id)
    }),
    { numRuns: runs(100) },
  )
})

test("two ids have names that differ also where case does not count", () => {
  fc.assert(
    fc.property(ids, fc.mixedCase(ids), (a, b) => {
      fc.pre(a !== b)
      expect(toFileName(a).toLowerCase()).not.toBe(toFileName(b).toLowerCase())
    }),
    { numRuns: runs(100) },
  )
})

test("no name has what divides the names of locks and of the trash", () => {
  fc.assert(
    fc.property(ids, (id) => {
      expect(toFileName(id)).not.toMatch(/[~:]|.@docs$/)
    }),
    { numRuns: runs(100) },
  )
})

test("two spellings of one word never share a folder", () => {
  fc.assert(
    fc.property(ids, fc.infiniteStream(fc.boolean()), (id, flips) => {
      const other = id
        .split("")
        .map((c) => (flips.next().value === true ? c.toUpperCase() : c.toLowerCase()))
        .join("")
      fc.pre(other !== id)
      expect(toFileName(other).toLowerCase()).not.toBe(toFileName(id).toLowerCase())
    }),
    { numRuns: runs(100) },
  )
})

test("a folder that no id is written as is nobody's", () => {
  for (const name of [
    ".blobs",
    "@@plain",
    "@g@b.",
    "MyId",
    "@0@con",
    "@v@con",
    "@@",
    "node modules",
    "a..b",
    "a:b",
    "a@b",
    "@@a:b",
    "@@a,",
  ]) {
    expect(toSessionId(name)).toBeUndefined()
  }
  expect(fromFileName("@s@con")).toBe("CON")
})
