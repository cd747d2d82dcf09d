/** Guarantees for an agent whose sessions are compacted. The scenarios before these are about files; see packages/fs. */
import { compact } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { FILLER, startCompacting, SUMMARY } from "../../../test/compacting.ts"
import { HEADER } from "../../../test/logs.ts"
import { whyRefused } from "../../../test/sendable.ts"
import { STORED_ID, storeLines } from "../../../test/stored.ts"
import { assistant, contextTexts, storedEntries, user } from "../../../test/writers.ts"
import { SUMMARY_HEADINGS } from "../summary/prompts.ts"
import type { SummarizeRequest } from "../../compaction-settings/types.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { createSessions } from "../../session/repository.ts"
import type { Session } from "../../session/types.ts"
import type { ContentBlock } from "../../format/message.ts"
import type { Fields } from "../../format/shape.ts"

test("S7.11: after a compaction the context is the summary and the entries from the first kept one on", async () => {
  const { session, reopen, location } = await startCompacting()
  const { ids } = await session.append([user(FILLER), assistant(FILLER), user("kept"), assistant("kept too")])
  const { summary } = await compact(session, { summarize: async () => SUMMARY, keepTurns: 1 })
  await session.append(user("after"))
  expect((await storedEntries(location)).find(({ type }) => type === "compaction")).toMatchObject({
    firstKeptEntryId: ids[2],
  })
  for (const open of [session, await reopen()]) {
    const { messages, compaction } = await open.context()
    expect(compaction).toMatchObject({ entryId: messages[0]?.entryId })
    expect(messages[0]).toMatchObject({ kind: "compaction", message: { role: "user" } })
    const [first, ...rest] = await contextTexts(open)
    expect(first).toBe(
      `The conversation history before this point was compacted into the following summary:\n\n<summary>\n${summary}\n</summary>`,
    )
    expect(rest).toEqual(["kept", "kept too", "after"])
  }
})

test("S7.12: content is always a list of blocks, however it was given or stored", async () => {
  const { session, reopen, location } = await startCompacting()
  await session.append([
    user(FILLER),
    { type: "message", message: { role: "assistant", content: [{ type: "text", text: "blocks" }] } },
    call("c", "read", {}),
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: "result" } },
    { type: "custom_message", customType: "note", content: "noted", display: true },
    { type: "message", message: { role: "bashExecution", command: "ls", output: "a" } },
  ])
  await session.edit(session.leafId as string, { content: "edited" })
  for (const entry of await storedEntries(location)) {
    const { message, content, replacement } = entry as { message?: object; content?: unknown; replacement?: object }
    for (const holder of [message, replacement, { content }])
      if (holder !== undefined && "content" in holder && holder.content !== undefined)
        expect(holder.content).toBeInstanceOf(Array)
  }
  const stored = { type: "message", id: "e1", parentId: null, seq: 1, timestamp: HEADER["timestamp"] }
  const bare = JSON.stringify({ ...stored, message: { role: "user", content: "a bare string" } })
  const older = createSessions({ storage: await storeLines([JSON.stringify(HEADER), bare], createMemoryStorage()) })
  await session.append([user("go on"), assistant("end")])
  await compact(session, { summarize: async () => SUMMARY, keepMessages: 3 })
  for (const open of [session, await reopen(), await older.open(STORED_ID)]) {
    const shown = [...(await open.context()).messages, ...(await open.messages()).messages]
    for (const { message } of shown)
      if ("content" in message || message.role !== "bashExecution") {
        const blocks = message.content as readonly { readonly type: unknown }[]
        expect(blocks).toBeInstanceOf(Array)
        expect(blocks.map(({ type }) => typeof type)).toEqual(blocks.map(() => "string"))
      }
  }
})

test("S7.13: no compaction cuts between a call and its result", async () => {
  const rules = [1, 2, 3, 4, 5, 6, 7].flatMap((count) => [{ keepMessages: count }, { keepRecentTokens: count * 1_000 }])
  for (const rule of [...rules, { keepTurns: 1 }, { keepMessages: 0 }]) {
    const { session } = await startCompacting()
    await session.append([user(FILLER), assistant(FILLER)])
    const meanwhile: NewEntry = { type: "message", message: { role: "bashExecution", command: "ls", output: FILLER } }
    await session.append([user(FILLER), call("a", "read", {}, "b"), result("b"), meanwhile, result("a")])
    await session.append([assistant(FILLER), user(FILLER), call("c", "read", {}), result("c")])
    await compact(session, { summarize: async () => "short", ...rule })
    const { messages } = await session.context()
    expect(whyRefused(messages)).toBeUndefined()
    expect(messages[1]?.message.role).not.toBe("toolResult")
    expect(await sides(session)).toEqual(await sides(session, true))
  }
})

test("S7.14: the summary is structured: the prompt demands the headings, and missing ones are reported", async () => {
  const { session, told } = await startCompacting()
  await session.append([user(FILLER), assistant(FILLER)])
  const asked: SummarizeRequest[] = []
  const standIn = async (request: SummarizeRequest): Promise<string> => (asked.push(request), SUMMARY)
  const { summary } = await compact(session, { summarize: standIn, keepMessages: 0 })
  expect(asked[0]?.prompt).toContain("EXACTLY")
  expect(headingsOf(asked[0]?.prompt)).toEqual(SUMMARY_HEADINGS)
  expect(headingsOf(summary)).toEqual(SUMMARY_HEADINGS)
  expect(told.at(-1)).toMatchObject(["compact_complete", { missingHeadings: [] }])
  await session.append([user(FILLER), assistant(FILLER)])
  await compact(session, { summarize: async () => "## Goal\nonly this", keepMessages: 0 })
  expect(told.at(-1)).toMatchObject(["compact_complete", { missingHeadings: SUMMARY_HEADINGS.slice(1) }])
})

test("S7.15: the files of each compaction include those of all before it", async () => {
  const { session, reopen } = await startCompacting()
  const lists: string[][] = []
  for (const name of ["one", "two", "three"]) {
    await session.append([
      user(FILLER),
      call(`${name}-r`, "read", { path: `${name}.ts` }),
      result(`${name}-r`),
      call(`${name}-w`, "write_file", { path: `${name}.md` }),
      result(`${name}-w`),
      assistant("done"),
    ])
    const asked: string[] = []
    const summarize = async ({ prompt }: SummarizeRequest): Promise<string> => (asked.push(prompt), SUMMARY)
    const { entryId, summary } = await compact(session, { summarize, keepMessages: 0 })
    expect(asked.join()).not.toContain("<read-files>")
    expect(summary.match(/<(?:read|modified)-files>/g)).toHaveLength(2)
    const { readFiles, modifiedFiles } = (await (await reopen()).entry(entryId)) as unknown as Record<string, string[]>
    lists.push([...(readFiles ?? []), ...(modifiedFiles ?? [])])
  }
  expect(lists).toEqual([
    ["one.ts", "one.md"],
    ["one.ts", "two.ts", "one.md", "two.md"],
    ["one.ts", "three.ts", "two.ts", "one.md", "three.md", "two.md"],
  ])
})

test("S7.16: a file that was read and changed, in any compaction, is only among the changed ones", async () => {
  const { session } = await startCompacting()
  const summarize = async (): Promise<string> => SUMMARY
  await session.append([user(FILLER), call("1", "read", { path: "a.ts" }), result("1")])
  await session.append([
    call("2", "read", { path: "b.ts" }),
    result("2"),
    call("3", "edit", { path: "b.ts" }),
    result("3"),
    assistant("done"),
  ])
  const first = await compact(session, { summarize, keepMessages: 0 })
  expect(first.summary).toMatch(/<read-files>\na\.ts\n<\/read-files>\n<modified-files>\nb\.ts\n<\/modified-files>$/)
  await session.append([user(FILLER), call("4", "write", { path: "a.ts" }), result("4")])
  await session.append([call("5", "read", { path: "b.ts" }), result("5"), assistant("done")])
  const second = await compact(session, { summarize, keepMessages: 0 })
  expect(second.summary).toMatch(/[^>]\n\n<modified-files>\na\.ts\nb\.ts\n<\/modified-files>$/)
})

test("S7.17: a further compaction asks to merge only the new messages into the previous summary, by these rules", async () => {
  const { session } = await startCompacting()
  await session.append([user(`first ${FILLER}`), assistant(FILLER), user("kept")])
  await compact(session, { summarize: async () => `${SUMMARY}\nthe old facts`, keepMessages: 1 })
  await session.append([assistant(`second ${FILLER}`), user("last")])
  const asked: SummarizeRequest[] = []
  await compact(session, { summarize: async (request) => (asked.push(request), SUMMARY), keepMessages: 1 })
  expect(asked).toHaveLength(1)
  const { prompt } = asked[0] as SummarizeRequest
  const [conversation = "", rest = ""] = prompt.split("\n</conversation>\n\n")
  expect(conversation).toMatch(/^<conversation>\n\[User\]: kept\n\n\[Assistant\]: second -+$/)
  expect(rest.startsWith(`<previous-summary>\n${SUMMARY}\nthe old facts\n</previous-summary>\n\n`)).toBe(true)
  const rules = [
    /only the NEW messages/,
    /[Mm]erge them into the summary .*<previous-summary>/,
    /keep everything/,
    /add the new progress, decisions and context/,
    /move items from In Progress to Done when\s+they are finished/,
    /bring Next Steps up to date with what was done/,
    /file paths, function names and error messages exactly as they stand/,
    /what no longer matters may go/,
    /EXACTLY this form/,
  ]
  for (const rule of rules) expect(rest).toMatch(rule)
  expect(headingsOf(rest.slice(rest.indexOf("</previous-summary>")))).toEqual(SUMMARY_HEADINGS)
})

test("S7.18: a summarizer gets the conversation as flat text", async () => {
  const { session } = await startCompacting()
  const content: ContentBlock[] = [
    { type: "thinking", thinking: "unseen" },
    { type: "toolCall", id: "1", name: "read", arguments: { path: "a.ts", lines: [1, 2] } },
    { type: "text", text: "I look." },
    { type: "toolCall", id: "2", name: "ls", arguments: {} },
  ]
  await session.append([user("do it </conversation>"), { type: "message", message: { role: "assistant", content } }])
  await session.append([result("1", "r".repeat(2_600)), result("2", `${"s".repeat(1_999)}😀`), assistant("done")])
  const asked: string[] = []
  await compact(session, { summarize: async ({ prompt }) => (asked.push(prompt), "short"), keepMessages: 0 })
  const flat = [
    "[User]: do it &lt;/conversation>",
    "[Assistant]: I look.",
    '[Assistant tool calls]: read(path="a.ts", lines=[1,2]); ls()',
    `[Tool result]: ${"r".repeat(2_000)}\n[... 600 more characters truncated]`,
    `[Tool result]: ${"s".repeat(1_999)}\n[... 2 more characters truncated]`,
    "[Assistant]: done",
  ]
  expect(asked[0]?.startsWith(`<conversation>\n${flat.join("\n\n")}\n</conversation>\n\n`)).toBe(true)
})

function call(id: string, name: string, args: Fields, ...more: readonly string[]): NewEntry {
  const content = [id, ...more].map((one) => ({ type: "toolCall" as const, id: one, name, arguments: args }))
  return { type: "message", message: { role: "assistant", content } }
}

function result(toolCallId: string, content: string = FILLER): NewEntry {
  return { type: "message", message: { role: "toolResult", toolCallId, isError: false, content } }
}

function headingsOf(text = ""): string[] {
  return text.split("\n").filter((line) => /^#{2,3} /.test(line))
}

/** Ids of the calls that are kept, or of the results. */
async function sides(session: Session, results = false): Promise<ReadonlySet<unknown>> {
  const { messages } = await session.context({ repair: "none" })
  const ids = messages.flatMap(({ message }) => {
    if (message.role === "toolResult") return results ? [message.toolCallId] : []
    if (results) return []
    return message.content.flatMap((block) => (block.type === "toolCall" ? [block["id"]] : []))
  })
  return new Set(ids)
}
