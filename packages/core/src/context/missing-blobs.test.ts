import { expect, test } from "vitest"
import type { Entry } from "../format/entry.ts"
import { buildSessionContext } from "./build.ts"
import { MISSING_CONTENT_TEXT, withoutReferences } from "./missing-blobs.ts"

const REFERENCE = `blob:sha256:${"a".repeat(64)}`
const missing = { type: "text", text: MISSING_CONTENT_TEXT }

test("an entry without references is the entry itself", () => {
  const entry = message([{ type: "text", text: REFERENCE }])
  expect(withoutReferences(entry)).toBe(entry)
  const named = {
    ...message([{ type: "text", text: "no reference" }]),
    blobs: { "/message/content/0/text": "utf8" },
  } as Entry
  expect(withoutReferences(named)).toBe(named)
})

test("a sentence replaces a text, an argument, a summary or an output; a text block replaces any other block", () => {
  expect(contentOf([{ type: "text", text: REFERENCE, extra: 1 }], "/0/text")).toEqual([{ ...missing, extra: 1 }])
  const call = { type: "toolCall", id: "c", name: "write", arguments: { path: "a", content: REFERENCE } }
  expect(contentOf([call], "/0/arguments/content")).toEqual([
    { ...call, arguments: { path: "a", content: MISSING_CONTENT_TEXT } },
  ])
  expect(contentOf([{ type: "thinking", thinking: REFERENCE, signature: "s" }], "/0/thinking")).toEqual([missing])
  expect(contentOf([{ type: "thinking", thinking: "t", signature: REFERENCE }], "/0/signature")).toEqual([missing])
  expect(
    contentOf(
      [
        { type: "document", source: { data: REFERENCE } },
        { type: "text", text: "x" },
      ],
      "/0/source/data",
    ),
  ).toEqual([missing, { type: "text", text: "x" }])
  const summary = withoutReferences({
    ...base("branch_summary"),
    fromId: "e",
    summary: REFERENCE,
    blobs: { "/summary": "utf8" },
  })
  expect(summary["summary"]).toBe(MISSING_CONTENT_TEXT)
  expect(summary).not.toHaveProperty("blobs")
})

test("two references in one block leave one text block, in either order", () => {
  const block = { type: "document", title: REFERENCE, data: REFERENCE, text: REFERENCE }
  for (const names of [
    ["title", "data", "text"],
    ["text", "data", "title"],
  ]) {
    const blobs = Object.fromEntries(names.map((name) => [`/message/content/0/${name}`, "utf8"]))
    const { message: made } = withoutReferences({ ...message([block]), blobs } as Entry) as {
      message?: { content: unknown }
    }
    expect(made?.content).toEqual([missing])
  }
})

test("an image of another program's log whose data is a reference is replaced too, and reported", () => {
  const entry = message([{ type: "image", data: REFERENCE, mimeType: "image/png" }])
  const { messages, diagnostics } = buildSessionContext([undefined, entry])
  expect(messages[0]?.message.content).toEqual([missing])
  expect(diagnostics).toMatchObject([{ code: "missing_blob", seq: 1, entryId: "e" }])
})

test("an edit's content is treated like an entry's", () => {
  const edit = {
    ...base("context_edit"),
    id: "f",
    parentId: "e",
    seq: 2,
    targetId: "e",
    replacement: { content: [{ type: "text", text: REFERENCE }] },
  }
  const log = [
    undefined,
    message([{ type: "text", text: "said" }]),
    { ...edit, blobs: { "/replacement/content/0/text": "utf8" } } as Entry,
  ]
  const { messages, diagnostics } = buildSessionContext(log)
  expect(messages[0]?.message.content).toEqual([missing])
  expect(diagnostics).toMatchObject([{ code: "missing_blob", entryId: "f" }])
})

function base<T extends Entry["type"]>(type: T) {
  return { type, id: "e", parentId: null, seq: 1, timestamp: "2026-01-31T09:30:00.000Z" }
}

function message(content: readonly object[]): Entry {
  return { ...base("message"), message: { role: "user", content } } as Entry
}

function contentOf(content: readonly object[], place: string): unknown {
  const entry = { ...message(content), blobs: { [`/message/content${place}`]: "utf8" } } as Entry
  return (withoutReferences(entry)["message"] as { content: unknown }).content
}
