/** The prefix is a promise: what a provider has read once is what the next request begins with. */
import { shorten } from "@sessions/core/compaction"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { RepairMode, SessionContext } from "../src/context/types.ts"
import { slotsOf, steps, writeLog } from "./logs.ts"
import { commonPrefix } from "./prices.ts"
import { holdsAsync } from "./property.ts"
import { sessionsReading, STORED_ID, storeLines } from "./stored.ts"

/** Entries that may change what is before them. */
const BREAKS = new Set([
  "compaction",
  "reset_boundary",
  "context_edit",
  "tombstone",
  "leaf",
  "branch_summary",
  "model_change",
])

/** What is shortened in the second kind of context; it is small, because the results of random logs are. */
const PRUNE = { hardClearMinChars: 0, keepAssistantMessages: 1, trimHeadChars: 5, trimTailChars: 5, trimOverChars: 110 }

/**
 * Each context of a log that grows by one line begins with all of the one before, byte for byte, unless that line is one of those that may
 * break it, a result that takes the place of an invented one, or the message with which a step of pruning was taken.
 */
export function prefixLaw(runs: number, maxLength: number): void {
  for (const o of [{}, { window: 60, shorten: shorten(PRUNE) }]) {
    const what = "shorten" in o ? "pruned context" : "context"
    test(`a ${what} begins with all of the one before, unless an entry between them says that it does not`, async () => {
      await holdsAsync(
        fc.asyncProperty(steps(maxLength), fc.nat({ max: 2 }), async (script, n) => {
          const repair = (["synthesize", "drop", "none"] as const)[n] as RepairMode
          const lines = writeLog(script)
          const slots = slotsOf(lines)
          let before: SessionContext | undefined
          for (let end = 1; end <= lines.length; end++) {
            const sessions = sessionsReading(await storeLines(lines.slice(0, end)), 65_536)
            const session = await sessions.open(STORED_ID)
            const now = await session.context({ ...o, repair })
            const last = slots[end - 1]
            const isNext = last?.parentId === (slots[end - 2]?.id ?? null)
            if (before !== undefined && last !== undefined && isNext && !BREAKS.has(last.type)) {
              const texts = ({ messages }: SessionContext): string[] =>
                messages.map(({ message }) => JSON.stringify(message))
              const [was, is] = [texts(before), texts(now)]
              const same = was.findIndex((text, index) => text !== is[index])
              const steps = now.pruned?.some(({ since }) => since === last.id) ?? false
              if (same >= 0 && !steps) expectLate(before, now, last.id, "shorten" in o)
              expect(commonPrefix(before.messages, now.messages)).toBe(same < 0 ? was.length : same)
            }
            before = now
          }
        }),
        runs,
      )
    })
  }
}

/**
 * The last entry is a result: the one before had an invented result, or no call, in its place. The steps of pruning are those of the context with it,
 * so that an earlier result may come back.
 */
function expectLate(before: SessionContext, now: SessionContext, id: string, isPruned: boolean): void {
  const late = now.messages.findIndex(({ entryId }) => entryId === id)
  expect(now.messages[late]?.message.role).toBe("toolResult")
  // Without it, both are the same up to the invented one.
  const same = commonPrefix(before.messages, now.messages)
  const isInvented = before.messages[same]?.kind === "repair"
  expect(isInvented && !isPruned ? same === late : same <= late).toBe(true)
}
