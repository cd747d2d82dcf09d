import { expect, test } from "vitest"
import { renderMessages } from "../../context/render.ts"
import { selectContext, type Selection } from "../../context/select.ts"
import type { Entry } from "../../format/entry.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { reportedTokens, shouldCompact, usageAnchor } from "./trigger.ts"

test("the reserve: a compaction is due strictly above the window minus the reserve", () => {
  expect(shouldCompact(200_000 - 16_384, 200_000)).toBe(false)
  expect(shouldCompact(200_000 - 16_384 + 1, 200_000)).toBe(true)
  expect(shouldCompact(91, 100, { reserveTokens: 10 })).toBe(true)
  expect(shouldCompact(90, 100, { reserveTokens: 10 })).toBe(false)
})

test("a number of tokens or a share of the window: a compaction is due as soon as it is reached", () => {
  expect(shouldCompact(99_999, 10, { thresholdTokens: 100_000 })).toBe(false)
  expect(shouldCompact(100_000, 1_000_000, { thresholdTokens: 100_000 })).toBe(true)
  expect(shouldCompact(159_999, 200_000, { thresholdShare: 0.8 })).toBe(false)
  expect(shouldCompact(160_000, 200_000, { thresholdShare: 0.8 })).toBe(true)
})

test("if it is disabled a compaction is never due", () => {
  expect(shouldCompact(1e9, 10, { enabled: false })).toBe(false)
})

test("the tokens that a provider reported are the larger of its total and the sum of its counts, in either spelling", () => {
  const reported = (usage: object): number | undefined => reportedTokens({ role: "assistant", content: [], usage })
  expect(reported({ input: 1, output: 2, cacheRead: 3, cacheWrite: 4 })).toBe(10)
  expect(reported({ inputTokens: 1, outputTokens: 2, cacheRead: 3 })).toBe(6)
  expect(reported({ inputTokens: 1, totalTokens: 5 })).toBe(5)
  expect(reported({ input: 5, output: 300, cacheRead: 185_000, totalTokens: 305 })).toBe(185_305)
  expect(reported({ inputTokens: "1" })).toBeUndefined()
})

test("the last report counts for the request it was made for, and later messages are estimated", () => {
  const { tokens } = logOf([said("user"), answered(500), said("user"), said("toolResult")])
  expect(tokens()).toBe(500 + 2 * ONE)
})

test("a report counts the whole request: input, cached input and the answer, or the total if present", () => {
  const parts = { input: 10, cacheRead: 300, cacheWrite: 40, output: 7 }
  expect(logOf([said("user"), { ...answered(0), usage: parts }]).tokens()).toBe(357)
  expect(logOf([said("user"), { ...answered(0), usage: { ...parts, totalTokens: 400 } }]).tokens()).toBe(400)
})

test("a failed answer, or one without a report, leaves the report before it valid", () => {
  const failed = (stopReason: string) => ({ ...answered(9_999), stopReason })
  const none = { role: "assistant", content: [{ type: "text", text: TEXT }] }
  for (const last of [failed("error"), failed("aborted"), none, { ...none, usage: { input: 0, output: 0 } }]) {
    expect(logOf([answered(500), said("user"), last]).tokens()).toBe(500 + 2 * ONE)
  }
})

test("a report is invalid after a compaction, after an edit, and after a tombstone of an entry on its path", () => {
  const talk = [said("user"), said("assistant"), said("user"), answered(500)]
  const compaction = { type: "compaction", summary: TEXT, firstKeptEntryId: "e3", tokensBefore: 1 }
  const edit = { type: "context_edit", targetId: "e1", replacement: null }
  const tombstone = { type: "tombstone", targetId: "e1" }
  expect(logOf([...talk]).tokens()).toBe(500)
  expect(logOf([...talk, compaction]).tokens()).toBe(3 * ONE)
  expect(logOf([...talk, edit]).tokens()).toBe(3 * ONE)
  expect(logOf([...talk, tombstone]).tokens()).toBe(3 * ONE)
  // A later report already accounts for the change.
  expect(logOf([...talk.slice(0, 3), tombstone, answered(700)]).tokens()).toBe(700)
  expect(logOf([...talk.slice(0, 3), edit, answered(700)]).tokens()).toBe(700)
  expect(logOf([...talk, compaction, answered(700)]).tokens()).toBe(700)
  // On another branch: the report stays valid.
  const aside = { ...said("user"), parent: "e1" }
  expect(logOf([...talk.slice(0, 2), aside, { ...answered(500), parent: "e2" }, tomb("e3")]).tokens()).toBe(500)
})

const TEXT = "x".repeat(400)
const ONE = 100

function said(role: string) {
  return { role, content: [{ type: "text", text: TEXT }], ...(role === "toolResult" ? { toolCallId: "c" } : {}) }
}

function answered(input: number) {
  return { ...said("assistant"), usage: { input } }
}

function tomb(targetId: string) {
  return { type: "tombstone", targetId }
}

/** A log in which each entry's parent is the one before it, or the given one. */
function logOf(records: readonly object[]): { readonly tokens: () => number } {
  const entries = records.map((record, index): Entry => {
    const { parent, ...rest } = record as { readonly parent?: string; readonly type?: string }
    const payload = rest.type === undefined ? { type: "message", message: rest } : rest
    const parentId = parent ?? (index === 0 ? null : `e${index}`)
    return { ...payload, id: `e${index + 1}`, parentId, seq: index + 1, timestamp: "" } as Entry
  })
  const log = EntryLog.of([undefined, ...entries])
  const selection = selectContext(log, entries.length) as Selection
  return {
    tokens: () => {
      const anchor = usageAnchor(log, selection)
      const { messages } = renderMessages(selection.entries.slice(anchor === undefined ? 0 : anchor.index + 1))
      return (anchor?.tokens ?? 0) + messages.length * ONE
    },
  }
}
