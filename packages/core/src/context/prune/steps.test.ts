import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { called, conversation, items, options, result, said } from "../../../test/pruning.ts"
import { priceOf } from "../../../test/prices.ts"
import { holds } from "../../../test/property.ts"
import { isSameJson } from "../../format/json.ts"
import { estimateMessages } from "../../format/tokens.ts"
import type { ModelMessage } from "../../format/message.ts"
import type { ContextMessage } from "../types.ts"
import { CLEARED_TEXT } from "./cut-result.ts"
import { pruneMessages } from "./prune.ts"
import type { PruneOptions } from "./settings.ts"

type Item = ContextMessage<ModelMessage>

/** So many turns, each with one call and a result of this length. */
function turns(count: number, chars: number): Item[] {
  const turn = (index: number): ModelMessage[] => [
    said("user"),
    called(`c${index}`),
    result(`c${index}`, "x".repeat(chars)),
    said("assistant"),
  ]
  return items(...Array.from({ length: count }, (_, index) => turn(index)).flat())
}

/** The pruned contexts of a session that grows by one message at a time. */
function contexts(
  log: readonly Item[],
  o: PruneOptions,
  window: number,
): ReturnType<typeof pruneMessages<ModelMessage>>[] {
  return log.map((_, index) => pruneMessages(log.slice(0, index + 1), o, { window }))
}

/** The first of them that has a step, the one before, and its place. */
function firstStep(log: readonly Item[], window: number) {
  let before: readonly Item[] = []
  for (const index of log.keys()) {
    const { pruned, messages } = pruneMessages(log.slice(0, index + 1), {}, { window })
    if (pruned.length > 0) return { index, before, pruned, messages }
    before = messages
  }
  throw new Error("No step was taken.")
}

function tokensOf(messages: readonly Item[]): number {
  return estimateMessages(messages.map(({ message }) => message))
}

test("a step begins at 0.3 of the window and trims, oldest first, until the context is below half of that", () => {
  const log = turns(40, 10_000)
  const { index: first, before, pruned, messages } = firstStep(log, 200_000)
  expect(tokensOf(before) + tokensOf(log.slice(first, first + 1))).toBeGreaterThanOrEqual(0.3 * 200_000)
  expect(tokensOf(before)).toBeLessThan(0.3 * 200_000)
  expect(tokensOf(messages)).toBeLessThan(0.15 * 200_000)
  // One trimmed result less, and it would not be below.
  expect(tokensOf(messages) + 2_500 - 760).toBeGreaterThan(0.15 * 200_000)
  expect(new Set(pruned.map(({ how }) => how))).toEqual(new Set(["trimmed"]))
  expect(pruned.map(({ entryId }) => entryId)).toEqual(pruned.map((_, index) => `e${4 * index + 2}`))
})

test("a step begins at 0.5 of the window and clears, oldest first, until the context is below half of that", () => {
  const { before, pruned, messages } = firstStep(turns(80, 3_900), 100_000)
  expect(tokensOf(before)).toBeGreaterThan(0.5 * 100_000 - 1_000)
  expect(tokensOf(messages)).toBeLessThan(0.25 * 100_000)
  expect(tokensOf(messages)).toBeGreaterThan(0.25 * 100_000 - 1_000)
  expect(pruned.map(({ entryId }) => entryId)).toEqual(pruned.map((_, index) => `e${4 * index + 2}`))
  expect(new Set(pruned.map(({ how, charsLeft }) => `${how} ${charsLeft}`))).toEqual(
    new Set([`cleared ${CLEARED_TEXT.length}`]),
  )
})

test("a step waits until it pays: a short session that would soon end is not written again", () => {
  // Above 0.3 of the window after one answer: nothing has been read from the cache often enough.
  const log = [...turns(6, 10_000)]
  expect(contexts(log, {}, 40_000).flatMap(({ pruned }) => pruned)).toEqual([])
  // The same results in a session of many small questions.
  const asked = [...log, ...items(...Array.from({ length: 60 }, () => [said("user"), said("assistant")]).flat())]
  expect(pruneMessages(asked, {}, { window: 40_000 }).pruned.length).toBeGreaterThan(0)
})

test("a share of 0 does not wait", () => {
  const log = items(said("user"), called("a"), result("a", "x".repeat(10_000)))
  const o = { softTrimShare: 0, hardClearShare: false, keepAssistantMessages: 0 } as const
  expect(pruneMessages(log, o).pruned).toMatchObject([{ how: "trimmed", since: "e2" }])
})

describe("for any conversation that grows, window and options", () => {
  const windows = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 2_000 }))

  test("a context begins with the one before it, unless `since` of a result names a message behind that", () => {
    holds(
      fc.property(conversation, options, windows, (log, o, window) => {
        let before = pruneMessages<ModelMessage>([], o, { window })
        for (const [index, now] of contexts(log, o, window).entries()) {
          const { messages, pruned } = now
          const steps = new Set(
            pruned.filter(({ since }) => since === log[index]?.entryId).map(({ entryId }) => entryId),
          )
          const changed = before.messages.filter((item, at) => !isSameJson(item, messages[at]))
          expect(changed.map(({ entryId }) => entryId).filter((id) => !steps.has(id))).toEqual([])
          const then = before.pruned.filter(({ entryId }) => !steps.has(entryId))
          expect(pruned.filter(({ entryId }) => !steps.has(entryId))).toEqual(then)
          before = now
        }
      }),
      30,
    )
  })

  test("what the steps make a provider write again costs at most what the shortened results have cost before", () => {
    const shares = fc.constantFrom<PruneOptions>(
      {},
      { softTrimShare: false },
      { hardClearShare: false },
      { hardClearMinChars: 0 },
    )
    holds(
      fc.property(conversation, shares, fc.double({ min: 1.6, max: 5, noNaN: true }), (log, o, part) => {
        // Below the part of the window where a step is urgent.
        const window = part * Math.max(1, tokensOf(log))
        const pruned = priceOf(log, (messages) => pruneMessages(messages, o, { window }).messages)
        const whole = priceOf(log, (messages) => messages)
        expect(pruned.price).toBeLessThanOrEqual(whole.price + whole.read)
      }),
      60,
    )
  })
})

// Slow: pruning is for long sessions, and each request of one is priced.
test("a long session of tool calls costs less than without pruning", () => {
  for (const [log, window] of [
    [turns(80, 9_300), 200_000],
    [turns(60, 5_000), 50_000],
    [turns(60, 8_000), 32_000],
  ] as const) {
    const pruned = priceOf(log, (messages) => pruneMessages(messages, {}, { window }).messages)
    expect(pruned.price / priceOf(log, (messages) => messages).price).toBeLessThan(0.75)
    expect(pruned.breaks).toBeLessThan(pruned.requests / 8)
  }
})
