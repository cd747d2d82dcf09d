/** The rules of deepseek-harness's logs. Files are made by hand after its sources; with `DSH_PACKAGES`, a folder with its packages, its restore judges. */
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { encode } from "../src/dsh/codec.ts"
import { dsh } from "../src/dsh/index.ts"
import { sessionIdOf } from "../src/base/ids.ts"
import { fixture, testFixtures } from "./fixtures.ts"
import { importText, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"

const [first, third] = [fixture("dsh/session.jsonl"), fixture("dsh/session.v3.jsonl")]
testLaws(dsh, { "generation 0": { text: first }, "generation 3": { text: third } }, (entries) =>
  restored(entries, encode),
)
testFixtures(dsh)

async function rowsOf(text: string) {
  const imported = await importText(dsh, { text })
  const { messages } = await imported.session.context({ repair: "none" })
  const rows = messages.map(({ message: { role, synthetic, content } }) => {
    const texts = content.map((block) => block["text"] ?? block["thinking"] ?? block["name"] ?? block.type)
    return `${role}${synthetic === true ? "*" : ""} ${texts.join("|")}`
  })
  return { ...imported, rows }
}

test("events that a model gets are messages; pieces of answers and other events are kept aside", async () => {
  const { rows, entries, session } = await rowsOf(first)
  expect(rows).toEqual([
    "user What is in the mine?",
    "assistant Look first.|I look.|bash|read",
    "toolResult coal",
    "toolResult no such file",
    "user* The file a.txt was changed.",
    "assistant Coal.",
  ])
  expect(entries.find(({ id }) => id === "m2")).toMatchObject({
    message: { provider: "deepseek", model: "deepseek-v4", usage: { input: 10, output: 4, cacheRead: 3 } },
  })
  expect(entries.find(({ id }) => id === "m4")).toMatchObject({ message: { toolName: "read", isError: true } })
  expect(session.header).toMatchObject({ cwd: "/home/dev/mine", origin: { id: "session-1" } })
})

test("messages that take the place of others edit them, or are the compaction of what is before", async () => {
  const { rows, session } = await rowsOf(third)
  expect(rows[0]).toBe("system You dig.")
  expect(rows[1]).toContain("They asked once.")
  expect(rows.slice(2)).toEqual(["assistant first answer", "user second question", "assistant second answer"])
  const { messages } = await session.messages({ limit: 20 })
  expect(JSON.stringify(messages)).toContain("an event that nobody knows")
})

const T = 1_790_000_000_000
const header = { type: "session", version: 3, id: "s", createdAt: T, delegationDepth: 0 }
const said = (seq: number, text: string, surfaceOp: unknown = "append") => ({
  type: "user/message",
  seq,
  time: T,
  surfaceOp,
  data: { id: `m${seq}`, role: "user", content: [{ type: "text", text }], source: { kind: "user" } },
})
const jsonl = (...records: readonly object[]): string => records.map((one) => `${JSON.stringify(one)}\n`).join("")

test("a second compaction takes the place of the first one", async () => {
  const replace = (start: number, end: number) => ({ op: "replace", start, end })
  const text = jsonl(
    header,
    said(0, "one"),
    said(1, "two"),
    said(2, "three"),
    said(3, "S1", replace(0, 1)),
    said(4, "four"),
    said(5, "S2", replace(3, 2)),
    said(6, "five"),
  )
  const { rows } = await rowsOf(text)
  expect(rows).toHaveLength(3)
  expect(rows[0]).toContain("S2")
  expect(rows.slice(1)).toEqual(["user four", "user five"])
})

test("a replacement in the middle edits the messages in their place, and one of messages that are not there is kept aside", async () => {
  const summary = (seq: number, start: number, end: number) => ({
    ...said(seq, "both", { op: "replace", start, end }),
    type: "assistant/message",
    data: { message: { id: `m${seq}`, role: "assistant", content: [{ type: "text", text: "both" }] } },
  })
  const all = [header, said(0, "one"), said(1, "two"), said(2, "three"), said(3, "four")]
  const { rows } = await rowsOf(jsonl(...all, summary(4, 1, 2)))
  expect(rows).toEqual(["user one", "user both", "user four"])
  const odd = await rowsOf(jsonl(...all, summary(4, 7, 9)))
  expect(odd.rows).toHaveLength(4)
  expect(odd.diagnostics.map(({ code }) => code)).toEqual(["invalid_record"])
})

test("a subagent and a fork name the session that they come from; a later generation is refused", async () => {
  const child = jsonl({ ...header, parentSession: "p", origin: "subagent" }, said(0, "look"))
  const { session } = await rowsOf(child)
  expect(session.header).toMatchObject({ kind: "subagent", parentSession: { id: await sessionIdOf("dsh", "p") } })
  const newer = jsonl({ ...header, version: 4 }, said(0, "look"))
  await expect(importText(dsh, { text: newer })).rejects.toMatchObject({ code: "newer_version" })
  const pi = jsonl({ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" })
  expect(dsh.identify(pi)).toBe(false)
})

const packages = process.env["DSH_PACKAGES"]
if (packages === undefined)
  console.info("Skipped: the restore of deepseek-harness as the judge. DSH_PACKAGES names no folder.")

test.skipIf(packages === undefined)("deepseek-harness restores of generation 0 the messages that we read", async () => {
  const path = join(packages as string, "node_modules", "@deepseek-ai", "dsh-session", "lib", "index.js")
  const { decodeStorageRecord, foldSurface, deriveEventMessage } = (await import(pathToFileURL(path).href)) as {
    readonly decodeStorageRecord: (record: unknown) => readonly object[]
    readonly foldSurface: (events: readonly object[]) => { readonly nodes: readonly number[] }
    readonly deriveEventMessage: (
      event: object,
    ) => { readonly role: string; readonly content: readonly Block[] } | undefined
  }
  const [, ...lines] = first.trim().split("\n")
  const events = lines.flatMap((line) => decodeStorageRecord(JSON.parse(line)))
  const messages = foldSurface(events).nodes.map((seq) => deriveEventMessage(events[seq] as object))
  const shown = messages.map((message) => `${message?.role} ${textIn(message?.content ?? [])}`)
  const { rows } = await rowsOf(first)
  expect(shown).toEqual(rows.map((row) => row.replace("*", "").replace("toolResult", "user")))
})

interface Block {
  readonly text?: string
  readonly name?: string
  readonly content?: readonly Block[]
}

function textIn(blocks: readonly Block[]): string {
  return blocks.map(({ text, name, content }) => text ?? name ?? textIn(content ?? [])).join("|")
}
