import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../test/property.ts"
import * as any from "../../test/records.ts"
import { headerProblem, isHeader } from "./header.ts"
import { blockProblem, messageProblem } from "./message.ts"
import { entryProblem, isEntry, payloadProblem } from "./entry-problems.ts"

const place = { id: "a", parentId: null, seq: 1, timestamp: "2026-01-31T09:30:00.000Z" }
const text = { type: "text", text: "hi" }
const user = { role: "user", content: [text] }

test("complete records of every type, known and unknown, with unknown fields, have no problem", () => {
  const problems = fc.oneof(
    any.header.map((record) => headerProblem(record)),
    any.entry.map((record) => entryProblem(record)),
    any.entry.map((record) => (isEntry(record) ? undefined : record)),
    any.payload.map((record) => payloadProblem(record)),
    any.message.map((record) => messageProblem(record)),
    any.block.map((record) => blockProblem(record)),
  )
  holds(
    fc.property(problems, (problem) => {
      expect(problem).toBeUndefined()
    }),
    500,
  )
})

test.each<[object, string]>([
  [{ id: 1 }, "id must be a string that is not empty."],
  [{ id: "" }, "id must be a string that is not empty."],
  [{ type: "session" }, 'type must not be "session", which is the header\'s.'],
  [{ type: 5 }, "type must be a string."],
  [{ parentId: undefined }, "parentId must be null or a string."],
  [{ seq: -1 }, "seq must be a whole number from 0."],
  [{ timestamp: 5 }, "timestamp must be a string."],
  [{ blobs: { "/a/~": "utf16" } }, 'blobs["/a/~"] must be "utf8" or "base64".'],
  [{ message: undefined }, "message must be an object."],
  [{ message: { ...user, content: "hi" } }, "message.content must be an array of blocks."],
  [{ message: { ...user, content: [text, 5] } }, "message.content[1] must be an object."],
  [{ message: { ...user, content: [text, { type: "text" }] } }, "message.content[1].text must be a string."],
  [{ message: { ...user, role: "assistant", usage: { cost: "1" } } }, "message.usage.cost must be a number."],
  [{ message: { ...user, role: "toolResult", toolCallId: "c" } }, "message.isError must be true or false."],
  [
    { message: { ...user, attachments: Array.from({ length: 11 }, () => ({ path: "p", mimeType: "m" })) } },
    "message.attachments must hold at most 10, not 11.",
  ],
  [{ type: "context_edit", targetId: "a", replacement: 1 }, "replacement must be null or an object."],
  [{ type: "title_change", title: null, source: "me" }, 'source must be "user" or "auto".'],
  [{ type: "metadata", key: "k" }, "value must be there."],
  [
    { type: "file_snapshot", messageId: "m", files: { "a b": { blob: 1, version: 1 } } },
    'files["a b"].blob must be null or a string.',
  ],
])("of an entry with %j: %s", (fields, problem) => {
  expect(entryProblem({ type: "message", ...place, message: user, ...fields })).toBe(problem)
})

test("the problem of a value that is not an object names the expected record", () => {
  for (const value of [null, undefined, 1, "x", []]) {
    expect(entryProblem(value)).toBe("The entry must be an object.")
    expect(headerProblem(value)).toBe("The header must be an object.")
    expect(messageProblem(value)).toBe("The message must be an object.")
    expect(blockProblem(value)).toBe("The block must be an object.")
    expect(isEntry(value)).toBe(false)
  }
})

test("the tree needs a type that is not the header's, an id, and a parent or null", () => {
  const entry = { type: "x", id: "a", parentId: null }
  expect(isEntry(entry)).toBe(true)
  for (const fields of [
    { type: "session" },
    { type: 1 },
    { id: "" },
    { id: 1 },
    { parentId: undefined },
    { parentId: 1 },
  ]) {
    expect(isEntry({ ...entry, ...fields })).toBe(false)
  }
})

test("a header has our format and version, and a valid session id", () => {
  const header = { type: "session", format: "@sessions", version: 4, id: "s-1", timestamp: "t" }
  expect(isHeader(header)).toBe(true)
  for (const fields of [
    { format: undefined },
    { version: 5 },
    { version: "4" },
    { id: "../x" },
    { parentSession: "s" },
  ]) {
    expect(isHeader({ ...header, ...fields })).toBe(false)
  }
})

test("names of Object's properties are ordinary types and roles", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    expect(entryProblem({ type: name, ...place })).toBeUndefined()
    expect(messageProblem({ role: name })).toBeUndefined()
    expect(blockProblem({ type: name })).toBeUndefined()
  }
})
