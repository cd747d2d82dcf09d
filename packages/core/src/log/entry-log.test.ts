import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { cpuTime } from "../../test/cpu-time.ts"
import { chain, tombstone, user } from "../../test/chain.ts"
import { anyLog, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { deletedOf, nearestBefore } from "../../test/replay.ts"
import { EntryLog, type EntrySlot, LazyEntry } from "./entry-log.ts"

type Operation = { readonly kind: "push" | "prepend" | "truncate" | "look"; readonly n: number }

const operations: fc.Arbitrary<readonly Operation[]> = fc.array(
  fc.record({ kind: fc.constantFrom("push", "push", "prepend", "truncate", "look"), n: fc.nat({ max: 5 }) }),
  { maxLength: 12 },
)

describe("a window of a log", () => {
  test("answers like a search through its lines, in whatever order it was filled", () => {
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
            end = Math.max(from, end - count)
            log.truncate(end)
          }
          // Not at each step: a first lookup and a repeated one take different paths.
          if (kind !== "look") continue
          expectAnswers()
        }
        expectAnswers()

        function expectAnswers(): void {
          const held = all.map((slot, seq) => (seq >= from && seq < end ? slot : undefined))
          expect(answersOf(log, held)).toEqual(searched(held, from, end))
        }
      }),
      300,
    )
  })

  test("keeps an entry that was given as its line, even if the object changes later", () => {
    const log = new EntryLog(0)
    log.push(undefined)
    log.push(new LazyEntry("e1", "message", '{"type":"message","id":"e1","parentId":null,"seq":7}'))
    expect(log.at(1)).toEqual({ type: "message", id: "e1", parentId: null, seq: 1 })
    expect(log.at(1)).toBe(log.at(1))
  })

  test("has no entries outside of itself", () => {
    const log = EntryLog.of(chain(user("a"), user("b")).slice(2), 2)
    expect([log.at(-1), log.at(0), log.at(1), log.at(3)]).toEqual([undefined, undefined, undefined, undefined])
    expect(log.find("e1")).toBeUndefined()
    expect(log.complete).toBe(false)
  })
})

describe("in linear time", () => {
  const MANY = 50_000

  function timed(run: () => void): void {
    const start = cpuTime()
    run()
    expect(cpuTime() - start).toBeLessThan(3_000)
  }

  test("every duplicate of an id is found from its own position, in windows of any size", () => {
    const slots: EntrySlot[] = chain(...Array.from({ length: MANY }, () => user("a", { id: "x", parentId: "x" })))
    timed(() => {
      const log = new EntryLog(slots.length)
      for (let end = slots.length, step = 64; end > 0; end -= step, step *= 2) {
        log.prepend(slots.slice(Math.max(0, end - step), end))
      }
      const found = Array.from({ length: MANY }, (_, index) => log.find("x", index + 1) ?? 0)
      expect(found.every((seq, index) => seq === index)).toBe(true)
      expect(log.first("x")).toBe(1)
    })
  })

  test("the targets of many tombstones are found once, and then cached", () => {
    const said = Array.from({ length: MANY }, () => user("a"))
    const deleting = said.map((_, index) => tombstone(`e${index + 1}`))
    timed(() => {
      const log = EntryLog.of(chain(...said, ...deleting))
      expect(new Set(Array.from({ length: 1_000 }, () => log.deleted.size))).toEqual(new Set([MANY]))
    })
  })
})

function lazily(slot: EntrySlot, n: number): EntrySlot | LazyEntry {
  return slot === undefined || n % 2 === 0 ? slot : new LazyEntry(slot.id, slot.type, JSON.stringify(slot))
}

/** All queries, answered by the log. */
function answersOf(log: EntryLog, held: readonly EntrySlot[]) {
  const places = placesOf(log.from, log.end)
  return {
    range: [log.from, log.end, log.complete],
    entries: places.map((seq) => log.at(seq)),
    found: idsOf(held).map((id) => [id, log.first(id), log.find(id), ...places.map((seq) => log.find(id, seq))]),
    deleted: new Set<unknown>([...log.deleted, undefined]),
    last: log.entryBefore(log.end) ?? -1,
  }
}

/** The same answers, by looking at each line. */
function searched(held: readonly EntrySlot[], from: number, end: number): ReturnType<typeof answersOf> {
  const places = placesOf(from, end)
  const found = (id: string, before: number): number | undefined => nearestBefore(held, id, before)
  return {
    range: [from, end, from === 0],
    entries: places.map((seq) => held[seq]),
    found: idsOf(held).map((id) => [id, firstOf(held, id), found(id, end), ...places.map((seq) => found(id, seq))]),
    deleted: new Set<unknown>([...deletedOf(held), undefined]),
    last: held.findLastIndex((slot) => slot !== undefined),
  }
}

function firstOf(held: readonly EntrySlot[], id: string): number | undefined {
  const seq = held.findIndex((slot) => slot?.id === id)
  return seq < 0 ? undefined : seq
}

function placesOf(from: number, end: number): number[] {
  return Array.from({ length: end - from }, (_, index) => from + index)
}

function idsOf(held: readonly EntrySlot[]): string[] {
  return [...new Set(held.flatMap((slot) => (slot === undefined ? [] : [slot.id]))), "nobody"]
}
