import { expect, test } from "vitest"
import { AT, entry, header, lines, message } from "../../../test/older-logs.ts"
import { headerProblem } from "../../format/header.ts"
import type { Entry } from "../../format/entry.ts"
import { entryProblem } from "../../format/entry-problems.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import type { LogRecord } from "../../format/line.ts"
import { migrateLines } from "./migrate.ts"
import { migrateV3ToV4 } from "./v3-to-v4.ts"

type Fields = Record<string, unknown>

const migrate = (...records: Fields[]) => migrateLines(lines(header(3), ...records))
/** The version 4 form of one version 3 entry that follows a message. */
const becomes = (type: string, fields: Fields): Entry =>
  migrate(message("m", null), entry(type, "a", "m", fields)).records[1] as Entry
const base = { id: "a", parentId: "m", seq: 2, timestamp: AT }

test("every entry gets its position in the log as seq, the header being 0", () => {
  const { records } = migrate(message("a", null), message("b", "a"), { ...message("c", "b"), seq: 77 })
  expect(records.map((record) => (record as Entry).seq)).toEqual([1, 2, 3])
})

test("string content of a message, a custom message or an edit becomes one text block", () => {
  const content = [{ type: "text", text: "hi" }]
  expect(becomes("message", { message: { role: "user", content: "hi", timestamp: 1 } })).toEqual({
    type: "message",
    ...base,
    message: { role: "user", content, timestamp: 1 },
  })
  expect(becomes("message", { message: { role: "custom", customType: "n", content: "hi" } })).toMatchObject({
    message: { role: "custom", customType: "n", content },
  })
  expect(becomes("custom_message", { customType: "n", content: "hi", display: true })).toMatchObject({ content })
  expect(becomes("context_edit", { targetId: "m", replacement: { content: "hi" } })).toMatchObject({
    replacement: { content },
  })
})

test("an empty string is one empty text block, and a message without content gets none", () => {
  expect(becomes("message", { message: { role: "user", content: "" } })).toMatchObject({
    message: { content: [{ type: "text", text: "" }] },
  })
  const bash = { role: "bashExecution", command: "ls", output: "" }
  expect(becomes("message", { message: bash })["message"]).toEqual(bash)
})

test("pi's model_change {provider, modelId} becomes {provider, model}", () => {
  expect(becomes("model_change", { provider: "p", modelId: "m/n" })).toEqual({
    type: "model_change",
    ...base,
    provider: "p",
    model: "m/n",
  })
})

test("oh-my-pi's model_change is split at the first slash and keeps its role", () => {
  expect(becomes("model_change", { model: "p/m/n", role: "smol" })).toEqual({
    type: "model_change",
    ...base,
    provider: "p",
    model: "m/n",
    role: "smol",
  })
  expect(becomes("model_change", { model: "p/m" })).not.toHaveProperty("role")
})

test("a model_change without a provider stays as it is", () => {
  expect(becomes("model_change", { model: "m" })).toEqual({ type: "model_change", ...base, model: "m" })
})

test("a thinking level of null, or a missing one, is off", () => {
  expect(becomes("thinking_level_change", { thinkingLevel: null })).toMatchObject({ thinkingLevel: "off" })
  expect(becomes("thinking_level_change", {})).toMatchObject({ thinkingLevel: "off" })
  expect(becomes("thinking_level_change", { thinkingLevel: "high" })).toMatchObject({ thinkingLevel: "high" })
})

test("session_info becomes title_change by the user at the same position; an empty name clears", () => {
  const title = { type: "title_change", ...base, source: "user" }
  expect(becomes("session_info", { name: "N" })).toEqual({ ...title, title: "N" })
  expect(becomes("session_info", { name: "N", source: "auto" })).toEqual({ ...title, title: "N", source: "auto" })
  expect(becomes("session_info", { name: " " })).toEqual({ ...title, title: null })
  expect(becomes("session_info", {})).toEqual({ ...title, title: null })
})

test("oh-my-pi's title_change keeps its source and its own fields", () => {
  const more = { previousTitle: "M", trigger: "x" }
  expect(becomes("title_change", { title: "N", source: "auto", ...more })).toMatchObject({
    title: "N",
    source: "auto",
    ...more,
  })
  expect(becomes("title_change", { title: "" })).toMatchObject({ title: null, source: "user" })
})

test("fromHook becomes fromExtension only on compactions and branch summaries", () => {
  for (const fromHook of [true, false]) {
    const compaction = becomes("compaction", { summary: "", firstKeptEntryId: "m", tokensBefore: 1, fromHook })
    expect(compaction).toMatchObject({ fromExtension: fromHook })
    expect(compaction).not.toHaveProperty("fromHook")
    expect(becomes("branch_summary", { fromId: "x", summary: "", fromHook })).toEqual({
      type: "branch_summary",
      ...base,
      fromId: "x",
      summary: "",
      fromExtension: fromHook,
    })
    expect(becomes("x_future", { fromHook })).toMatchObject({ fromHook })
  }
})

test("a compaction's files are also read from its details, which stay as they are", () => {
  const details = { readFiles: ["a", 7], modifiedFiles: ["b"], x_unknown: 1 }
  const compaction = { summary: "", firstKeptEntryId: "m", tokensBefore: 1 }
  expect(becomes("compaction", { ...compaction, details })).toMatchObject({
    readFiles: ["a"],
    modifiedFiles: ["b"],
    details,
  })
  const nothing = { readFiles: [], modifiedFiles: [] }
  expect(becomes("compaction", compaction)).toMatchObject(nothing)
  expect(becomes("compaction", { ...compaction, details, fromExtension: true })).toMatchObject({ ...nothing, details })
  expect(becomes("compaction", { ...compaction, details, fromHook: true })).toMatchObject({ ...nothing, details })
})

test("usage fields in other programs' names are renamed, on messages and on entries", () => {
  const theirs = { inputTokens: 1, outputTokens: 2, cacheRead: 3 }
  const ours = { input: 1, output: 2, cacheRead: 3 }
  const assistant = becomes("message", { message: { role: "assistant", content: [], usage: theirs } })
  expect(assistant["message"]).toEqual({ role: "assistant", content: [], usage: ours })
  const compaction = becomes("compaction", { summary: "", firstKeptEntryId: "m", tokensBefore: 1, usage: theirs })
  expect(compaction["usage"]).toEqual(ours)
  expect(becomes("branch_summary", { fromId: "x", summary: "", usage: theirs })["usage"]).toEqual(ours)
  const both = { input: 5, inputTokens: 1 }
  expect(becomes("usage", { kind: "title", usage: both })["usage"]).toEqual(both)
})

test("tool names of other programs are left as written", () => {
  const content = ["read_file", "write_file", "edit_file", "list_directory"].map((name) => ({
    type: "toolCall",
    id: name,
    name,
    arguments: { path: "x" },
  }))
  expect(becomes("message", { message: { role: "assistant", content } })["message"]).toEqual({
    role: "assistant",
    content,
  })
})

test("transient fields are dropped; fields of the same names inside a tool's arguments stay", () => {
  const call = { type: "toolCall", id: "c", name: "n", arguments: { partialJson: "mine" } }
  const content = [{ ...call, partialJson: "{" }]
  const assistant = becomes("message", { message: { role: "assistant", content, jsonlEvents: [] }, partialJson: "" })
  expect(assistant).toEqual({ type: "message", ...base, message: { role: "assistant", content: [call] } })
})

test("pi's leaf gets its target as parent, as in version 4, and keeps the leaf it left", () => {
  expect(becomes("leaf", { targetId: null })).toEqual({
    type: "leaf",
    ...base,
    parentId: null,
    targetId: null,
    fromId: "m",
  })
  const { records } = migrate(message("a", null), message("b", "a"), entry("leaf", "l", "b", { targetId: "a" }))
  expect(records[2]).toMatchObject({ parentId: "a", fromId: "b" })
})

test("required fields that an entry lacks are taken from the entry before it", () => {
  const later = { ...message("a", null), timestamp: "2025-02-02T00:00:00.000Z" }
  const { records } = migrate(
    { type: "x", id: "0" },
    later,
    { type: "x", id: "b", timestamp: null },
    { type: "x", id: "c" },
  )
  expect(records[0]).toEqual({ type: "x", id: "0", parentId: null, seq: 1, timestamp: AT })
  expect(records[2]).toEqual({ type: "x", id: "b", parentId: "a", seq: 3, timestamp: later.timestamp })
  expect(records[3]).toMatchObject({ parentId: "b", timestamp: later.timestamp })
})

test("a timestamp in milliseconds becomes ISO 8601", () => {
  expect(becomes("x", { timestamp: Date.parse(AT) + 1 })).toMatchObject({ timestamp: "2025-01-01T00:00:00.001Z" })
})

test("the header keeps unknown keys, and names its origin", () => {
  const older = header(3, {
    cwd: "/p",
    provider: "p",
    modelId: "m",
    thinkingLevel: "high",
    additionalDirectories: ["d"],
  })
  const migrated = migrateLines(lines(older)).header
  expect(migrated).toEqual({
    ...older,
    format: "@sessions",
    version: 4,
    origin: { format: "oh-my-pi", version: 3, id: "old-1" },
  })
  expect(headerProblem(migrated)).toBeUndefined()
})

test("a text in parentSession or branchedFrom is a reference that is never followed as a path", () => {
  const parent = (fields: Fields) => migrateLines(lines(header(3, fields))).header
  expect(parent({ parentSession: "/a.jsonl" }).parentSession).toEqual({ ref: "/a.jsonl" })
  expect(parent({ branchedFrom: "/b.jsonl" })).toMatchObject({ parentSession: { ref: "/b.jsonl" } })
  expect(parent({ branchedFrom: "/b.jsonl" })).not.toHaveProperty("branchedFrom")
  expect(parent({ parentSession: "/a", branchedFrom: "/b" })).toMatchObject({
    parentSession: { ref: "/a" },
    branchedFrom: "/b",
  })
  expect(parent({ parentSession: null })).not.toHaveProperty("parentSession")
})

test("the session's id is the older one if it is valid, else one made from its time, else the given one", () => {
  const idOf = (id: string, asked?: string) => {
    const { header: made } = migrateLines(lines(header(3, { id })), asked === undefined ? {} : { id: asked })
    expect(made.origin?.id).toBe(id)
    return made.id
  }
  expect(idOf("1f9d2a6b9c0d1234")).toBe("1f9d2a6b9c0d1234")
  expect(idOf("../evil")).toBe(ulidAt(Date.parse(AT), 0))
  expect(idOf("a", "b")).toBe("b")
})

test("a header without a valid time still becomes a header", () => {
  const { header: made } = migrateLines(lines(header(3, { timestamp: 0, id: "../x" })))
  expect(made).toMatchObject({ timestamp: "1970-01-01T00:00:00.000Z", id: ulidAt(0, 0) })
  expect(migrateLines(lines(header(3, { timestamp: 1e300 }))).header.timestamp).toBe("1970-01-01T00:00:00.000Z")
})

test("entries that were complete in version 3 are complete in version 4", () => {
  const { records } = migrate(
    message("a", null, "hi"),
    entry("model_change", "b", "a", { model: "p/m" }),
    entry("thinking_level_change", "c", "b", { thinkingLevel: null }),
    entry("session_info", "d", "c", { name: "N" }),
    entry("custom_message", "e", "d", { customType: "n", content: "c", display: false }),
    entry("branch_summary", "f", "a", { fromId: "a", summary: "s" }),
    entry("compaction", "g", "f", { summary: "s", firstKeptEntryId: "a", tokensBefore: 9 }),
  )
  expect(records.map(entryProblem)).toEqual(records.map(() => undefined))
})

test("the step does not change its input", () => {
  const older = {
    titleSlot: { type: "title", v: 1, title: "t" },
    header: header(3, { title: "t", parentSession: "p" }) as LogRecord,
    records: [
      message("a", null) as LogRecord,
      entry("compaction", "b", "a", { firstKeptEntryId: "x", fromHook: true }) as LogRecord,
      entry("branch_summary", "c", "a", { fromId: "a", usage: { inputTokens: 1 } }) as LogRecord,
    ],
  }
  const before = structuredClone(older)
  migrateV3ToV4(older, { format: "pi", version: 3 }, () => undefined)
  expect(older).toEqual(before)
})

test("the system message of pi's compaction is one that the compaction carries", () => {
  const fields = { summary: "s", firstKeptEntryId: "m", tokensBefore: 1 }
  const systemMessage = { role: "system", content: "You are A.", timestamp: 1 }
  const migrated = becomes("compaction", { ...fields, systemMessage })
  const content = [{ type: "text", text: "You are A." }]
  expect(migrated).toMatchObject({ system: [{ id: "a", message: { role: "system", content, timestamp: 1 } }] })
  expect(migrated).not.toHaveProperty("systemMessage")
  expect(entryProblem(migrated)).toBeUndefined()
  expect(becomes("compaction", { ...fields, systemMessage: "x" })).toMatchObject({ systemMessage: "x" })
  expect(becomes("compaction", fields)).not.toHaveProperty("system")
})

test("the texts of a system message of pi with sections are joined by a line feed, as pi sends them", () => {
  const content = ["Be kind.", "Be brief."].map((text) => ({ type: "text", text }))
  const said = { role: "system", content, sections: { skills: "x" }, timestamp: 1 }
  const { records } = migrate({ ...message("a", null), message: said })
  expect(records[0]).toMatchObject({ message: { content: [{ type: "text", text: "Be kind.\nBe brief.\n\nx" }] } })
})

test("the sections of pi's system prompt are its text: whole at first, and changes with their names after that", () => {
  const system = (id: string, parent: string | null, sections: Fields, content: unknown = "") => ({
    ...message(id, parent),
    message: { role: "system", content, sections, timestamp: 1 },
  })
  const { records } = migrate(
    system("a", null, { preamble: "You are A.", skills: "x", gone: null }),
    message("b", "a"),
    system("c", "b", { skills: "y", preamble: null }, "Be kind."),
    system("d", null, { preamble: "Another root." }),
    system("e", "d", { bad: 1 }, [{ type: "acme:x" }]),
  )
  const texts = (records as Entry[]).map(
    ({ message: said }) => (said as { content: { text?: string }[] }).content[0]?.text,
  )
  const update = 'Updated system prompt section "skills":\n\ny'
  expect(texts[0]).toBe("You are A.\n\nx")
  expect(texts[2]).toBe(`Be kind.\n\n${update}\n\nRemoved system prompt section "preamble".`)
  expect(texts[3]).toBe("Another root.")
  expect(records[0]).toMatchObject({ message: { sections: { preamble: "You are A.", skills: "x", gone: null } } })
  expect(records[4]).toMatchObject({ message: { content: [{ type: "acme:x" }] } })
  const systemMessage = { role: "system", content: "", sections: { preamble: "You are A." }, timestamp: 1 }
  const compaction = becomes("compaction", { summary: "s", firstKeptEntryId: "m", tokensBefore: 1, systemMessage })
  expect(compaction).toMatchObject({ system: [{ message: { content: [{ type: "text", text: "You are A." }] } }] })
})
