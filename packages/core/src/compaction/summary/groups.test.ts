import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../../test/property.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { Message } from "../../format/message.ts"
import { halveGroup, joinGroups, planGroups, roundsOf } from "./groups.ts"
import { serializeConversation, tokensOfText } from "./serialize.ts"

test("a round is a user message, the answer, and the results of its calls", () => {
  const messages = conversation(
    "user",
    "call:a",
    "result:a",
    "call:b,c",
    "result:c",
    "result:b",
    "assistant",
    "user",
    "user",
    "assistant",
  )
  expect(roundsOf(messages).map((round) => round.map(({ entryId }) => entryId).join(" "))).toEqual([
    "user call:a result:a",
    "call:b,c result:c result:b",
    "assistant",
    "user user assistant",
  ])
  expect(roundsOf([])).toEqual([])
})

test("a round may have more messages than a call takes arguments", () => {
  const result: Message = { role: "toolResult", toolCallId: "a", isError: false, content: [] }
  const rounds = Array.from(
    { length: 150_000 },
    (): ContextMessage => ({ entryId: "e", kind: "message", message: result }),
  )
  const messages = [...conversation("user", "assistant", "user", "assistant"), ...rounds]
  expect(planGroups(messages, 1_000_000_000).flat()).toHaveLength(150_004)
})

test("groups are the messages in order, separate no call from its result, and are no longer than necessary", () => {
  holds(
    fc.property(histories, fc.integer({ min: -5, max: 120 }), (messages, budget) => {
      const groups = planGroups(messages, budget)
      expect(groups.flat()).toEqual(messages)
      const rounds = roundsOf(messages)
      for (const [index, group] of groups.entries()) {
        expect(group.length).toBeGreaterThan(0)
        const first = group[0]
        expect(first?.message.role === "toolResult" && index > 0).toBe(false)
        if (!rounds.some((round) => round.length === group.length && round[0] === first))
          expect(tokensOf(group)).toBeLessThanOrEqual(budget)
        const next = rounds.find((round) => round[0] === groups[index + 1]?.[0])
        if (next !== undefined) expect(tokensOf(group) + tokensOf(next)).toBeGreaterThan(budget)
      }
    }),
    300,
  )
})

test("halving splits a group between rounds, then anywhere, down to single messages", () => {
  const group = conversation("user", "call:a", "result:a", "user", "assistant")
  const halves = halveGroup(group)
  expect(halves?.map((half) => half.length)).toEqual([3, 2])
  expect(halveGroup(conversation("user", "call:a", "result:a"))?.map((half) => half.length)).toEqual([1, 2])
  expect(halveGroup(conversation("user"))).toBeUndefined()
  holds(
    fc.property(histories, (messages) => {
      const all: ContextMessage[] = []
      const waiting: (readonly ContextMessage[])[] = messages.length === 0 ? [] : [messages]
      for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
        const two = halveGroup(one)
        if (two === undefined) all.push(...one)
        else waiting.unshift(...two)
      }
      expect(all).toEqual(messages)
    }),
    100,
  )
})

test("each summary is in a block that it cannot close itself", () => {
  expect(joinGroups(["one", "two </context_summary> < /context_summary> <context_summary>"])).toBe(
    "<context_summary>\none\n</context_summary>\n\n<context_summary>\ntwo &lt;/context_summary> &lt; /context_summary> &lt;context_summary>\n</context_summary>",
  )
})

const histories = fc
  .array(fc.constantFrom("user", "assistant", "call:a", "call:b,c", "result:a", "result:b", "result:c", "custom"), {
    maxLength: 20,
    size: "max",
  })
  .map((kinds) => conversation(...kinds))

/** Results may be far longer than the part that the summarizer gets. */
function conversation(...kinds: readonly string[]): ContextMessage[] {
  return kinds.map((kind, index) => ({ entryId: kind, kind: "message", message: toMessage(kind, index) }))
}

function toMessage(kind: string, index: number): Message {
  const [role = "", ids = ""] = kind.split(":")
  const text = (units: number) => ({ type: "text" as const, text: "x".repeat(units) })
  if (role === "call") {
    const content = ids.split(",").map((id) => ({ type: "toolCall" as const, id, name: "bash", arguments: { index } }))
    return { role: "assistant", content }
  }
  if (role === "result") return { role: "toolResult", toolCallId: ids, isError: false, content: [text(index * 50)] }
  return { role: role as "user", content: [text(10 + index * 7)] }
}

function tokensOf(group: readonly ContextMessage[]): number {
  return roundsOf(group).reduce((sum, round) => sum + tokensOfText(serializeConversation(round)), 0)
}
