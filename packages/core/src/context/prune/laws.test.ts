import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { conversation, options } from "../../../test/pruning.ts"
import { eligibleResults, isExempt } from "../../../test/pruning-rules.ts"
import { holds } from "../../../test/property.ts"
import { whyRefused } from "../../../test/sendable.ts"
import { estimateMessages } from "../../format/tokens.ts"
import type { ModelMessage, TextBlock } from "../../format/message.ts"
import { repairMessages } from "../repair.ts"
import type { ContextMessage } from "../types.ts"
import { CLEARED_TEXT } from "./cut-result.ts"
import { pruneMessages } from "./prune.ts"
import { type PruneOptions, pruneSettings, type PruneSettings } from "./settings.ts"
import { contentUnits } from "./sizes.ts"

interface Case {
  readonly before: readonly ContextMessage<ModelMessage>[]
  readonly after: readonly ContextMessage<ModelMessage>[]
  readonly pruned: ReturnType<typeof pruneMessages>["pruned"]
  readonly window: number
  readonly o: PruneOptions
  readonly settings: PruneSettings
}

const windows = fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 2_000 }))
const sendable = conversation.map((messages) => repairMessages(messages, "synthesize").messages)

function law(check: (given: Case) => void): void {
  holds(
    fc.property(sendable, options, windows, (before, o, window) => {
      const { messages: after, pruned } = pruneMessages(before, o, { window })
      check({ before, after, pruned, window, o, settings: pruneSettings(o) })
    }),
    120,
  )
}

describe("for any conversation, window and options", () => {
  test("a pruned context is sendable, has the same messages, and only results are shorter", () => {
    law(({ before, after }) => {
      expect(whyRefused(after)).toBeUndefined()
      expect(after).toHaveLength(before.length)
      for (const [index, item] of after.entries()) {
        const was = before[index] as ContextMessage<ModelMessage>
        if (item.message === was.message) continue
        const { content: _, ...rest } = item.message
        const { content: __, ...wasRest } = was.message
        expect({ ...item, message: rest }).toEqual({ ...was, message: wasRest })
        expect(item.message.role).toBe("toolResult")
      }
    })
  })

  test("pruning never makes a context longer, and each reported cut makes its result shorter", () => {
    law(({ before, after, pruned }) => {
      expect(tokensOf(after)).toBeLessThanOrEqual(tokensOf(before))
      const cut = after.filter((item, index) => item.message !== before[index]?.message)
      expect(pruned.map(({ entryId }) => entryId)).toEqual(cut.map(({ entryId }) => entryId))
      for (const { chars, charsLeft, how } of pruned) {
        expect(charsLeft).toBeLessThan(chars)
        if (how === "cleared") expect(charsLeft).toBe(CLEARED_TEXT.length)
      }
    })
  })

  test("exempt tools and the protected end stay as they are", () => {
    law(({ before, after, settings }) => {
      const view = before.map(({ message }) => message)
      const eligible = new Set(eligibleOf(before, settings))
      const assistants = view.flatMap(({ role }, index) => (role === "assistant" ? [index] : []))
      const recent = assistants.at(-settings.keepAssistantMessages) ?? 0
      const inBudgetsReach = (index: number): boolean =>
        settings.toolResultBudget !== false && index < view.length - settings.budgetKeepMessages
      for (const [index, { message }] of after.entries()) {
        if (message === view[index]) continue
        expect(isExempt(view, index, settings)).toBe(false)
        if (inBudgetsReach(index)) continue
        expect(eligible.has(index)).toBe(true)
        if (settings.keepAssistantMessages > 0) expect(index).toBeLessThan(recent)
      }
    })
  })

  test("pruning a pruned context changes nothing", () => {
    law(({ after, o, window }) => {
      const again = pruneMessages(after, o, { window })
      expect(again.pruned).toEqual([])
      expect(again.messages).toEqual(after)
    })
  })

  test("aggressive pruning never leaves more than normal pruning", () => {
    law(({ before, after, o, window }) => {
      const most = pruneMessages(before, { ...o, aggressive: true }, { window })
      expect(tokensOf(most.messages)).toBeLessThanOrEqual(tokensOf(after))
    })
  })

  test("below its share of the window nothing is trimmed or cleared", () => {
    law(({ before, pruned, settings, window }) => {
      if (settings.toolResultBudget !== false) return
      for (const [share, how] of [
        [settings.softTrimShare, "trimmed"],
        [settings.hardClearShare, "cleared"],
      ] as const) {
        if (share !== false && tokensOf(before) >= share * window) continue
        expect(pruned.filter((one) => one.how === how)).toEqual([])
      }
    })
  })

  test("a context that is larger than its window has nothing left to cut, so it fits whenever it can", () => {
    law(({ before, after, settings, window }) => {
      const { softTrimShare: soft, hardClearShare: hard } = settings
      if (tokensOf(after) <= window) return
      const eligible = eligibleOf(before, settings)
      const clears = hard !== false && unitsOf(eligible, before) >= settings.hardClearMinChars
      const left = eligible.filter((index) => {
        const { content } = (after[index] as Case["after"][number]).message
        const isTrimmable = soft !== false && plainUnits(content) > settings.trimOverChars
        return isTrimmable || (clears && contentUnits(content) > CLEARED_TEXT.length)
      })
      expect(left).toEqual([])
    })
  })

  test("if the results still exceed the budget, nothing is left to clear", () => {
    law(({ before, after, settings }) => {
      const { toolResultBudget, budgetKeepMessages } = settings
      const results = after.flatMap(({ message }, index) => (message.role === "toolResult" ? [index] : []))
      if (toolResultBudget === false || unitsOf(results, after) <= toolResultBudget) return
      const view = before.map(({ message }) => message)
      for (const index of results) {
        if (isExempt(view, index, settings) || index >= after.length - budgetKeepMessages) continue
        expect(contentUnits(after[index]?.message.content)).toBeLessThanOrEqual(CLEARED_TEXT.length)
      }
    })
  })

  test("no surrogate pair is split", () => {
    law(({ after, pruned }) => {
      const cut = new Set(pruned.map(({ entryId }) => entryId))
      for (const { entryId, message } of after) {
        if (!cut.has(entryId)) continue
        for (const block of message.content) expect(/\p{Surrogate}/u.test((block as TextBlock).text)).toBe(false)
      }
    })
  })
})

function tokensOf(messages: Case["before"]): number {
  return estimateMessages(messages.map(({ message }) => message))
}

function eligibleOf(messages: Case["before"], settings: PruneSettings): readonly number[] {
  return eligibleResults(
    messages.map(({ message }) => message),
    settings,
  )
}

function unitsOf(indexes: readonly number[], messages: Case["before"]): number {
  return indexes.reduce((sum, index) => sum + contentUnits(messages[index]?.message.content), 0)
}

function plainUnits(content: ModelMessage["content"]): number {
  return content.reduce(
    (sum, block) => sum + (block.type === "text" && !("textSignature" in block) ? block.text.length : 0),
    0,
  )
}
