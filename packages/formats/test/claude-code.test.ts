/** Claude Code, both ways: the laws on small files made by hand, the fixtures, and each rule of `docs/formats.md`. */
import { createSessions, type Message } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { describe, expect, test } from "vitest"
import { eachRecord, type Loss } from "../src/base/format.ts"
import { sessionIdOf } from "../src/base/ids.ts"
import { readSource } from "../src/base/codec.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { type Fields, file, goldens, id, SESSION, text, user } from "./claude-code-files.ts"
import { fixturesOf, testFixtures } from "./fixtures.ts"
import { type Imported, importText, recordsOf, testLaws, written } from "./laws.ts"
import { sidechainsTest } from "./sidechains.ts"
import { testWritten } from "./written-laws.ts"

testLaws(claudeCode, goldens)
// Claude Code does not go on at a line without a uuid.
const { "missing parents, repeated uuids, lines without a uuid, a cut last line": _, ...continuable } = goldens
testWritten(claudeCode, Object.values(continuable), {
  // A file with all branches has whole lines, and results of a call on all of them: those of parallel calls are siblings there.
  shown: (context) => context.map((line) => line.replace(/^user .*(?=<summary>)/s, "")),
  goesOn: ({ op }, branches) => op !== "branch" || branches === "path",
})
testFixtures(claudeCode)

const imported = (name: keyof typeof goldens) => importText(claudeCode, goldens[name])

/** Roles and texts of what a model gets. */
async function context({ session }: Imported): Promise<readonly string[]> {
  const { messages } = await session.context({ repair: "none" })
  return messages.map(({ kind, message }) => {
    const texts = message.content.map((block) => String(block["text"] ?? block["id"] ?? block.type))
    return `${kind === "compaction" ? "summary" : message.role} ${texts.join("|")}`
  })
}

describe("joining", () => {
  test("the lines of one message are one entry, and its results one chain behind it", async () => {
    const { entries } = await imported("parallel calls with results and an attachment between the lines of the message")
    const messages = entries.filter((entry) => entry.type === "message")
    expect(messages.map(({ id, parentId }) => [id, parentId])).toEqual([
      [id(1), null],
      [id(2), id(1)],
      [id(5), id(2)],
      [id(7), id(5)],
      [id(8), id(7)],
      [id(9), id(8)],
    ])
    expect(messages[1]?.message).toMatchObject({
      content: [
        { type: "thinking", signature: "sig" },
        { type: "toolCall", id: "a" },
        { type: "toolCall", id: "b" },
      ],
      provider: "anthropic",
      model: "claude-opus-5-5",
      usage: { input: 10, output: 6, cacheRead: 3 },
    })
    expect(messages[3]?.message).toMatchObject({ role: "toolResult", toolName: "Read", isError: true })
  })

  test("a line with n results and a text gives n results, then the user's message", async () => {
    const { entries } = await imported("results with an image, with a text, and two on one line")
    const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry] : []))
    expect(messages.map(({ id, message }) => [id.slice(35), message.role])).toEqual([
      ["1", "user"],
      ["2", "assistant"],
      ["3", "toolResult"],
      ["3:1", "toolResult"],
      ["3:2", "user"],
      ["4", "toolResult"],
      ["4:1", "user"],
      ["5", "assistant"],
    ])
    expect(messages[2]?.message.content).toEqual([
      { type: "text", text: "see" },
      { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" },
    ])
  })

  test("usage is counted once for each message", async () => {
    const { session } = await imported("parallel calls with results and an attachment between the lines of the message")
    expect((await session.info()).metrics).toMatchObject({ input: 20, output: 14, calls: 2 })
  })
})

describe("compactions", () => {
  test("keep a suffix: what is not kept is left out by edits", async () => {
    expect(await context(await imported("a compaction that keeps a suffix"))).toEqual([
      expect.stringContaining("summary "),
      "user q2",
      "assistant a2",
      "user next",
    ])
    expect(await context(await imported("a compaction that keeps a segment"))).toEqual([
      expect.stringContaining("summary "),
      "user q2",
      "assistant a2",
      "user next",
    ])
  })

  test("keep a prefix: the summary of the branch that was left follows it", async () => {
    expect(await context(await imported("a compaction that keeps a prefix"))).toEqual([
      "user q1",
      "assistant a1",
      expect.stringContaining("SUMMARY"),
      "user next",
    ])
  })

  test("keep nothing; a boundary without a summary cuts the conversation, one with a parent does not", async () => {
    const { entries, session } = await imported("a compaction that keeps nothing, and boundaries without a summary")
    expect(entries.find(({ type }) => type === "compaction")).toMatchObject({
      firstKeptEntryId: id(5),
      firstKeptSeq: 5,
      tokensBefore: 7,
      state: { models: { default: { provider: "anthropic", model: "claude-opus-5-5" } } },
    })
    expect((await session.messages()).messages.map(({ entryId }) => entryId)).toEqual([id(9)])
  })
})

test("the leaf is the last line of the conversation that is no sidechain", async () => {
  const side = await imported("inline sidechains between the lines of a message")
  expect(side.entries.at(-1)).toMatchObject({ type: "leaf", parentId: id(5) })
  expect(await context(side)).toEqual(["user q", "assistant task|b", "toolResult done", "toolResult r b"])
  const branches = await imported("branches, the older one continued last")
  expect(await context(branches)).toEqual(["user q", "assistant one", "user back"])
  expect(branches.session.diagnostics).toEqual([])
})

test("a repeated line is the leaf only if no other line continues it", async () => {
  const branches = [user(1, null, "q1"), user(2, 1, "q2"), user(3, 2, "q3"), user(4, 2, "q4")]
  const end = async (...more: readonly Fields[]) =>
    (await context(await importText(claudeCode, file(...branches, ...more)))).at(-1)
  expect(await end()).toBe("user q4")
  expect(await end(user(3, 2, "q3"))).toBe("user q3")
  expect(await end(user(2, 1, "q2"))).toBe("user q4")
  expect(await end(user(3, 2, "q3"), user(5, 3, "q5"), user(3, 2, "q3"))).toBe("user q5")
})

test("a boundary at the end, before its summary is written, leaves the conversation as it was", async () => {
  const cut = { ...user(3, null, ""), type: "system", subtype: "compact_boundary", logicalParentUuid: id(2) }
  const lines = [user(1, null, "q1"), user(2, 1, "q2"), cut]
  expect(await context(await importText(claudeCode, file(...lines)))).toEqual(["user q1", "user q2"])
  expect(await context(await importText(claudeCode, file(...lines, user(4, 3, "q4"))))).toEqual(["user q4"])
})

// A search in every sidechain takes 5 seconds.
sidechainsTest(20_000, 2_000)

test("a file that begins with the lines of a sidechain is a session of its own, whatever the pieces", async () => {
  const agent = { isSidechain: true, agentId: "a1" }
  const lines = [
    ...Array.from({ length: 300 }, (_, n) => user(n + 10, n === 0 ? null : n + 9, "aside", agent)),
    user(1, null, "q1"),
  ]
  const { text } = file(...lines)
  for (const size of [200, text.length]) {
    const main = async function* () {
      for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
    }
    const records: unknown[] = []
    const read = claudeCode.read({ main: main(), beside: () => undefined }, { note: () => undefined })
    for await (const record of eachRecord(read)) records.push(record)
    expect(records[0]).not.toHaveProperty("kind")
    expect(records[0]).toMatchObject({ origin: { id: SESSION, repeated: { isSidechain: false } } })
  }
  expect(await context(await importText(claudeCode, { text }))).toEqual(["user q1"])
})

test("lines of the program are synthetic, and an error of the API has no model", async () => {
  const { entries } = await imported("a message of the program, an error of the API, and a summary alone")
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(messages.map(({ synthetic, summary, model }) => [synthetic, summary, model])).toEqual([
    [true, undefined, undefined],
    [true, undefined, undefined],
    [undefined, true, undefined],
    [undefined, undefined, undefined],
  ])
})

test("the user's title wins, and oddities are diagnostics with their line", async () => {
  const chat = await imported("a chat with attachments, titles and lines of unknown types")
  expect(await chat.session.info()).toMatchObject({ title: "Mine", titleSource: "user", cwd: "/w" })
  const odd = await imported("missing parents, repeated uuids, lines without a uuid, a cut last line")
  expect(odd.diagnostics.map(({ code, message }) => `${code} ${/\d+/.exec(message)?.[0]}`)).toEqual([
    "missing_parent 1",
    "duplicate_id 3",
    "missing_parent 4",
    "torn_tail 7",
  ])
})

test("the file of a subagent is a session with a parent, a kind and a title", async () => {
  const { session } = await imported("the file of a subagent")
  expect(session.header).toMatchObject({
    kind: "subagent",
    title: "look it up",
    parentSession: { id: await sessionIdOf("claude-code", SESSION) },
    origin: { id: `${SESSION}/a1` },
  })
  const { text } = file(user(1, null, "go", { isSidechain: true, agentId: "a1" }))
  const beside = { "meta.json": JSON.stringify({ agentType: "x", description: "beside" }) }
  expect((await importText(claudeCode, { text, beside })).session.header.title).toBe("beside")
})

describe("export", () => {
  const chat = async () => imported("parallel calls with results and an attachment between the lines of the message")
  const linesOf = async (session: Imported["session"], o = {}) =>
    recordsOf(await written(claudeCode, session, o)) as readonly Fields[]

  test("appended entries follow the lines of the file, with uuids, and continue its last line", async () => {
    const { session } = await chat()
    await session.append([
      {
        type: "message",
        message: {
          role: "assistant",
          content: [text("ours"), { type: "toolCall", id: "c.1", name: "Read", arguments: {} }],
          provider: "anthropic",
          model: "m",
          usage: { input: 1, output: 2 },
        },
      },
      { type: "message", message: { role: "toolResult", toolCallId: "c.1", isError: false, content: "r" } },
      { type: "message", message: { role: "user", content: "more" } },
      { type: "title_change", title: "New", source: "user" },
    ] as never)
    const lines = await linesOf(session)
    const fresh = lines.slice(9)
    expect(fresh.map(({ type, parentUuid }) => [type, parentUuid])).toEqual([
      ["assistant", id(9)],
      ["assistant", fresh[0]?.["uuid"]],
      ["user", fresh[1]?.["uuid"]],
      ["user", fresh[2]?.["uuid"]],
      ["custom-title", undefined],
    ])
    expect(fresh[1]).toMatchObject({ sessionId: SESSION, message: { content: [{ type: "tool_use", id: "c_1" }] } })
    expect(fresh[2]).toMatchObject({
      message: { content: [{ type: "tool_result", tool_use_id: "c_1", content: "r" }] },
    })
    const again = await importText(claudeCode, { text: await written(claudeCode, session) })
    const contents = (messages: readonly { readonly message: Message }[]) =>
      messages.map(({ message: { role, content } }) => [role, JSON.stringify(content).replace("c_1", "c.1")])
    expect(contents((await again.session.messages()).messages)).toEqual(contents((await session.messages()).messages))
  })

  test("a session that went back to an older message ends with a line below that message", async () => {
    const { session } = await chat()
    await session.branch(id(8))
    const lines = await linesOf(session)
    expect(lines.at(-1)).toMatchObject({ type: "system", parentUuid: id(8) })
    expect(lines.filter(({ uuid }) => uuid === id(8))).toHaveLength(1)
    const again = await importText(claudeCode, { text: await written(claudeCode, session) })
    expect((await again.session.messages()).messages.at(-1)?.entryId).toBe(id(8))
  })

  test("a compaction that keeps entries names the lines that it keeps", async () => {
    const { session } = await chat()
    await session.append({
      type: "compaction",
      summary: "S",
      firstKeptEntryId: id(8),
      tokensBefore: 5,
      readFiles: [],
      modifiedFiles: [],
    } as never)
    const [made, text] = (await linesOf(session)).slice(-2)
    const kept = [id(8), id(9)]
    expect(made).toMatchObject({
      parentUuid: null,
      logicalParentUuid: id(9),
      compactMetadata: {
        preservedSegment: { headUuid: id(8), anchorUuid: text?.["uuid"], tailUuid: id(9) },
        preservedMessages: { anchorUuid: text?.["uuid"], uuids: kept, allUuids: kept },
      },
    })
    const again = await importText(claudeCode, { text: await written(claudeCode, session) })
    expect(await context(again)).toEqual(await context({ ...again, session }))
  })

  test("deleted and edited entries are not in the file as they were", async () => {
    const { session } = await chat()
    await session.tombstone(id(9))
    await session.edit(id(8), { content: [{ type: "text", text: "edited" }] })
    const losses: Loss[] = []
    const again = await importText(claudeCode, {
      text: await written(claudeCode, session, { note: (loss) => losses.push(loss) }),
    })
    expect((await again.session.messages()).messages.at(-1)?.message.content).toEqual([
      { type: "text", text: "edited" },
    ])
  })

  test("a line whose parent was deleted continues another line that is in the file", async () => {
    const { session } = await chat()
    await session.tombstone(id(2))
    const lines = await linesOf(session)
    const uuids = lines.map(({ uuid }) => uuid)
    expect(uuids).toEqual([id(1), id(4), id(5), id(7), id(8), id(9)])
    for (const { parentUuid } of lines) expect([null, ...uuids]).toContain(parentUuid)
  })

  test("an edited line of a sidechain stays in its sidechain", async () => {
    const side = await imported("inline sidechains between the lines of a message")
    await side.session.edit(id(20), { content: [{ type: "text", text: "edited" }] })
    const again = await importText(claudeCode, { text: await written(claudeCode, side.session) })
    expect(await context(again)).toEqual(await context(side))
  })

  test("a renamed copy has the new id and folder on every line", async () => {
    const { session } = await imported("a chat with attachments, titles and lines of unknown types")
    const lines = await linesOf(session, { id: id(99), cwd: "/elsewhere" })
    expect(new Set(lines.map(({ sessionId }) => sessionId))).toEqual(new Set([id(99), undefined]))
    expect(lines.find(({ type }) => type === "user")).toMatchObject({ cwd: "/elsewhere" })
  })

  test("a session of ours becomes lines that Claude Code takes, without the thinking of other providers", async () => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const session = await sessions.create({ cwd: "/p" })
    const { ids } = await session.append([
      { type: "message", message: { role: "system", content: "be brief" } },
      { type: "message", message: { role: "user", content: "hi" } },
      {
        type: "message",
        message: {
          role: "assistant",
          content: [{ type: "thinking", thinking: "…", signature: "s" }, text("a")],
          provider: "openai",
          model: "gpt-5",
        },
      },
      { type: "message", message: { role: "user", content: "other branch" } },
    ] as never)
    await session.branch(ids[2] ?? "")
    await session.append({
      type: "custom_message",
      customType: "note",
      content: [text("note")],
      display: true,
    } as never)
    await session.append({
      type: "message",
      message: { role: "toolResult", toolCallId: "x", isError: false, content: "orphan" },
    })
    await session.label(ids[1] ?? "", "start")
    const losses: Loss[] = []
    const lines = await linesOf(session, { note: (loss: Loss) => losses.push(loss) })
    expect(lines.map(({ type, isMeta, message }) => [type, isMeta, (message as Fields)["content"]])).toEqual([
      ["user", undefined, "hi"],
      ["assistant", undefined, [text("a")]],
      ["user", true, "note"],
    ])
    for (const line of lines)
      expect(line).toMatchObject({ cwd: "/p", sessionId: expect.any(String), uuid: expect.any(String) })
    expect(losses.map(({ what }) => what).sort()).toEqual(["annotations", "branches", "results", "system", "thinking"])
  })
})

const judged = fixturesOf(["claude-code"]).filter(({ expected }) => expected.sdk !== undefined)

test.each(judged)(
  "$name has the context that the agent's own reader gives",
  async ({ golden, expected: { sdk = [] } }) => {
    const { session, entries } = await importText(claudeCode, golden)
    const { messages } = await session.context({ repair: "none" })
    const uuids = (recordsOf(golden.text) as readonly Fields[]).map(({ uuid }) => String(uuid))
    const linesOf = new Map(
      entries.map((entry) => [entry.id, readSource(entry)?.at.map((at) => uuids[at - 1]?.slice(-2))]),
    )
    const ours = new Map<string, unknown>()
    for (const { entryId, kind, message } of messages)
      for (const block of message.content) {
        const content = block.type === "toolCall" ? `tool_use:${block.id}` : `text:${String(block["text"])}`
        const row = `${kind === "compaction" ? "user" : message.role} ${kind === "compaction" ? "text:SUMMARY" : content}`
        ours.set(message.role === "toolResult" ? `user tool_result:${message.toolCallId}` : row, linesOf.get(entryId))
      }
    const theirs = sdk.flatMap((row) => {
      const [line, role, ...words] = row.split(" ")
      return words
        .join(" ")
        .split("|")
        .map((part) => {
          const content = `${role} ${/^(text|tool_use|tool_result):/.test(part) ? part : `text:${part}`}`
          expect(ours.get(content), content).toContain(line)
          return content
        })
    })
    expect([...ours.keys()]).toEqual(theirs)
  },
)
