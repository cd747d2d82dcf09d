/** The rules of Codex's rollouts. Files are made by hand after those of Codex 0.169. */
import { createSessions, type Entry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { sessionIdOf } from "../src/base/ids.ts"
import { codex, codexPathOf } from "../src/codex/index.ts"
import { keptTexts } from "../src/codex/turns.ts"
import { fixture, testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws, written } from "./laws.ts"
import { testWritten } from "./written-laws.ts"

const ID = "01a2030c-fea7-7193-9a6e-fdda384b770f"
let second = 0
const line = (type: string, payload: object) => ({
  timestamp: new Date(Date.UTC(2026, 10, 22, 11, 0, second++)).toISOString(),
  type,
  payload,
})
const meta = (fields: object = {}) =>
  line("session_meta", {
    id: ID,
    timestamp: "2026-11-22T11:00:00.000Z",
    cwd: "/work",
    model_provider: "acme",
    ...fields,
  })
const item = (payload: object) => line("response_item", payload)
const event = (type: string, fields: object = {}) => line("event_msg", { type, ...fields })
const turnContext = (model: string) => line("turn_context", { model, cwd: "/work", approval_policy: "never" })
const userItem = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
const user = (text: string) => item(userItem(text))
const assistant = (text: string) =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] })
const developer = (text: string) =>
  item({ type: "message", role: "developer", content: [{ type: "input_text", text }] })
const reasoning = (text: string) =>
  item({ type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text }], encrypted_content: "gAAA" })
const call = (id: string, args = '{"cmd": "ls"}') =>
  item({ type: "function_call", name: "shell", arguments: args, call_id: id })
const output = (id: string, text: unknown = "a.ts") => item({ type: "function_call_output", call_id: id, output: text })
const rollback = (turns: number) => event("thread_rolled_back", { num_turns: turns })
const environment = "<environment_context>\n  <cwd>/work</cwd>\n</environment_context>"
const PREFIX = "Another language model started to solve this problem and summarized it:"

const lines = (...records: readonly (object | string)[]) =>
  records.map((record) => (typeof record === "string" ? record : `${JSON.stringify(record)}\n`)).join("")
const turn = (n: number) => [turnContext("m"), user(`q${n}`), assistant(`a${n}`)]

const tools = lines(
  meta(),
  developer("rules"),
  user(environment),
  turnContext("m1"),
  user("list the files"),
  reasoning("I look."),
  event("agent_reasoning", { text: "I look." }),
  call("c1"),
  output("c1"),
  item({ type: "custom_tool_call", call_id: "c2", name: "apply_patch", input: "*** Begin Patch", status: "completed" }),
  item({ type: "custom_tool_call_output", call_id: "c2", output: '{"output":"ok"}' }),
  item({
    type: "local_shell_call",
    id: "x",
    call_id: "c3",
    status: "completed",
    action: { type: "exec", command: ["ls"] },
  }),
  output("c3", { content: "failed", success: false }),
  call("c4", "no JSON"),
  output("c4", [
    { type: "input_text", text: "a picture" },
    { type: "input_image", image_url: "data:image/png;base64,AAAA" },
  ]),
  item({ type: "web_search_call", status: "completed", action: { type: "search", query: "x" } }),
  reasoning("Nothing follows."),
)
const replaced = lines(
  meta(),
  ...turn(1),
  ...turn(2),
  line("compacted", {
    message: "",
    replacement_history: [
      userItem("q1"),
      userItem("q2"),
      userItem(`${PREFIX} two questions`),
      { type: "compaction", encrypted_content: "gAAA" },
    ],
    window_number: 1,
  }),
  ...turn(3),
)
const summarized = lines(
  meta(),
  user(environment),
  ...turn(1),
  ...turn(2),
  line("compacted", { message: "two questions" }),
  ...turn(3),
)
const rolledBack = lines(
  meta(),
  ...turn(1),
  developer("mode"),
  ...turn(2),
  ...turn(3),
  rollback(2),
  user("again"),
  assistant("yes"),
)

const goldens = {
  "a rollout with every kind of item": { text: tools },
  "a rollout with a replaced history": { text: replaced },
  "a rollout with a summary": { text: summarized },
  "a rollout with a rollback": { text: rolledBack },
  "a rollout whose last lines are cut and unreadable": {
    text: lines(meta(), ...turn(1), "oops\n", '{"timestamp":"20'),
  },
  "a rollout with a line before its session_meta": { text: lines("oops\n", event("x"), meta(), user("hi")) },
}
testLaws(codex, goldens)
testWritten(codex, Object.values(goldens), {
  // Only the provider of a thinking gets it back.
  shown: (context) => context.map((line) => line.replaceAll(/\{"thinking":"[^"]*"\},?/g, "")),
})

testFixtures(codex)

const contextOf = async (session: Session) =>
  (await session.context({ repair: "none" })).messages.map(({ message }) => {
    const texts = message.content.map((block) => ("text" in block ? block.text : block.type))
    return `${message.role}: ${texts.join("|")}`
  })
const ofType = (entries: readonly Entry[], type: string) => entries.filter((entry) => entry.type === type)
const messagesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))

test("calls of all kinds become tool calls, and their outputs results", async () => {
  const { entries } = await importText(codex, { text: tools })
  const blocks = messagesOf(entries).flatMap(({ content = [] }) => content)
  expect(blocks.filter(({ type }) => type === "toolCall")).toEqual([
    { type: "toolCall", id: "c1", name: "shell", arguments: { cmd: "ls" } },
    { type: "toolCall", id: "c2", name: "apply_patch", arguments: { input: "*** Begin Patch" } },
    { type: "toolCall", id: "c3", name: "local_shell", arguments: { type: "exec", command: ["ls"] } },
    { type: "toolCall", id: "c4", name: "shell", arguments: { input: "no JSON" } },
  ])
  const results = messagesOf(entries).filter(({ role }) => role === "toolResult")
  expect(results.map(({ toolCallId, toolName, isError }) => [toolCallId, toolName, isError])).toEqual([
    ["c1", "shell", false],
    ["c2", "apply_patch", false],
    ["c3", "local_shell", true],
    ["c4", "shell", false],
  ])
  expect(results[3]?.content).toEqual([
    { type: "text", text: "a picture" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
  ])
})

test("a reasoning joins the assistant's item that follows it, over events; without one it is kept aside", async () => {
  const { entries } = await importText(codex, { text: tools })
  const [first] = messagesOf(entries).filter(({ role }) => role === "assistant")
  expect(first).toMatchObject({
    provider: "acme",
    model: "m1",
    content: [
      { type: "thinking", thinking: "I look.", signature: "gAAA" },
      { type: "toolCall", id: "c1" },
    ],
  })
  const aside = ofType(entries, "custom").filter(({ customType }) => customType === "codex/response_item")
  expect(aside.map(({ data }) => (data as { payload: { type: string } }).payload.type)).toEqual(["web_search_call"])
  // The reasoning has a text, which people see.
  const shown = messagesOf(entries).filter(({ role }) => (role as string) === "codex/response_item")
  expect(shown).toHaveLength(1)
})

test("instructions of developers and messages that Codex writes for the user are synthetic", async () => {
  const text = lines(
    meta(),
    developer("rules"),
    user(environment),
    user("# AGENTS.md instructions for /work"),
    item({
      ...userItem("<skill> is what I typed"),
      internal_chat_message_metadata_passthrough: { content_item_kinds: ["user.text"] },
    }),
  )
  const { entries } = await importText(codex, { text })
  expect(messagesOf(entries).map(({ role, synthetic }) => [role, synthetic])).toEqual([
    ["system", true],
    ["user", true],
    ["user", true],
    ["user", undefined],
  ])
})

test("a replaced history is the context: users' messages are repeated without display, the summary is a message", async () => {
  const { session, entries } = await importText(codex, { text: replaced })
  expect(await contextOf(session)).toEqual([
    "user: q1",
    "user: q2",
    `user: ${PREFIX} two questions`,
    "user: q3",
    "assistant: a3",
  ])
  expect(ofType(entries, "custom_message").map(({ display }) => display)).toEqual([false, false])
  expect(messagesOf(entries).filter(({ summary }) => summary)).toHaveLength(1)
  expect(ofType(entries, "custom").filter(({ customType }) => customType === "codex/item")).toHaveLength(1)
})

test("a replaced history without earlier messages, as in a fork, has real users", async () => {
  const text = lines(meta(), line("compacted", { message: "", replacement_history: [userItem("q1")] }), assistant("a"))
  const { entries, session } = await importText(codex, { text })
  expect(messagesOf(entries).map(({ role, summary }) => [role, summary])).toEqual([
    ["user", undefined],
    ["assistant", undefined],
  ])
  expect((await session.info()).messageCount).toBe(2)
})

test("a summary without a replacement is a compaction that keeps the users' texts", async () => {
  const { session, entries } = await importText(codex, { text: summarized })
  const [compaction] = ofType(entries, "compaction")
  expect(compaction).toMatchObject({ summary: "two questions", firstKeptEntryId: compaction?.id })
  expect((await contextOf(session)).slice(1)).toEqual(["user: q1", "user: q2", "user: q3", "assistant: a3"])
})

test("a compaction keeps the newest 20,000 tokens of users, the oldest of them cut in its middle", () => {
  expect(keptTexts(["a".repeat(100_000), "b".repeat(4)])).toEqual([
    `${"a".repeat(39_998)}…5001 tokens truncated…${"a".repeat(39_998)}`,
    "bbbb",
  ])
  expect(keptTexts(["old", "c".repeat(80_000)])).toEqual(["c".repeat(80_000)])
  expect(keptTexts([`é${"x".repeat(80_001)}é`])[0]).not.toContain("\ufffd")
})

test("a rollback takes back turns with the messages that Codex put in front of them", async () => {
  const { session, entries } = await importText(codex, { text: rolledBack })
  expect(await contextOf(session)).toEqual(["user: q1", "assistant: a1", "user: again", "assistant: yes"])
  expect(ofType(entries, "leaf")).toHaveLength(1)
})

test("a rollback of more turns than there are keeps the messages before the first turn", async () => {
  const text = lines(meta(), developer("rules"), ...turn(1), rollback(9), user("new"))
  expect(await contextOf((await importText(codex, { text })).session)).toEqual(["system: rules", "user: new"])
})

test("a rollback to a turn before a compaction undoes the compaction", async () => {
  const compacted = line("compacted", { message: "", replacement_history: [userItem("q1"), userItem(`${PREFIX} s`)] })
  const text = lines(meta(), ...turn(1), ...turn(2), compacted, rollback(1))
  expect(await contextOf((await importText(codex, { text })).session)).toEqual(["user: q1", "assistant: a1"])
})

const usage = (n: number, cached = 0) => ({
  input_tokens: n,
  cached_input_tokens: cached,
  output_tokens: 5,
  total_tokens: n + 5,
})
const counted = (last: object, total: object) =>
  event("token_count", { info: { last_token_usage: last, total_token_usage: total } })
const usagesOf = (entries: readonly Entry[]) =>
  entries.flatMap((entry) => (entry.type === "usage" ? [[entry.usage.input, entry.usage.cacheRead]] : []))

test("a response is counted once: by its record, or by the count of tokens of older versions", async () => {
  const record = line("token_usage_record", { usage: usage(10, 4), thread_token_usage: usage(10, 4) })
  const both = await importText(codex, { text: lines(meta(), record, counted(usage(10, 4), usage(10, 4))) })
  expect(usagesOf(both.entries)).toEqual([[6, 4]])
  const older = [counted(usage(10), usage(10)), counted(usage(10), usage(10)), counted(usage(10), usage(20))]
  expect(usagesOf((await importText(codex, { text: lines(meta(), ...older) })).entries)).toEqual([
    [10, 0],
    [10, 0],
  ])
})

test("a change of the model is an entry, the thread's name a title, and the session it was forked from its parent", async () => {
  const named = event("thread_name_updated", { thread_id: ID, thread_name: "Files" })
  const text = lines(meta({ forked_from_id: "parent" }), turnContext("m1"), turnContext("m1"), turnContext("m2"), named)
  const { session, entries } = await importText(codex, { text })
  expect(ofType(entries, "model_change").map(({ provider, model }) => [provider, model])).toEqual([
    ["acme", "m1"],
    ["acme", "m2"],
  ])
  expect((await session.info()).title).toBe("Files")
  expect(session.header).toMatchObject({ cwd: "/work", parentSession: { id: await sessionIdOf("codex", "parent") } })
})

const payloadsOf = (text: string) =>
  recordsOf(text).map((record) => (record as { payload: Record<string, unknown> }).payload)

async function ownSession(): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ cwd: "/work" })
  await session.append({ type: "message", message: { role: "user", content: "q1" } })
  const content = [
    { type: "thinking", thinking: "hm", signature: "s" },
    { type: "text", text: "a1" },
    { type: "toolCall", id: "c1", name: "bash", arguments: { input: "ls" } },
  ] as const
  await session.append({ type: "message", message: { role: "assistant", content } })
  const image = { type: "image", mimeType: "image/png", data: "AAAA" } as const
  const result = { role: "toolResult", toolCallId: "c1", toolName: "bash", isError: false, content: [image] } as const
  await session.append({ type: "message", message: result })
  return session
}

test("titles, labels, settings and marks of errors are reported, because a rollout does not have them", async () => {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ cwd: "/work" })
  const call = { type: "toolCall", id: "c", name: "ls", arguments: {} } as const
  await session.append({ type: "message", message: { role: "user", content: "q" } })
  await session.append({ type: "message", message: { role: "assistant", content: [call] } })
  await session.append({
    type: "message",
    message: { role: "toolResult", toolCallId: "c", isError: true, content: "no" },
  })
  await session.append({ type: "model_change", provider: "acme", model: "m" })
  await session.label(session.leafId ?? "", "here")
  await session.title("Ours")
  const losses: Loss[] = []
  await written(codex, session, { note: (loss) => losses.push(loss) })
  expect(losses.map(({ what, count }) => [what, count])).toEqual([
    ["errors", 1],
    ["settings", 1],
    ["annotations", 1],
    ["titles", 1],
  ])
})

test("a session of any origin becomes a rollout: a header, items, and the events that Codex shows", async () => {
  const session = await ownSession()
  const losses: Loss[] = []
  const text = await written(codex, session, { id: ID, note: (loss) => losses.push(loss) })
  expect(payloadsOf(text)).toEqual([
    {
      id: ID,
      timestamp: session.header.timestamp,
      cwd: "/work",
      originator: "sessions",
      cli_version: "0.0.0",
      source: "cli",
    },
    userItem("q1"),
    { type: "user_message", message: "q1", images: [] },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "a1" }] },
    { type: "function_call", name: "bash", arguments: '{"input":"ls"}', call_id: "c1" },
    { type: "agent_message", message: "a1" },
    {
      type: "function_call_output",
      call_id: "c1",
      output: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }],
    },
  ])
  expect(recordsOf(text).every((record) => typeof (record as Entry).timestamp === "string")).toBe(true)
  expect(losses.map(({ what, count }) => [what, count])).toEqual([["thinking", 1]])
})

test("a compaction is written as the exact items that follow from it", async () => {
  const session = await ownSession()
  const { ids } = await session.append({ type: "message", message: { role: "user", content: "q2" } })
  const fields = { summary: "S", firstKeptEntryId: ids[0] ?? "", tokensBefore: 1, readFiles: [], modifiedFiles: [] }
  await session.append({ type: "compaction", ...fields })
  const compacted = payloadsOf(await written(codex, session)).at(-1)
  expect(compacted).toMatchObject({ message: "" })
  const items = compacted?.["replacement_history"] as ReturnType<typeof userItem>[]
  expect(items.map(({ content }) => content[0]?.text.split("\n")[2] ?? content[0]?.text)).toEqual(["<summary>", "q2"])
  const again = await importText(codex, { text: await written(codex, session) })
  expect(await contextOf(again.session)).toEqual(await contextOf(session))
})

test("entries appended to an imported session follow its lines", async () => {
  const { session } = await importText(codex, { text: replaced })
  await session.append({ type: "message", message: { role: "user", content: "q4" } })
  const text = await written(codex, session)
  expect(text.startsWith(lines(...recordsOf(replaced).map((record) => record as object)))).toBe(true)
  expect(await contextOf((await importText(codex, { text })).session)).toEqual(await contextOf(session))
})

test("an imported session that continues at an earlier entry is written as its current path", async () => {
  const { session, entries } = await importText(codex, { text: lines(meta(), ...turn(1), ...turn(2)) })
  await session.branch(
    entries.findLast((entry) => entry.type === "message" && entry.message.role === "user")?.parentId ?? "",
  )
  await session.append({ type: "message", message: { role: "user", content: "other" } })
  const losses: Loss[] = []
  const text = await written(codex, session, { note: (loss) => losses.push(loss) })
  expect(await contextOf((await importText(codex, { text })).session)).toEqual(await contextOf(session))
  expect(losses).toEqual([{ what: "branches", count: 2, message: "2 messages on other branches are not in the file." }])
})

test("a deleted message is in no line of the file, and an edited one has its new text only", async () => {
  const secret = event("user_message", { message: "q1" })
  const { session, entries } = await importText(codex, { text: lines(meta(), secret, ...turn(1), ...turn(2)) })
  const [q1, , , a2] = ofType(entries, "message")
  await session.append({ type: "tombstone", targetId: q1?.id ?? "" })
  const replacement = { content: [{ type: "text", text: "new" }] } as const
  await session.append({ type: "context_edit", targetId: a2?.id ?? "", replacement })
  const losses: Loss[] = []
  const text = await written(codex, session, { note: (loss) => losses.push(loss) })
  expect(text).not.toMatch(/"q1"|"a2"/)
  expect(await contextOf((await importText(codex, { text })).session)).toEqual(await contextOf(session))
  expect(losses.map(({ what }) => what)).toEqual(["edits"])
})

test("a first header without a payload is written as it was", async () => {
  const [meta, ...rest] = fixture("codex/tools.jsonl").split("\n")
  const text = [JSON.stringify({ timestamp: "2026-11-22T11:00:59.000Z", type: "session_meta" }), meta, ...rest].join(
    "\n",
  )
  const { session } = await importText(codex, { text })
  expect(recordsOf(await written(codex, session))).toEqual(recordsOf(text))
})

test("new lines of a file with ordinals have ordinals", async () => {
  const numbered = [meta({ history_mode: "paginated" }), user("q1")].map((record, i) => ({ ...record, ordinal: 7 + i }))
  const { session } = await importText(codex, { text: lines(...numbered) })
  await session.append({ type: "message", message: { role: "assistant", content: "a1" } })
  const ordinals = recordsOf(await written(codex, session)).map((record) => (record as { ordinal?: number }).ordinal)
  expect(ordinals).toEqual([7, 8, 9, 10])
})

test("a session keeps its id in a rollout, and its place is below the day on which it began", async () => {
  const { session } = await importText(codex, { text: lines(meta(), user("hi")) })
  expect(payloadsOf(await written(codex, session))[0]).toMatchObject({ id: ID, cwd: "/work" })
  expect(payloadsOf(await written(codex, session, { id: "other", cwd: "/new" }))[0]).toMatchObject({
    id: "other",
    cwd: "/new",
  })
  expect(codexPathOf(ID, session.header.timestamp)).toBe(`sessions/2026/11/22/rollout-2026-11-22T11-00-00-${ID}.jsonl`)
})
