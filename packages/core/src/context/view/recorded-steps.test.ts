import { expect, test } from "vitest"
import type { Entry } from "../../format/entry.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { buildSessionContext } from "../build.ts"

const LONG = "word ".repeat(1_000)

/** Entries e0, e1, ... of a path. */
function logOf(records: readonly object[]): EntryLog {
  const entries = records.map((record, seq) => {
    const of = "role" in record && !("type" in record) ? { type: "message", message: record } : record
    const parentId = seq === 0 ? null : `e${seq - 1}`
    return { ...of, id: `e${seq}`, parentId, seq, timestamp: "2026-01-01T00:00:00.000Z" } as unknown as Entry
  })
  return EntryLog.of(entries)
}

const said = (text = LONG, role = "user"): object => ({ role, content: [{ type: "text", text }] })
const answer = (model: string): object => ({ ...said("ok", "assistant"), provider: "p", model, usage: { input: 500 } })
const step = (upTo: string, more = {}): object => ({
  type: "context_step",
  step: "cut",
  units: 64,
  upTo,
  window: 4_000,
  ...more,
})
const tomb = (targetId: string): object => ({ type: "tombstone", targetId })
const call = (id: string): object => ({
  role: "assistant",
  content: [{ type: "toolCall", id, name: "read", arguments: {} }],
})
const result = (id: string): object => ({ ...said("late", "toolResult"), toolCallId: id, isError: false })

const cutIn = (records: readonly object[]): readonly string[] | undefined =>
  buildSessionContext(logOf(records)).shortened?.map(({ entryId }) => entryId)

test("a step of an unknown name changes nothing, whatever its fields say", () => {
  const whole = buildSessionContext(logOf([said(), said()]))
  for (const name of ["end", "later", 1, null, undefined]) {
    const { messages, tokens } = buildSessionContext(logOf([said(), said(), step("e1", { step: name, ids: ["e0"] })]))
    expect({ name, messages, tokens }).toEqual({ name, messages: whole.messages, tokens: whole.tokens })
  }
})

test("a step whose last entry is deleted later holds up to its place, also behind a compaction that keeps it", () => {
  const records = [said(), said(), said(), step("e1"), tomb("e1")]
  expect(cutIn(records)).toEqual(["e0"])
  const kept = { type: "compaction", summary: LONG, firstKeptEntryId: "e0", tokensBefore: 9 }
  expect(cutIn([...records, kept])).toEqual(["e0"])
})

test("a step whose last entry was deleted and is summarized changes nothing that a compaction carries", () => {
  const question = { id: "e0", message: said() }
  const after = { type: "compaction", summary: LONG, firstKeptEntryId: "e2", tokensBefore: 9, question }
  expect(cutIn([said(), said(), said(), step("e1"), tomb("e1"), after])).toEqual([])
})

test("a result that comes after its call was left out is left out with it; another call of that id keeps its own", () => {
  const out = { type: "context_step", step: "left_out", ids: ["e1"], window: 4_000 }
  const records = [said("go"), call("c"), said("next"), out, result("c"), call("c"), result("c")]
  const { messages } = buildSessionContext(logOf(records))
  expect(messages.map(({ entryId, message }) => [entryId, message.role])).toEqual([
    ["e0", "user"],
    ["e1", "user"],
    ["e2", "user"],
    ["e5", "assistant"],
    ["e6", "toolResult"],
  ])
})

test("a step is undone behind the first answer of a larger model, whose report has counted the short form", () => {
  const records = [answer("small"), said(), said(), step("e2"), answer("large")]
  const tokens = (more: readonly object[]): number =>
    buildSessionContext(logOf([...records, ...more]), undefined, { window: 9_000 }).tokens
  const whole = buildSessionContext(logOf([said(), said()])).tokens
  expect(tokens([])).toBeGreaterThan(whole)
  // This report has counted the messages whole.
  expect(tokens([{ ...answer("large"), usage: { input: 3_000 } }])).toBeLessThan(3_100)
})
