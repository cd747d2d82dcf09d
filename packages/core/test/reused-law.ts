/** What `reused` must be: the two contexts made at full length and compared, and nothing taken from the code that computes it. */
import { shorten } from "@sessions/core/compaction"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { buildSessionContext } from "../src/context/build.ts"
import { toModelMessages } from "../src/context/model-messages.ts"
import { repairMessages } from "../src/context/repair.ts"
import type { ContextMessage, RepairMode, SessionContext } from "../src/context/types.ts"
import type { Entry } from "../src/format/entry.ts"
import type { ModelMessage } from "../src/format/message.ts"
import { estimateMessages } from "../src/format/tokens.ts"
import type { EntrySlot } from "../src/log/entry-log.ts"
import type { ContextOptions } from "../src/session/types.ts"
import { anyLog, slotsOf } from "./logs.ts"
import { commonPrefix } from "./prices.ts"
import { holdsAsync } from "./property.ts"
import { expectContext, pathOf } from "./replay.ts"
import { sessionsReading, STORED_ID, storeLines } from "./stored.ts"

const VIEWS: readonly ContextOptions[] = [
  { shorten: false },
  // Small enough for the results of random logs.
  {
    window: 30,
    shorten: shorten({ trimHeadChars: 5, trimTailChars: 5, trimOverChars: 110, keepAssistantMessages: 1 }),
  },
  { window: 30, shorten: shorten({ softTrimShare: false, hardClearMinChars: 0, keepAssistantMessages: 1 }) },
  {
    window: 200,
    shorten: shorten({ hardClearMinChars: 0, keepAssistantMessages: 1, toolResultBudget: 50, budgetKeepMessages: 2 }),
  },
]

/** The messages of an entry's context as a model gets them, made of all lines at once. */
function messagesAt(slots: readonly EntrySlot[], leaf: number, o: ContextOptions, otherTokens: number): Messages {
  if (leaf < 0) return []
  const { messages } = buildSessionContext(
    slots.slice(0, leaf + 1).concat(tombstonesAfter(slots, leaf)),
    slots[leaf]?.id,
  )
  const whole = repairMessages(toModelMessages(messages).messages, o.repair as RepairMode).messages
  return o.shorten ? o.shorten.prune(whole, { window: o.window, otherTokens }).messages : whole
}

type Messages = readonly ContextMessage<ModelMessage>[]

/** Lines behind an entry that delete earlier ones, in their places; others are left out. */
function tombstonesAfter(slots: readonly EntrySlot[], leaf: number): readonly EntrySlot[] {
  return slots.slice(leaf + 1).map((slot) => (slot?.type === "tombstone" ? slot : undefined))
}

function expectReused(slots: readonly EntrySlot[], leaf: number, context: SessionContext, o: ContextOptions): void {
  const { reused, compaction, messages, tokens } = context
  const prompt = tokens - tokensOf(messages)
  const { selected } = expectContext(slots, leaf)
  const start = selected.find((seq) => slots[seq]?.type === "compaction") ?? -1
  const answer = selected.findLast((seq) => {
    const { type, message } = slots[seq] as Entry
    return type === "message" && (message as { role?: unknown } | null)?.role === "assistant" && seq > start
  })
  const reason = reused.brokenBy?.reason
  if (answer === undefined) {
    expect(reason === "compaction").toBe(compaction !== undefined)
    expect(reused.tokens).toBe(reason === "compaction" || reason === "reset" ? prompt : 0)
    return
  }
  const before = messagesAt(slots.slice(0, answer), pathOf(slots, answer).at(-2) ?? -1, o, prompt)
  const same = commonPrefix(before, messages)
  expect(reused.tokens).toBe(prompt + tokensOf(messages.slice(0, same)))
  if (same === before.length) expect([undefined, "branch", "model", "setting"]).toContain(reason)
  else {
    expect(["edit", "tombstone", "result", "prune"]).toContain(reason)
    const at = slots.findLastIndex((slot) => slot?.id === reused.brokenBy?.entryId)
    // A step of pruning may be taken with the answer itself.
    expect(at).toBeGreaterThanOrEqual(reason === "prune" ? answer : answer + 1)
  }
}

function tokensOf(messages: Messages): number {
  return estimateMessages(messages.map(({ message }) => message))
}

export function reusedLaw(runs: number): void {
  test("`reused` equals a comparison of the context with the one before its last answer, for any log and options", async () => {
    await holdsAsync(
      fc.asyncProperty(
        anyLog,
        fc.constantFrom(1, 200, 65_536),
        fc.nat(),
        fc.nat({ max: 3 }),
        async (lines, bytes, n, view) => {
          const slots = slotsOf(lines)
          const ids = slots.flatMap((slot) => (slot === undefined ? [] : [slot.id]))
          if (ids.length === 0) return
          const repair = (["synthesize", "drop", "none"] as const)[n % 3] as RepairMode
          const o = { ...VIEWS[view], repair }
          const sessions = sessionsReading(await storeLines(lines), bytes)
          const session = await sessions.open(STORED_ID)
          const leafId = ids[n % ids.length] as string
          const leaf = slots.findLastIndex((slot) => slot?.id === leafId)
          await session.branch(leafId)
          const context = await session.context(o)
          expectReused(slots, leaf, context, o)
          // In another process, which has read more of the log or less.
          const other = await sessionsReading(await storeLines(lines), bytes === 1 ? 65_536 : 1).open(STORED_ID)
          await other.branch(leafId)
          expect((await other.context(o)).reused.tokens).toBe(context.reused.tokens)
        },
      ),
      runs,
    )
  })
}
