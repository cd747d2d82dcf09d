/** Recorded steps in logs that go on: what other writers append, delete and record. */
import { expect, test } from "vitest"
import type { Entry } from "../../format/entry.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import { buildSessionContext } from "../build.ts"

const LONG = "word ".repeat(1_000)

function logOf(...entries: readonly object[]): readonly EntrySlot[] {
  return entries.map((entry, seq): Entry => {
    const parentId = seq === 0 ? null : `e${seq - 1}`
    return { id: `e${seq}`, parentId, seq, timestamp: "2026-01-01T00:00:00.000Z", ...entry } as unknown as Entry
  })
}

const said = (text: string, more: object = {}): object => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }], ...more },
})
const called = (call: string): object => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "toolCall", id: call, name: "read", arguments: {} }] },
})
const result = (call: string): object => said("found", { role: "toolResult", toolCallId: call, isError: false })
const step = (fields: object): object => ({ type: "context_step", window: 1_000, ...fields })

test("a step of an unknown name, and one that changes no message, change none", () => {
  for (const name of ["end", "failed", "of a later version"]) {
    const { messages, shortened } = buildSessionContext(
      logOf(said(LONG), step({ step: name, units: 64, upTo: "e0", ids: ["e0"] })),
    )
    expect(messages[0]?.message.content).toEqual([{ type: "text", text: LONG }])
    expect(shortened ?? []).toEqual([])
  }
})

test("the deletion of the last message that a step is for leaves the others shortened", () => {
  const talk = [said(LONG), said("the last"), step({ step: "cut", units: 64, upTo: "e1" })]
  const before = buildSessionContext(logOf(...talk))
  const after = buildSessionContext(logOf(...talk, { type: "tombstone", targetId: "e1" }))
  expect(after.messages).toEqual(before.messages.slice(0, 1))
  expect(after.tokens).toBeLessThan(before.tokens)
})

test("a result that comes later shares the fate of its call, which is left out", () => {
  const talk = [said("go"), called("c"), said("never mind"), step({ step: "left_out", ids: ["e0", "e1"] })]
  const { messages, shortened } = buildSessionContext(logOf(...talk, result("c"), said("next")))
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "user", "user"])
  expect(shortened?.map(({ entryId }) => entryId)).toEqual(["e0", "e1", "e4"])
})

test("of several steps that a larger window undoes each has shortened what the one before it had left", () => {
  const answer = { role: "assistant", content: [{ type: "text", text: "ok" }], usage: { input: 90, output: 1 } }
  const cuts = [400, 200, 64].map((units) => step({ step: "cut", units, upTo: "e0" }))
  const talk = [said(LONG), ...cuts, { type: "message", message: answer }]
  const moved = { type: "model_change", provider: "p", model: "large" }
  const once = [said(LONG), ...cuts.slice(2), { type: "message", message: answer }]
  const tokens = (log: readonly object[]): number =>
    buildSessionContext(logOf(...log, moved), undefined, { window: 9_000 }).tokens
  expect(tokens(talk)).toBe(tokens(once))
})
