import { expect, test } from "vitest"
import { called, items, result, said } from "../../test/pruning.ts"
import type { ModelMessage } from "../format/message.ts"
import { findRepeatedCall } from "./repeated-call.ts"

/** A call and its result. */
function round(args: Readonly<Record<string, unknown>>, name = "read"): ModelMessage[] {
  return [called("c", name, args), result("c", "the same")]
}

const A = { path: "a.ts", lines: [1, 2], how: { raw: true, encoding: null } }

test("three calls with one name and equal arguments, with their keys in any order, are a repetition; two are not", () => {
  const again = { how: { encoding: null, raw: true }, lines: [1, 2], path: "a.ts" }
  const log = items(said("user"), ...round(A), ...round(again))
  expect(findRepeatedCall(log)).toBeUndefined()
  expect(findRepeatedCall(log, 2)).toEqual({ name: "read", arguments: again, count: 2, entryId: "e3" })
  expect(findRepeatedCall(items(said("user"), ...round(A), ...round(again), ...round(A)))).toEqual({
    name: "read",
    arguments: A,
    count: 3,
    entryId: "e5",
  })
})

test("another name, other arguments, another list or another kind of value end the repetition", () => {
  for (const [args, name] of [
    [A, "write"],
    [{ ...A, lines: [1] }, "read"],
    [{ ...A, lines: [2, 1] }, "read"],
    [{ ...A, lines: { 0: 1, 1: 2 } }, "read"],
    [{ ...A, how: null }, "read"],
    [{ ...A, more: undefined }, "read"],
  ] as const) {
    const log = items(said("user"), ...round(A), ...round(args, name), ...round(A), ...round(A))
    expect(findRepeatedCall(log, 1)?.count, JSON.stringify(args)).toBe(2)
  }
})

test("parallel calls count one by one, the newest last", () => {
  const call = (id: string, path: string): object => ({ type: "toolCall", id, name: "read", arguments: { path } })
  const content = [call("x", "b"), call("y", "a"), call("z", "a")]
  const log = items(said("user"), { role: "assistant", content } as ModelMessage)
  expect(findRepeatedCall(log, 1)).toMatchObject({ arguments: { path: "a" }, count: 2, entryId: "e1" })
})

test("a user message or an answer without a call ends the repetition; the program's own messages do not", () => {
  const twice = [...round(A), ...round(A)]
  const made: ModelMessage = { role: "user", synthetic: true, content: [{ type: "text", text: "go on" }] }
  const note = { entryId: "n", kind: "custom", message: said("user") } as const
  expect(findRepeatedCall(items(...twice, said("user"), ...round(A)))).toBeUndefined()
  expect(findRepeatedCall(items(...twice, said("assistant"), ...round(A)))).toBeUndefined()
  expect(findRepeatedCall(items(...twice, ...round(A), said("assistant")))).toBeUndefined()
  expect(findRepeatedCall([...items(...twice, made), note, ...items(...round(A))])?.count).toBe(3)
})

test("without a call there is no repetition", () => {
  expect(findRepeatedCall([], 0)).toBeUndefined()
  expect(findRepeatedCall(items(said("user")), 0)).toBeUndefined()
})
