import * as fc from "fast-check"
import { expect, test } from "vitest"
import { runs } from "../../../../.config/runs.ts"
import { shortIds } from "./short-ids.ts"

test("a short id begins one id alone, or is one, and no shorter one of seven characters or more does", () => {
  const id = fc.string({ unit: fc.constantFrom("a", "b", "-"), minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 40 }), (ids) => {
      for (const [whole, short] of shortIds(ids, ids)) {
        expect(whole.startsWith(short)).toBe(true)
        const begun = (prefix: string): number => ids.filter((one) => one.startsWith(prefix)).length
        if (short !== whole) expect([begun(short), ids.includes(short)]).toEqual([1, false])
        if (short.length > 7) expect(begun(short.slice(0, -1))).toBeGreaterThan(1)
      }
    }),
    { numRuns: runs(200) },
  )
})
