import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { chain, tombstone, user } from "../../test/chain.ts"
import { anyLog, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { deletedOf, nearestBefore } from "../../test/replay.ts"
import type { Entry } from "../format/records.ts"
import { EntryLog, LazySlot } from "./entry-log.ts"
import type { Slot } from "./entry-log.ts"

type Operation = { readonly kind: "push" | "prepend" | "truncate" | "look"; readonly n: number }

const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.record({ kind: fc.constantFrom("push", "push", "prepend", "truncate", "look"), n: fc.nat({ max: 5 }) }),
  { maxLength: 12 },
)

describe("a stretch of a log", () => {
  test("answers like a search through its lines, however it came to hold them", () => {
    holds(
      fc.property(anyLog, operations, fc.nat(), (lines, script, n) => {
        const all = slotsOf(lines)
        let [from, end] = [n % (all.length + 1), n % (all.length + 1)]
        const log = new EntryLog(from)
        for (const { kind, n: count } of script) {
          if (kind === "push" && end < all.length) log.push(lazily(all[end++], count))
          if (kind === "prepend") {
            const older = Math.max(0, from - count)
            log.prepend(all.slice(older, from))
            from = older
          }
          if (kind === "truncate") {
            const kept = Math.max(from, end - count)
            expect(log.truncate(kept)).toHaveLength(end - kept)
            end = kept
          }
          expectLike(log, all, from, end)
        }
      }),
      300,
    )
  })

  test("holds an entry that was given as its line, whatever became of the object", () => {
    const log = new EntryLog(0)
    log.push(undefined)
    log.push(new LazySlot("e1", "message", '{"type":"message","id":"e1","parentId":null,"seq":7}'))
    expect(log.at(1)).toEqual({ type: "message", id: "e1", parentId: null, seq: 1 })
    expect(log.at(1)).toBe(log.at(1))
  })

  test("has nothing outside of itself", () => {
    const log = EntryLog.of(chain(user("a"), user("b")).slice(2), 2)
    expect([log.at(-1), log.at(0), log.at(1), log.at(3)]).toEqual([undefined, undefined, undefined, undefined])
    expect(log.find("e1")).toBeUndefined()
    expect(log.complete).toBe(false)
  })
})

describe("in linear time", () => {
  const MANY = 50_000

  function timed(run: () => void): void {
    const start = performance.now()
    run()
    expect(performance.now() - start).toBeLessThan(3_000)
  }

  test("every duplicate of one id is found from its own place, however the pieces came", () => {
    const slots: Slot[] = chain(...Array.from({ length: MANY }, () => user("a", { id: "x", parentId: "x" })))
    timed(() => {
      const log = new EntryLog(slots.length)
      for (let end = slots.length, step = 64; end > 0; end -= step, step *= 2) {
        log.prepend(slots.slice(Math.max(0, end - step), end))
      }
      for (let seq = 1; seq <= MANY; seq++) expect(log.find("x", seq) ?? 0).toBe(seq - 1)
      expect([...log.duplicateIds]).toEqual(["x"])
    })
  })

  test("what many tombstones delete is known, and known again without looking", () => {
    const said = Array.from({ length: MANY }, () => user("a"))
    const deleting = said.map((_, index) => tombstone(`e${index + 1}`))
    timed(() => {
      const log = EntryLog.of(chain(...said, ...deleting))
      for (let times = 0; times < 1_000; times++) expect(log.deleted.size).toBe(MANY)
    })
  })
})

function lazily(slot: Slot, n: number): Slot | LazySlot {
  return slot === undefined || n % 2 === 0 ? slot : new LazySlot(slot.id, slot.type, JSON.stringify(slot))
}

function expectLike(log: EntryLog, all: readonly Slot[], from: number, end: number): void {
  const held = all.map((slot, seq) => (seq >= from && seq < end ? slot : undefined))
  const ids = [...new Set(held.flatMap((slot) => (slot === undefined ? [] : [slot.id])))]
  expect([log.from, log.end, log.complete]).toEqual([from, end, from === 0])
  expect(held.slice(from, end).map((_, index) => log.at(from + index))).toEqual(held.slice(from, end))
  for (const id of [...ids, "nobody"]) {
    const places = Array.from({ length: end - from + 1 }, (_, index) => from + index)
    expect(places.map((place) => log.find(id, place))).toEqual(places.map((place) => nearestBefore(held, id, place)))
    expect(log.find(id)).toBe(nearestBefore(held, id, end))
  }
  expect([...log.deleted].sort()).toEqual([...deletedOf(held)].filter((seq) => seq !== undefined).sort())
  expect(log.entryBefore(end)).toBe(lastEntry(held, end))
  expect([...log.duplicateIds].sort()).toEqual(ids.filter((id) => countOf(held, id) > 1).sort())
}

function lastEntry(held: readonly Slot[], end: number): number | undefined {
  const seq = held.findLastIndex((slot, at) => at < end && slot !== undefined)
  return seq < 0 ? undefined : seq
}

function countOf(held: readonly Slot[], id: string): number {
  return held.filter((slot): slot is Entry => slot?.id === id).length
}
