import { expect, test } from "vitest"
import type { Message } from "./message.ts"
import { estimateMessage, estimateMessages } from "./tokens.ts"

const message = (...content: readonly object[]): Message => ({ role: "user", content }) as unknown as Message

test("four UTF-16 units are a token, rounded up once a message; an image is 1,200", () => {
  expect(estimateMessage(message({ type: "text", text: "abcde" }))).toBe(2)
  expect(estimateMessage(message({ type: "text", text: "ab" }, { type: "text", text: "cd" }))).toBe(1)
  expect(estimateMessage(message({ type: "text", text: "😀😀" }))).toBe(1)
  expect(estimateMessage(message({ type: "thinking", thinking: "abcdefgh", signature: "x".repeat(900) }))).toBe(2)
  expect(
    estimateMessage(
      message({ type: "image", data: "x".repeat(9_000), mimeType: "image/png" }, { type: "text", text: "a" }),
    ),
  ).toBe(1_201)
  expect(estimateMessages([message({ type: "text", text: "a" }), message({ type: "text", text: "b" })])).toBe(2)
})

test("calls count with name and arguments as JSON, commands with their output", () => {
  expect(estimateMessage(message({ type: "toolCall", id: "c", name: "read", arguments: { path: "ab" } }))).toBe(
    Math.ceil((4 + 13) / 4),
  )
  expect(estimateMessage({ role: "bashExecution", command: "abcd", output: "efgh" })).toBe(2)
  expect(estimateMessage({ role: "pythonExecution", code: "abcd", output: "" })).toBe(1)
})

test("unknown blocks count nothing", () => {
  expect(
    estimateMessage(
      message({ type: "server_tool_use", input: "x".repeat(400) }, { type: "file", path: "a", mimeType: "b" }),
    ),
  ).toBe(0)
  expect(estimateMessage({ role: "acme:notice" })).toBe(0)
})
