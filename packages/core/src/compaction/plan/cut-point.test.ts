import * as fc from "fast-check"
import { expect, test } from "vitest"
import { expectedCut, pairsOf, waitingCalls } from "../../../test/cut-oracle.ts"
import { keepRules } from "../../../test/histories.ts"
import { holds } from "../../../test/property.ts"
import type { Message } from "../../format/message.ts"
import { findCutPoint, type KeepRule, startsTurn } from "./cut-point.ts"

test("in any history the cut is the first valid place within the kept tokens, else the last one before them", () => {
  const rules = fc.nat({ max: 400 }).map(tokens)
  holds(fc.property(histories, rules, cutsWhereExpected), 800)
})

test("for a minimum of turns or messages the cut is the last valid place that keeps the minimum", () => {
  const rules = fc.oneof(fc.nat({ max: 6 }).map(turns), fc.nat({ max: 15 }).map(lastMessages))
  holds(fc.property(histories, rules, cutsWhereExpected), 800)
})

test("a cut separates no call from its result, keeps no result first, and keeps a pending call", () => {
  holds(
    fc.property(histories, keepRules, (messages, keep) => {
      const cut = findCutPoint(messages, keep)
      if (cut === undefined) return
      const { first } = cut
      expect(messages[first]?.role).not.toBe("toolResult")
      for (const [call, result] of pairsOf(messages)) expect(call < first && first <= result).toBe(false)
      for (const call of waitingCalls(messages)) expect(first).toBeLessThanOrEqual(call)
    }),
    800,
  )
})

test("a split turn begins at its user message; a cut before a turn splits no turn", () => {
  holds(
    fc.property(histories, keepRules, (messages, keep) => {
      const cut = findCutPoint(messages, keep)
      if (cut === undefined) return
      const { first, turnStart } = cut
      expect(turnStart).toBeLessThanOrEqual(first)
      if (turnStart === first) {
        const next = messages[first]
        expect(next === undefined || startsTurn(next) || !messages.slice(0, first).some(startsTurn)).toBe(true)
      } else {
        expect(startsTurn(messages[turnStart] as Message)).toBe(true)
        expect(messages.slice(turnStart + 1, first + 1).some(startsTurn)).toBe(false)
      }
    }),
    500,
  )
})

test("one huge result at the end is kept with its call, and everything before is cut", () => {
  const messages = [said("user", 40), said("assistant", 40), said("user", 40), calls("c"), result("c", 400_000)]
  expect(findCutPoint(messages, tokens(1_000))).toEqual({ first: 3, turnStart: 2 })
})

test("a kept part begins only at a valid place", () => {
  const messages = [said("user", 400), said("assistant", 400), said("user", 400), said("assistant", 400)]
  expect(findCutPoint(messages, tokens(200))?.first).toBe(2)
  expect(findCutPoint(messages, tokens(200), { mayBegin: (index) => index !== 2 })?.first).toBe(3)
  expect(findCutPoint(messages, tokens(200), { mayBegin: (index) => index < 2 })?.first).toBe(1)
  expect(findCutPoint(messages, tokens(200), { mayBegin: () => false })).toBeUndefined()
})

test("nothing is cut if everything is to be kept, or if there is nothing", () => {
  expect(findCutPoint([], tokens(0))).toBeUndefined()
  expect(findCutPoint([], tokens(100))).toBeUndefined()
  expect(findCutPoint([said("user", 40), said("assistant", 40)], tokens(1_000))).toBeUndefined()
  // A result without a call at the start does not change that.
  expect(findCutPoint([result("c", 40), said("user", 40)], tokens(1_000))).toBeUndefined()
})

test("keeping nothing cuts at the end, unless a call is still pending there", () => {
  const messages = [said("user", 40), said("assistant", 40)]
  expect(findCutPoint(messages, tokens(0))).toEqual({ first: 2, turnStart: 2 })
  expect(findCutPoint([...messages, said("user", 40), calls("c")], tokens(0))?.first).toBe(3)
  expect(findCutPoint([...messages, said("user", 40), calls("c"), said("user", 40)], tokens(0))?.first).toBe(5)
})

test("turns and messages are minimums: the cut moves before a call whose result is kept, and keeps at least that many", () => {
  const messages = [
    said("user", 4),
    said("assistant", 4),
    said("user", 4),
    calls("c"),
    result("c", 4),
    said("assistant", 4),
  ]
  expect(findCutPoint(messages, lastMessages(2))).toEqual({ first: 3, turnStart: 2 })
  expect(findCutPoint(messages, lastMessages(4))).toEqual({ first: 2, turnStart: 2 })
  expect(findCutPoint(messages, lastMessages(6))).toBeUndefined()
  expect(findCutPoint(messages, turns(1))).toEqual({ first: 2, turnStart: 2 })
  expect(findCutPoint(messages, turns(2))).toBeUndefined()
  expect(findCutPoint(messages, turns(3))).toBeUndefined()
  // The rest of a turn whose user message was cut before belongs to no turn.
  expect(findCutPoint(messages.slice(1), turns(1))).toEqual({ first: 1, turnStart: 1 })
})

test("keeping no turns or messages keeps only a pending call and everything after it", () => {
  const messages = [said("user", 4), said("assistant", 4)]
  const note: Message = { role: "custom", content: [] }
  for (const keep of [turns(0), lastMessages(0), tokens(0)]) {
    expect(findCutPoint(messages, keep)).toEqual({ first: 2, turnStart: 2 })
    expect(findCutPoint([...messages, said("user", 4), calls("c"), note], keep)).toEqual({ first: 3, turnStart: 2 })
    expect(findCutPoint([...messages, calls("c", "d"), result("c", 4)], keep)).toEqual({ first: 2, turnStart: 0 })
    expect(findCutPoint([calls("c")], keep)).toBeUndefined()
  }
})

test("two calls with one id in one message have two results, and neither is separated from them", () => {
  const messages = [
    said("user", 40),
    calls("c", "c"),
    result("c", 40),
    said("user", 40),
    result("c", 40),
    said("user", 40),
  ]
  expect(findCutPoint(messages, tokens(25))?.first).toBe(5)
})

const IDS = ["a", "b", "c"]
const id = fc.constantFrom(...IDS)
const histories: fc.Arbitrary<readonly Message[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 200 }).map((units) => said("user", units)) },
    { weight: 2, arbitrary: fc.nat({ max: 200 }).map((units) => said("assistant", units)) },
    { weight: 4, arbitrary: fc.array(id, { minLength: 1, maxLength: 3 }).map((ids) => calls(...ids)) },
    { weight: 6, arbitrary: fc.tuple(id, fc.nat({ max: 300 })).map(([of, units]) => result(of, units)) },
    { weight: 1, arbitrary: fc.constant<Message>({ ...said("user", 10), synthetic: true }) },
    { weight: 1, arbitrary: fc.constant<Message>({ role: "bashExecution", command: "ls", output: "a" }) },
    { weight: 1, arbitrary: fc.constant(said("system", 20)) },
  ),
  { maxLength: 25, size: "max" },
)

function cutsWhereExpected(messages: readonly Message[], keep: KeepRule): void {
  expect(findCutPoint(messages, keep)?.first).toBe(expectedCut(messages, keep))
}

function turns(count: number): KeepRule {
  return { kind: "turns", count }
}

function lastMessages(count: number): KeepRule {
  return { kind: "messages", count }
}

function tokens(count: number): KeepRule {
  return { kind: "tokens", count }
}

function said(role: string, units: number): Message {
  return { role: role as "user", content: [{ type: "text", text: "x".repeat(units) }] }
}

function calls(...ids: readonly string[]): Message {
  return { role: "assistant", content: ids.map((one) => ({ type: "toolCall", id: one, name: "bash", arguments: {} })) }
}

function result(toolCallId: string, units: number): Message {
  return { role: "toolResult", toolCallId, isError: false, content: [{ type: "text", text: "x".repeat(units) }] }
}
