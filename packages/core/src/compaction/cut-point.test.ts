import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import type { Message } from "../format/messages.ts"
import { findCutPoint, startsTurn } from "./cut-point.ts"
import type { KeepRule } from "./cut-point.ts"
import { estimateMessage } from "./tokens.ts"

test("of any history the cut is at the first valid place from the wanted one on, else at the last before it", () => {
  holds(
    fc.property(histories, fc.nat({ max: 400 }), (messages, keep) => {
      const wanted = wantedCut(messages, keep)
      const valid = messages
        .map((_, place) => isValid(messages, place))
        .concat(keep <= 0 && isValid(messages, messages.length))
      const after = valid.findIndex((ok, place) => ok && place >= wanted)
      const expected = wanted === 0 ? -1 : after >= 0 ? after : valid.findLastIndex((ok, place) => ok && place < wanted)
      const cut = findCutPoint(messages, tokens(keep))
      expect(cut?.first).toBe(expected > 0 ? expected : undefined)
    }),
    1_000,
  )
})

test("a cut parts no call from a result, keeps no result first, and leaves a call that waits its result's place", () => {
  holds(
    fc.property(histories, fc.nat({ max: 400 }), (messages, keep) => {
      const cut = findCutPoint(messages, tokens(keep))
      if (cut === undefined) return
      const { first } = cut
      expect(messages[first]?.role).not.toBe("toolResult")
      for (const [call, result] of pairsOf(messages)) expect(call < first && first <= result).toBe(false)
      for (const call of waitingCalls(messages)) expect(first).toBeLessThanOrEqual(call)
    }),
    1_000,
  )
})

test("a split turn begins where its user spoke; a cut before a turn splits none", () => {
  holds(
    fc.property(histories, fc.nat({ max: 400 }), (messages, keep) => {
      const cut = findCutPoint(messages, tokens(keep))
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

test("one huge result at the end is kept with its call, and what is before is cut", () => {
  const messages = [said("user", 40), said("assistant", 40), said("user", 40), calls("c"), result("c", 400_000)]
  expect(findCutPoint(messages, tokens(1_000))).toEqual({ first: 3, turnStart: 2 })
})

test("a kept part begins only where it may", () => {
  const messages = [said("user", 400), said("assistant", 400), said("user", 400), said("assistant", 400)]
  expect(findCutPoint(messages, tokens(200))?.first).toBe(2)
  expect(findCutPoint(messages, tokens(200), { mayBegin: (index) => index !== 2 })?.first).toBe(3)
  expect(findCutPoint(messages, tokens(200), { mayBegin: (index) => index < 2 })?.first).toBe(1)
  expect(findCutPoint(messages, tokens(200), { mayBegin: () => false })).toBeUndefined()
})

test("nothing is cut where all of it is to be kept, or where there is nothing", () => {
  expect(findCutPoint([], tokens(0))).toBeUndefined()
  expect(findCutPoint([], tokens(100))).toBeUndefined()
  expect(findCutPoint([said("user", 40), said("assistant", 40)], tokens(1_000))).toBeUndefined()
  // Not even a result without a call at the start makes it more.
  expect(findCutPoint([result("c", 40), said("user", 40)], tokens(1_000))).toBeUndefined()
})

test("keeping nothing cuts at the end, unless a call still waits there", () => {
  const messages = [said("user", 40), said("assistant", 40)]
  expect(findCutPoint(messages, tokens(0))).toEqual({ first: 2, turnStart: 2 })
  expect(findCutPoint([...messages, said("user", 40), calls("c")], tokens(0))?.first).toBe(3)
  expect(findCutPoint([...messages, said("user", 40), calls("c"), said("user", 40)], tokens(0))?.first).toBe(5)
})

test("two calls of one id in one message have two results, and neither is parted from it", () => {
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

test("a long history is cut in linear time", () => {
  const messages = Array.from({ length: 50_000 }, (_, n) => [
    calls(`c${n}`),
    said("user", 4),
    result(`c${n}`, 4),
  ]).flat()
  const started = performance.now()
  expect(findCutPoint(messages, tokens(100_000))).toBeDefined()
  expect(performance.now() - started).toBeLessThan(2_000)
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

function tokens(count: number): KeepRule {
  return { kind: "tokens", count }
}

function said(role: string, units: number): Message {
  return { role, content: [{ type: "text", text: "x".repeat(units) }] }
}

function calls(...ids: readonly string[]): Message {
  return { role: "assistant", content: ids.map((one) => ({ type: "toolCall", id: one, name: "bash", arguments: {} })) }
}

function result(toolCallId: string, units: number): Message {
  return { role: "toolResult", toolCallId, isError: false, content: [{ type: "text", text: "x".repeat(units) }] }
}

function wantedCut(messages: readonly Message[], keep: number): number {
  if (keep <= 0) return messages.length
  const tokensFrom = (place: number): number =>
    messages.slice(place).reduce((sum, one) => sum + estimateMessage(one), 0)
  return Math.max(
    0,
    messages.findLastIndex((_, place) => tokensFrom(place) >= keep),
  )
}

function isValid(messages: readonly Message[], place: number): boolean {
  return (
    messages[place]?.role !== "toolResult" &&
    pairsOf(messages).every(([call, answer]) => !(call < place && place <= answer)) &&
    waitingCalls(messages).every((call) => place <= call)
  )
}

/** A result belongs to the nearest assistant message before it that has a call of its id, if that call has none yet. */
function pairsOf(messages: readonly Message[]): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role !== "toolResult") continue
    const wanted = message["toolCallId"] as string
    const call = messages.findLastIndex((one, before) => before < at && idsOf(one).includes(wanted))
    const taken = pairs.filter(([of, by]) => of === call && messages[by]?.["toolCallId"] === wanted).length
    if (call >= 0 && taken < idsOf(messages[call] as Message).filter((one) => one === wanted).length)
      pairs.push([call, at])
  }
  return pairs
}

/** Of the last message that somebody said: its calls without a result. */
function waitingCalls(messages: readonly Message[]): number[] {
  const last = messages.findLastIndex(({ role }) => role === "user" || role === "assistant")
  const ids = last < 0 ? [] : idsOf(messages[last] as Message)
  const answered = pairsOf(messages).filter(([call]) => call === last).length
  return answered < ids.length ? [last] : []
}

function idsOf(message: Message): string[] {
  return (message.role === "assistant" ? (message.content ?? []) : []).flatMap((block) =>
    block.type === "toolCall" ? [block["id"] as string] : [],
  )
}
