import { expect, test } from "vitest"
import { called, items, oldResults, result, said, textOf } from "../../../test/pruning.ts"
import { CLEARED_TEXT } from "./cut-result.ts"
import { pruneMessages } from "./prune.ts"
import type { PruneOptions } from "./settings.ts"

const SOME = "x".repeat(9_990)
const LONG = "x".repeat(10_000)
/** The length of a trimmed result of 10,000 units. */
const TRIMMED = `${"x".repeat(1_500)}\n[... 7000 of 10000 characters cut ...]\n${"x".repeat(1_500)}`

/** Texts of the results after pruning, as "whole", "trimmed" or "cleared". */
function fates(messages: Parameters<typeof pruneMessages>[0], window: number, o: PruneOptions = {}): string[] {
  const { messages: pruned } = pruneMessages(messages, o, { window })
  return pruned.flatMap((item, index) => {
    if (item.message.role !== "toolResult") return []
    if (item.message === messages[index]?.message) return ["whole"]
    return [textOf(item as never) === CLEARED_TEXT ? "cleared" : "trimmed"]
  })
}

test("a context above its window has its long results trimmed, with a notice, and names the message of the step", () => {
  const log = oldResults(...["a", "b", "c"].map((id) => result(id, LONG)))
  const { messages, pruned } = pruneMessages(log, { hardClearShare: false }, { window: 5_000 })
  expect(textOf(messages[2])).toBe(TRIMMED)
  const trimmed = { how: "trimmed", chars: 10_000, charsLeft: TRIMMED.length }
  // A result is old enough with the third answer after its call. When "c" is, the context fits.
  expect(pruned).toEqual([
    { entryId: "e2", toolCallId: "a", ...trimmed, since: "e7" },
    { entryId: "e4", toolCallId: "b", ...trimmed, since: "e8" },
  ])
})

test("results of up to 4,000 characters are not trimmed", () => {
  const log = oldResults(result("a", "x".repeat(4_000)), result("b", "x".repeat(4_001)))
  expect(fates(log, 1, { hardClearShare: false })).toEqual(["whole", "trimmed"])
})

test("nothing is cleared while the eligible results have less than 50,000 characters before trimming", () => {
  const results = [result("a", "x".repeat(25_000)), result("b", "x".repeat(24_999))]
  expect(fates(oldResults(...results), 1_000)).toEqual(["trimmed", "trimmed"])
  expect(fates(oldResults(...results, result("c", "x")), 1_000)).toEqual(["cleared", "cleared", "whole"])
  // With 50,000 per result the rule is that one large result is enough.
  const one = [result("a", "x".repeat(50_000)), result("b", "x".repeat(49_999))]
  expect(fates(oldResults(...one), 1_000, { minResultChars: 50_000 })).toEqual(["cleared", "whole"])
})

test("results before the first user message, from the third newest assistant message on, and of exempt tools stay", () => {
  const log = items(
    called("early"),
    result("early", LONG),
    said("user"),
    called("old"),
    result("old", LONG),
    called("skill", "skill"),
    result("skill", LONG),
    called("named", "read"),
    result("named", LONG, { toolName: "skill" }),
    called("third"),
    result("third", LONG),
    said("assistant"),
    said("assistant"),
  )
  expect(fates(log, 1)).toEqual(["whole", "trimmed", "whole", "whole", "whole"])
  expect(fates(log, 1, { exemptTools: ["read"] })).toEqual(["whole", "whole", "trimmed", "trimmed", "whole"])
  expect(fates(log, 1, { keepAssistantMessages: 2 })).toEqual(["whole", "trimmed", "whole", "whole", "trimmed"])
  expect(fates(log, 1, { keepAssistantMessages: 9 })).toEqual(new Array(5).fill("whole"))
})

test("aggressive: every eligible result is cleared, however small the context and the results are", () => {
  const log = oldResults(result("a", "x".repeat(50)), result("b", LONG), result("short", CLEARED_TEXT))
  const { messages, pruned } = pruneMessages(log, { aggressive: true })
  expect(messages.map(textOf).filter((text) => text === CLEARED_TEXT)).toHaveLength(3)
  expect(pruned.map(({ toolCallId, how }) => [toolCallId, how])).toEqual([
    ["a", "cleared"],
    ["b", "cleared"],
  ])
})

test("results over the budget are cleared oldest first until the rest is within half of it; the last 6 messages stay", () => {
  const only: PruneOptions = { softTrimShare: false, hardClearShare: false, toolResultBudget: 50_000 }
  const log = items(said("user"), ...["a", "b", "c", "d", "e", "f"].flatMap((id) => [called(id), result(id, SOME)]))
  expect(fates(log, 1, only)).toEqual(["cleared", "cleared", "cleared", "whole", "whole", "whole"])
  expect(fates(log.slice(0, -2), 1, only)).toEqual(new Array(5).fill("whole"))
  expect(fates(log, 1, { ...only, toolResultBudget: 0 })).toEqual([
    ...new Array<string>(3).fill("cleared"),
    ...new Array<string>(3).fill("whole"),
  ])
  expect(fates(log, 1, { ...only, toolResultBudget: 0, exemptTools: ["read"] })).toEqual(new Array(6).fill("whole"))
  expect(fates(log, 1, { ...only, toolResultBudget: 0, budgetKeepMessages: 0 })).toEqual(new Array(6).fill("cleared"))
  expect(fates(log, 1, { ...only, toolResultBudget: 6 * SOME.length })).toEqual(new Array(6).fill("whole"))
  // This needs no window.
  expect(pruneMessages(log, only).pruned).toHaveLength(3)
})

test("other fields of a result stay: its call, its error flag, and the caller's own", () => {
  const more = { isError: true, toolName: "read", details: { exit: 1 }, attachments: [] }
  const log = oldResults(result("a", LONG, more))
  for (const o of [{ hardClearShare: false }, { aggressive: true }] as const) {
    const { message } = pruneMessages(log, o, { window: 1 }).messages[2] as (typeof log)[number]
    expect(message).toMatchObject({ role: "toolResult", toolCallId: "a", ...more })
  }
})

test("tokens outside the messages count", () => {
  const log = oldResults(result("a", LONG))
  const prune = (otherTokens: number): number => pruneMessages(log, true, { window: 3_000, otherTokens }).pruned.length
  expect([prune(0), prune(500)]).toEqual([0, 1])
})

test("pruning by shares without a window is rejected, and so are numbers out of range or contradicting each other", () => {
  const log = oldResults(result("a", LONG))
  const refused = (o: object, sizes: object = { window: 1 }): void =>
    expect(() => pruneMessages(log, o as PruneOptions, sizes), JSON.stringify(o)).toThrow(
      expect.objectContaining({ code: "invalid" }),
    )
  refused({}, {})
  for (const share of [-0.1, 1.1, Number.NaN, "0.3", true, null]) refused({ softTrimShare: share })
  for (const count of [-1, Number.NaN, "1", null, false]) refused({ trimOverChars: count })
  refused({ toolResultBudget: true })
  refused({ exemptTools: "skill" })
  refused({ softTrimShare: 0.5, hardClearShare: 0.4 })
  refused({ trimHeadChars: 2_000, trimTailChars: 1_901 })
  expect(() => pruneMessages(log, { softTrimShare: undefined } as never, { window: 1 })).not.toThrow()
})
