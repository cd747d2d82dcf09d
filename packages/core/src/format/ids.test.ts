import * as fc from "fast-check"
import { expect, test, vi } from "vitest"
import { holds } from "../../test/property.ts"
import { ulidAt } from "./computed-ids.ts"
import { createIds, isUlid, ulidTime } from "./ids.ts"

test("ids strictly increase, also within a millisecond and when the clock goes backwards", () => {
  const clock = fc.array(fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(1.5, Number.NaN, -1e15, 1e15)), {
    minLength: 2,
    maxLength: 50,
  })
  holds(
    fc.property(clock, (times) => {
      let i = 0
      const next = createIds(() => times[i++] ?? 0)
      const ids = times.map(() => next())
      expect(ids.every(isUlid)).toBe(true)
      expect([...new Set(ids)].sort()).toEqual(ids)
    }),
  )
})

test("an id begins with its time", () => {
  const time = Date.UTC(2026, 0, 31)
  expect(createIds(() => time)().slice(0, 10)).toBe(ulidAt(time, 0).slice(0, 10))
})

test("the time of an id is the one that it begins with, or the last one that fits", () => {
  holds(
    fc.property(fc.nat({ max: 2 ** 48 - 1 }), (time) => {
      expect(ulidTime(ulidAt(time, 7))).toBe(time)
    }),
  )
  expect(ulidTime(ulidAt(2 ** 48 - 1, 0))).toBe(2 ** 48 - 1)
  for (const first of ["8", "A", "Z"]) expect(ulidTime(first.padEnd(26, "0"))).toBe(2 ** 48 - 1)
})

test("an id whose random part cannot be incremented takes the next millisecond", () => {
  const random = vi.spyOn(crypto, "getRandomValues").mockImplementation((bytes) => {
    ;(bytes as Uint8Array).fill(255)
    return bytes
  })
  const next = createIds(() => 1_000)
  const ids = [next(), next(), next()]
  random.mockRestore()
  expect(ids).toEqual([
    `${ulidAt(1_000, 0).slice(0, 10)}ZZZZZZZZZZZZZZZZ`,
    `${ulidAt(1_001, 0).slice(0, 10)}ZZZZZZZZZZZZZZZZ`,
    `${ulidAt(1_002, 0).slice(0, 10)}ZZZZZZZZZZZZZZZZ`,
  ])
})

test("within a millisecond each id is one more than the one before it", () => {
  const next = createIds(() => 1_000)
  const numberOf = (id: string): bigint =>
    Array.from(id).reduce((sum, digit) => sum * 32n + BigInt("0123456789ABCDEFGHJKMNPQRSTVWXYZ".indexOf(digit)), 0n)
  const ids = Array.from({ length: 100 }, () => numberOf(next()))
  expect(ids.map((id) => id - (ids[0] as bigint))).toEqual(ids.map((_, index) => BigInt(index)))
})

test("a time below 1970 or NaN counts as the first millisecond", () => {
  for (const time of [0, -1, Number.NaN]) expect(createIds(() => time)().slice(0, 10)).toBe("0000000001")
})

test("two sources give different ids at the same time", () => {
  const clock = () => 1_000
  expect(createIds(clock)()).not.toBe(createIds(clock)())
})

test("ids of old logs keep their values", () => {
  const ids = [
    ulidAt(1_469_918_176_385, 33),
    ulidAt(1_700_000_000_000, 7),
    ulidAt(Date.UTC(2025, 0, 3), 12_345),
    ulidAt(0, 0),
    ulidAt(1.9, 31),
    ulidAt(Number.NaN, 3),
    ulidAt(-5, 32),
    ulidAt(Number.NEGATIVE_INFINITY, 1),
    ulidAt(Number.POSITIVE_INFINITY, 2 ** 47),
    ulidAt(0, 2 ** 48 + 3),
    ulidAt(0, Number.MAX_SAFE_INTEGER),
  ]
  expect(ids).toEqual([
    "01ARYZ6S410000000000000011",
    "01HF7YAT000000000000000007",
    "01JGMQCD000000000000000C1S",
    "00000000000000000000000000",
    "0000000001000000000000000Z",
    "00000000000000000000000003",
    "00000000000000000000000010",
    "00000000000000000000000001",
    "7ZZZZZZZZZ0000004000000000",
    "00000000000000008000000003",
    "0000000000000007ZZZZZZZZZZ",
  ])
})

test("ids of old logs sort by time, then index", () => {
  const timeAndIndex = fc.tuple(fc.nat({ max: 2 ** 40 }), fc.maxSafeNat())
  holds(
    fc.property(timeAndIndex, timeAndIndex, (a, b) => {
      const [one, other] = [ulidAt(...a), ulidAt(...b)]
      expect(isUlid(one)).toBe(true)
      expect(Math.sign(a[0] - b[0] || a[1] - b[1])).toBe(one < other ? -1 : one > other ? 1 : 0)
    }),
  )
})

test("a ULID is 26 upper-case characters without I, L, O and U", () => {
  expect(isUlid("01ARZ3NDEKTSV4RRFFQ69G5FAV")).toBe(true)
  for (const other of [
    "01arz3ndektsv4rrffq69g5fav",
    "01ARZ3NDEKTSV4RRFFQ69G5FA",
    "01ARZ3NDEKTSV4RRFFQ69G5FAVX",
    "01ARZ3NDEKTSV4RRFFQ69G5FAU",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV\n",
    "",
    7,
  ]) {
    expect(isUlid(other)).toBe(false)
  }
})
