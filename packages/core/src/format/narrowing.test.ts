import { expect, expectTypeOf, test } from "vitest"
import type { Entry, KnownEntry, MessageEntry } from "./entry.ts"
import { isKnownEntry } from "./entry-problems.ts"
import {
  type ContentBlock,
  isKnownBlock,
  isModelMessage,
  type Message,
  type TextBlock,
  type ToolCallBlock,
  type UserMessage,
} from "./message.ts"
import type { NewEntry } from "./new-entry.ts"

const PLACE = { id: "a", parentId: null, seq: 1, timestamp: "2026-01-31T09:30:00.000Z" }

test("the type of an entry or a block, and the role of a message, narrow their unions", () => {
  const textOf = (entry: Entry): string => {
    if (entry.type !== "message") return entry.type
    expectTypeOf(entry).toEqualTypeOf<MessageEntry>()
    const { message } = entry
    if (message.role !== "user") return message.role
    expectTypeOf(message).toEqualTypeOf<UserMessage>()
    return message.content
      .map((block) => {
        if (block.type === "toolCall") expectTypeOf(block).toEqualTypeOf<ToolCallBlock>()
        if (block.type !== "text") return block.type
        expectTypeOf(block).toEqualTypeOf<TextBlock>()
        return block.text
      })
      .join()
  }
  const content: ContentBlock[] = [{ type: "text", text: "x" }, { type: "acme:chart" }]
  expect(textOf({ ...PLACE, type: "message", message: { role: "user", content } })).toBe("x,acme:chart")
  expect(textOf({ ...PLACE, type: "acme:note" })).toBe("acme:note")
})

test("misspelt types and roles do not compile; names with a namespace do", () => {
  const entries: NewEntry[] = [
    { type: "acme:note", text: "kept" },
    { type: "message", message: { role: "acme:notice" } },
    { type: "message", message: { role: "user", content: [{ type: "acme:chart", points: [] }] } },
    { type: "message", message: { role: "user", content: [{ type: "text", text: "a", cache_control: {} }] } },
    // @ts-expect-error A misspelt type.
    { type: "mesage", message: { role: "user", content: "a" } },
    // @ts-expect-error A misspelt role.
    { type: "message", message: { role: "usr", content: "a" } },
    // @ts-expect-error A name of another API.
    { type: "message", message: { role: "assistant", content: [{ type: "tool_use", id: "c", name: "n", input: {} }] } },
    // @ts-expect-error A text block without its text.
    { type: "message", message: { role: "user", content: [{ type: "text" }] } },
    // @ts-expect-error A result without the id of its call.
    { type: "message", message: { role: "toolResult", content: "a", isError: false } },
  ]
  expect(entries).toHaveLength(9)
})

test("the guards accept known names with the fields of the name, and nothing else", () => {
  const known: Entry = { ...PLACE, type: "title_change", title: "t", source: "user" }
  if (isKnownEntry(known)) expectTypeOf(known).toExtend<KnownEntry>()
  expect(isKnownEntry(known)).toBe(true)
  expect(isKnownEntry({ ...known, title: 7 } as never)).toBe(false)
  expect(isKnownEntry({ ...PLACE, type: "acme:note" })).toBe(false)
  const message: Message = { role: "user", content: [{ type: "text", text: "x" }] }
  expect(isModelMessage(message)).toBe(true)
  expect(isModelMessage({ ...message, content: "x" } as never)).toBe(false)
  expect(isModelMessage({ role: "acme:notice" })).toBe(false)
  expect(isKnownBlock({ type: "text", text: "x" })).toBe(true)
  expect(isKnownBlock({ type: "text" } as never)).toBe(false)
  expect(isKnownBlock({ type: "acme:chart" })).toBe(false)
})
