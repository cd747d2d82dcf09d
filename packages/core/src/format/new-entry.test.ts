import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import * as any from "../../test/records.ts"
import { entryProblem } from "./entry-problems.ts"
import { type NewEntry, normalizeNewEntry, normalizeWithAnyNames, placeEntry } from "./new-entry.ts"

const place = { id: "a", parentId: null, seq: 1, timestamp: "2026-01-31T09:30:00.000Z" }
const blocks = [{ type: "text", text: "hi" } as const]

test("a string content becomes one text block, in messages, custom messages and edits", () => {
  expect(normalizeNewEntry({ type: "message", message: { role: "user", content: "hi", x: 1 } })).toEqual({
    type: "message",
    message: { role: "user", content: blocks, x: 1 },
  })
  expect(normalizeNewEntry({ type: "custom_message", customType: "n", content: "hi", display: true })).toEqual({
    type: "custom_message",
    customType: "n",
    content: blocks,
    display: true,
  })
  expect(normalizeNewEntry({ type: "context_edit", targetId: "t", replacement: { content: "hi" } })).toEqual({
    type: "context_edit",
    targetId: "t",
    replacement: { content: blocks },
  })
})

test("a result of a tool is no error unless it says so, and the input is not changed", () => {
  const result = { role: "toolResult", toolCallId: "c", content: blocks } as const
  const entry: NewEntry = { type: "message", message: result }
  expect(normalizeNewEntry(entry)).toEqual({ type: "message", message: { ...result, isError: false } })
  expect(entry).toEqual({ type: "message", message: result })
  for (const isError of [true, false]) {
    const said: NewEntry = { type: "message", message: { ...result, isError } }
    expect(normalizeNewEntry(said)).toEqual(said)
  }
  const wrong = { type: "message", message: { ...result, isError: "no" } } as unknown as NewEntry
  expect(() => normalizeNewEntry(wrong)).toThrow("message.isError must be true or false.")
})

test("the input is not changed", () => {
  const input: NewEntry = { type: "message", message: { role: "user", content: "hi" } }
  normalizeNewEntry(input)
  expect(input).toEqual({ type: "message", message: { role: "user", content: "hi" } })
})

test("a string content in other entries is not changed", () => {
  const input = { type: "custom", customType: "n", content: "hi", message: { content: "hi" } } as const
  expect(normalizeNewEntry(input)).toEqual(input)
})

test("every complete payload is accepted unchanged", () => {
  holds(
    fc.property(any.payload, (payload) => {
      expect(normalizeWithAnyNames(payload as NewEntry)).toEqual(payload)
      expect(entryProblem(placeEntry(payload as NewEntry as never, place))).toBeUndefined()
    }),
  )
})

test("an entry may have its own id and time", () => {
  for (const timestamp of ["2026-01-31T09:30:00.000Z", "2026-01-31T09:30:00+05:30", "2026-01-31T09:30Z"]) {
    expect(normalizeNewEntry({ type: "leaf", id: "own", timestamp })).toEqual({ type: "leaf", id: "own", timestamp })
  }
})

test.each<[object, string]>([
  [{ type: "message" }, "message must be an object."],
  [{ type: "message", message: { role: "user" } }, "message.content must be a text or an array of blocks."],
  [
    {
      type: "message",
      message: {
        role: "user",
        content: [],
        attachments: Array.from({ length: 11 }, () => ({ path: "", mimeType: "" })),
      },
    },
    "message.attachments must hold at most 10, not 11.",
  ],
  [{ type: "session" }, 'type must not be "session", which is the header\'s.'],
  [{}, "type must be a string."],
  [{ role: "user", content: "hi" }, '{ type: "message", message: { role: … } }'],
  [[], "The entry must be an object."],
  [{ type: "leaf", parentId: "a" }, "parentId is given by the session and must not be set."],
  [{ type: "leaf", seq: 1 }, "seq is given by the session and must not be set."],
  [{ type: "leaf", writtenAt: "" }, "writtenAt is given by the session and must not be set."],
  [{ type: "leaf", blobs: {} }, "blobs is given by the session and must not be set."],
  [{ type: "leaf", id: "" }, "id must be a string that is not empty."],
  [{ type: "leaf", timestamp: "yesterday" }, "timestamp must be an ISO 8601 date and time with a time zone"],
  [{ type: "leaf", timestamp: "2026-13-31T09:30:00Z" }, "timestamp must be an ISO 8601 date and time with a time zone"],
])("%j is invalid: %s", (input, problem) => {
  expect(() => normalizeNewEntry(input as NewEntry)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(problem) }),
  )
})

test("a placed entry has its keys in the order of a line, and the payload overrides no assigned field", () => {
  const payload = { customType: "n", id: "own", parentId: undefined, type: "custom", seq: undefined } as never
  expect(Object.entries(placeEntry(payload, { ...place, id: "own" }))).toEqual([
    ["type", "custom"],
    ["id", "own"],
    ["parentId", null],
    ["seq", 1],
    ["timestamp", place.timestamp],
    ["customType", "n"],
  ])
})
