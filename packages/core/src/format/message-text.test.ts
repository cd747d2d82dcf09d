import { expect, test } from "vitest"
import type { Message } from "./message.ts"
import { textOf } from "./message-text.ts"

test("the text of a message is that of its text blocks, in their order, without a separator", () => {
  const content = [
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "It is " },
    { type: "toolCall", id: "c", name: "clock", arguments: {} },
    { type: "text", text: "noon." },
  ] as const
  expect(textOf({ role: "assistant", content })).toBe("It is noon.")
  expect(textOf({ role: "user", content: "hi" })).toBe("hi")
})

test("a message without text, or with blocks that are damaged, has the empty text", () => {
  expect(textOf({ role: "bashExecution", command: "ls", output: "a" } as unknown as Message)).toBe("")
  for (const content of [undefined, null, 7, {}, [], [null, "x", { type: "text" }, { type: "text", text: 7 }]])
    expect(textOf({ role: "user", content } as unknown as Message)).toBe("")
})
