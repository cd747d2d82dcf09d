/** Random histories: a search must find what a scan over all lines finds. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { type IndexPlace, PLACES } from "./indexes.ts"
import { type Compared, Programs, step } from "./programs.ts"

const RUNS = Number(process.env["FC_RUNS"] ?? 40)

test.each(Object.keys(PLACES))(
  "a search finds what a scan over all lines finds, with the index in %s",
  async (kind) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const programs = new Programs((PLACES[kind] as () => IndexPlace)())
        const compared: (Compared | undefined)[] = []
        try {
          for (const one of steps) compared.push(await programs.take(one))
          for (const one of programs.all) compared.push(await programs.compare(one, { text: "a" }, "all"))
        } finally {
          await programs.close()
        }
        for (const one of compared) {
          if (one === undefined) continue
          expect(one.unreadable).toBe(0)
          if (one.catchUp === "all") expect(one.found).toEqual(one.expected)
          else expect(one.expected).toEqual(expect.arrayContaining([...one.found]))
        }
      }),
      { numRuns: RUNS },
    )
  },
)
