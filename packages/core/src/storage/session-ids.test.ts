import { randomBytes, randomUUID } from "node:crypto"
import { expect, test } from "vitest"
import { createIds } from "../format/ids.ts"
import { checkSessionId, isSessionId } from "./checks.ts"

const letters = (alphabet: string, length: number): string =>
  Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("")
const LOWER = "abcdefghijklmnopqrstuvwxyz0123456789"
const BASE62 = `${LOWER}ABCDEFGHIJKLMNOPQRSTUVWXYZ`

test("ids as generators make them are taken, each of them", () => {
  const newId = createIds()
  for (let n = 0; n < 500; n++) {
    const nanoid = randomBytes(16).toString("base64url").slice(0, 21)
    const cuid = `c${letters(LOWER, 24)}`
    const made = [nanoid, randomUUID(), randomUUID().toUpperCase(), cuid, letters(BASE62, 27), newId()]
    expect(made.filter((id) => !isSessionId(id))).toEqual([])
  }
})

test("an address behind a prefix is taken, and so are ids with `-` or `_` first or last", () => {
  for (const id of [
    "user:ann@example.org",
    "tenant-1:ann.b+tag@mail.example.org",
    "a~1",
    "-a",
    "_",
    "a-",
    "--",
    "x".repeat(128),
  ])
    expect(isSessionId(id), id).toBe(true)
})

test("an id has no part of a path, no other character, and none of `.:@+~` first or last", () => {
  const wrong = ["", ".", "..", "a..b", "a/b", "a\\b", "a b", "a\n", "a%2fb", "ü", "a\0", "x".repeat(129)]
  for (const mark of ".:@+~") wrong.push(`${mark}a`, `a${mark}`, mark)
  for (const id of [...wrong, 5, null, undefined]) expect(isSessionId(id), String(id)).toBe(false)
  expect(() => checkSessionId("a/b")).toThrow('"a/b" is not a session id: use 1 to 128 of A-Z a-z 0-9 _ - . : @ + ~')
})
