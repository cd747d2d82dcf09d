import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import { EntryLog, type EntrySlot } from "./entry-log.ts"

const NO_ENTRY = ""
const IDS = ["a", "b", "c", "d", "e", "f", "g", "h"]

/** Few ids, so that many are duplicate and some logs have them in order. */
const id = fc.constantFrom(...IDS)

/** Also lines that are not entries. */
const lines = fc.array(fc.oneof({ weight: 6, arbitrary: id }, { weight: 1, arbitrary: fc.constant(NO_ENTRY) }), {
  maxLength: 3,
})

const ascending = fc
  .tuple(fc.uniqueArray(id, { maxLength: 3 }), fc.constantFrom(0, 0, 1, 9, 9))
  .map(([ids, gap]) => (gap > ids.length ? ids.sort(compare) : ids.sort(compare).toSpliced(gap, 0, NO_ENTRY)))

const steps = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constant("push" as const), ids: lines }),
    fc.record({ kind: fc.constant("push" as const), ids: ascending }),
    fc.record({ kind: fc.constant("prepend" as const), ids: lines }),
    fc.record({ kind: fc.constant("prepend" as const), ids: ascending }),
    fc.record({ kind: fc.constant("truncate" as const), ids: lines }),
    fc.record({ kind: fc.constant("look" as const), ids: fc.constant<string[]>([]) }),
  ),
  { maxLength: 10 },
)

test("an id means the nearest entry before, and each duplicate is reported, in any order of ids", () => {
  holds(
    fc.property(steps, (script) => {
      const from = 100
      let held: string[] = []
      let start = from
      const log = new EntryLog(from)
      for (const { kind, ids } of script) {
        if (kind === "push") {
          for (const one of ids) log.push(entryOf(one))
          held = [...held, ...ids]
        } else if (kind === "prepend") {
          const told: [number, number][] = []
          log.prepend(ids.map(entryOf), (seq, again) => void told.push([seq, again]))
          held = [...ids, ...held]
          start -= ids.length
          expect(told).toEqual(repetitions(held, ids.length, start))
        } else if (kind === "truncate") {
          held = held.slice(0, Math.max(0, held.length - ids.length))
          log.truncate(start + held.length)
        } else expectFound()
      }
      expectFound()
      for (const one of IDS) expect(log.first(one)).toBe(seqsOf(one)[0])

      function seqsOf(one: string): number[] {
        return held.flatMap((other, index) => (other === one ? [start + index] : []))
      }

      // Not `first`, which indexes all lines.
      function expectFound(): void {
        for (const one of IDS) {
          const seqs = seqsOf(one)
          for (let before = start; before <= start + held.length; before++) {
            expect(log.find(one, before)).toBe(seqs.findLast((seq) => seq < before))
          }
        }
      }
    }),
    200,
  )
})

/** For each of the first `count` positions with a duplicate id, the last first: the position and the next one with its id. */
function repetitions(held: readonly string[], count: number, start: number): [number, number][] {
  const found: [number, number][] = []
  for (let index = count - 1; index >= 0; index--) {
    if (held[index] === NO_ENTRY) continue
    const again = held.indexOf(held[index] as string, index + 1)
    if (again > 0) found.push([start + index, start + again])
  }
  return found
}

function entryOf(id: string): EntrySlot {
  return id === NO_ENTRY ? undefined : { type: "acme:x", id, parentId: null, seq: 0, timestamp: "" }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : 1
}
