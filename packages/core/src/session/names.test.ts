import { createMemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { linesIn, sessionsIn } from "../../test/transfer.ts"
import {
  assistant,
  codeOf,
  contextTexts,
  createWriter,
  reopened,
  storedIds,
  twoWriters,
  user,
} from "../../test/writers.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { copySession, forkSession, importSession, verifySession } from "../transfer/index.ts"

test("an append with one unknown name is `invalid`, and writes none of its entries", async () => {
  const location = createMemoryLocation()
  const session = await createWriter(location).sessions.create({ id: "s" })
  for (const wrong of [
    { type: "mesage", message: { role: "user", content: "hi" } },
    { type: "message", message: { role: "tool", content: "hi" } },
    { type: "message", message: { role: "assistant", content: [{ type: "tool_use", id: "1" }] } },
  ]) {
    expect(await codeOf(session.append([user("before"), wrong as NewEntry]))).toBe("invalid")
  }
  expect(session.leafId).toBeNull()
  expect(await storedIds(location)).toEqual([])
})

test("an entry that an append hook returns is checked like an append", async () => {
  const location = createMemoryLocation()
  const hooks = { append: () => ({ type: "mesage" }) as unknown as NewEntry }
  const session = await createWriter(location, { hooks }).sessions.create({ id: "s" })
  await expect(session.append(user("hi"))).rejects.toThrow('type "mesage" is unknown. Did you mean "message"?')
  expect(await storedIds(location)).toEqual([])
})

test("names in `extensions` of createSessions are appended", async () => {
  const location = createMemoryLocation()
  const extensions = { entries: ["note"], roles: ["critic"], blocks: ["chart"] }
  const criticism = { type: "message", message: { role: "critic", content: [{ type: "chart", data: 1 }] } }
  const session = await createWriter(location, { extensions }).sessions.create({ id: "s" })
  await session.append({ id: "a", type: "note" } as unknown as NewEntry)
  await session.append({ id: "b", ...criticism } as NewEntry)
  expect(await storedIds(location)).toEqual(["a", "b"])
  expect((await session.context()).diagnostics).toEqual([])
})

test("an entry of a namespaced type of another writer is an annotation: it moves no branch and diverges from none", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await two.append({ type: "acme:note", id: "n", text: "side" })
  const { ids, diverged } = await one.append(assistant("one", "a"), { onConflict: "fail" })
  expect([ids, diverged]).toEqual([["a"], undefined])
  const opened = await reopened(location)
  expect(await contextTexts(opened)).toEqual(["start", "one"])
  expect(opened.diagnostics).toEqual([])
  expect((await opened.info()).openTips?.tips).toEqual([])
})

test("an annotation of a namespaced type does not move the log's leaf to the branch of its writer", async () => {
  const { location, one, two } = await twoWriters({}, [user("start", "0")])
  await one.append(user("one", "a"))
  await two.append(user("two", "b"))
  await one.append({ type: "acme:note", id: "n" })
  expect(one.leafId).toBe("a")
  expect(await contextTexts(await reopened(location))).toEqual(["start", "two"])
})

test("an entry of an unknown type without a namespace is part of the conversation", async () => {
  const { location, one, two } = await twoWriters({ extensions: { entries: ["note"] } }, [user("start", "0")])
  await two.append({ type: "note", id: "n" } as unknown as NewEntry)
  await one.append(assistant("one", "a"))
  // Read without `extensions`: the line alone decides.
  expect((await (await reopened(location)).info()).openTips?.tips).toMatchObject([{ id: "n" }])
})

/** A log with names that no append takes. */
const STORED = [
  JSON.stringify({
    type: "session",
    format: "@sessions",
    version: 4,
    id: STORED_ID,
    timestamp: "2026-01-01T00:00:00Z",
  }),
  ...[
    { type: "mesage", message: { role: "user", content: [{ type: "text", text: "lost" }] } },
    { type: "message", message: { role: "usr", content: [{ type: "text", text: "q1" }] } },
    { type: "message", message: { role: "usr", content: [{ type: "text", text: "q2" }] } },
    {
      type: "message",
      message: {
        role: "assistant",
        content: [
          { type: "tool_use", id: "1" },
          { type: "tool_use", id: "2" },
        ],
      },
    },
    { type: "message", message: { role: "acme:critic", content: [{ type: "acme:chart" }] } },
  ].map(({ type, message }, n) =>
    JSON.stringify({ type, id: `e${n}`, parentId: n === 0 ? null : `e${n - 1}`, seq: n + 1, timestamp: "t", message }),
  ),
]

test("unknown names of a stored log stay in its context, each with one diagnostic", async () => {
  const session = await sessionsIn(await storeLines(STORED)).open(STORED_ID)
  const { messages, diagnostics } = await session.context()
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "user", "assistant", "user"])
  expect(messages[2]?.message.content).toEqual([
    { type: "tool_use", id: "1" },
    { type: "tool_use", id: "2" },
  ])
  expect(diagnostics).toMatchObject([
    {
      code: "unknown_name",
      entryId: "e1",
      message: expect.stringContaining('The role "usr" of 2 messages (the first: entry e1) is unknown'),
    },
    {
      code: "unknown_name",
      entryId: "e3",
      message: expect.stringMatching(/The block type "tool_use" in 1 message \(.*\) is unknown.* Use "toolCall"\.$/),
    },
  ])
})

test("a log with unknown names is imported, copied and forked as it is, and a hook may change its entries", async () => {
  const hooks = {
    append: (entry: NewEntry) =>
      JSON.stringify(entry).includes("q1")
        ? (JSON.parse(JSON.stringify(entry).replace("q1", "q3")) as NewEntry)
        : undefined,
  }
  const sessions = sessionsIn(undefined, { hooks })
  const { id } = await importSession(sessions, `${STORED.join("\n")}\n`)
  const lines = await linesIn(sessions.storage, id)
  expect(lines.slice(1)).toEqual(STORED.slice(1).map((line) => line.replace("q1", "q3")))
  const fork = await forkSession(sessions, id)
  expect((await linesIn(sessions.storage, fork.id)).slice(1)).toEqual(lines.slice(1))
  const other = sessionsIn()
  await copySession(sessions, id, other.storage)
  expect(await linesIn(other.storage, id)).toEqual(lines)
})

test("a hook that gives an imported entry an unknown name rejects the import", async () => {
  const log = STORED.filter((_, seq) => seq === 0 || seq === 5).join("\n")
  const hooks = { append: () => ({ type: "message", message: { role: "usr", content: [] } }) as unknown as NewEntry }
  await expect(importSession(sessionsIn(undefined, { hooks }), log)).rejects.toThrow('message.role "usr" is unknown')
})

/** Two annotations of a later version, `tool_policy` and `tool_start` for a program that does not know them. */
const LATER = [
  { type: "message", id: "q", message: { role: "user", content: [{ type: "text", text: "Pay." }] } },
  { type: "later_policy", id: "p", never: ["charge"], safe: [] },
  {
    type: "message",
    id: "a",
    message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "charge", arguments: {} }] },
  },
  { type: "later_start", id: "a.0.1", targetId: "a", targetSeq: 3, call: 0, key: "k" },
  {
    type: "message",
    id: "r",
    message: { role: "toolResult", toolCallId: "c", toolName: "charge", isError: false, content: [] },
  },
].map((entry, n, all) => ({
  ...entry,
  parentId: all[n - 1]?.id ?? null,
  seq: n + 1,
  timestamp: "2026-01-01T00:00:00Z",
}))

test("annotations of a later version are kept, and shown nowhere: contexts, copies, forks, exports and appends pass them", async () => {
  const lines = [STORED[0] as string, ...LATER.map((entry) => JSON.stringify(entry))]
  const sessions = sessionsIn(await storeLines(lines))
  const session = await sessions.open(STORED_ID)
  const { messages, diagnostics } = await session.context()
  expect(messages.map(({ entryId, kind }) => [entryId, kind])).toEqual(["q", "a", "r"].map((id) => [id, "message"]))
  expect(diagnostics).toEqual([])
  await session.append(assistant("Done.", "f"))
  expect((await linesIn(sessions.storage, STORED_ID)).slice(0, lines.length)).toEqual(lines)
  const fork = await forkSession(sessions, STORED_ID)
  expect((await linesIn(sessions.storage, fork.id)).slice(1, lines.length)).toEqual(lines.slice(1))
  const other = sessionsIn()
  await copySession(sessions, STORED_ID, other.storage)
  expect(await linesIn(other.storage, STORED_ID)).toEqual(await linesIn(sessions.storage, STORED_ID))
  const { id } = await importSession(other, (await linesIn(sessions.storage, STORED_ID)).join("\n"))
  expect((await linesIn(other.storage, id)).slice(1, lines.length)).toEqual(lines.slice(1))
  expect(await verifySession(sessions, STORED_ID)).toMatchObject({ damaged: false, diagnostics: [] })
})
