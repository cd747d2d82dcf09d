import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { utf8Length } from "./utf8.ts"

const units = fc.array(fc.constantFrom("a", "é", "€", "😀", "\ud800", "\udc00", "\n"), { maxLength: 100 })

test("utf8Length equals the length of the encoded text, also for lone surrogates and for texts of every length", () => {
  holds(
    fc.property(units, fc.constantFrom(1, 700, 70_000), fc.nat(100), (parts, times, most) => {
      const text = parts
        .join("")
        .repeat(times)
        .slice(0, 300_000 - most)
      expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
    }),
    100,
  )
})
