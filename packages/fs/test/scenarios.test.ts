/** What an agent may rely on, one scenario each, through the public face and on files. The numbers are the scenarios' names. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions, httpStatus, type NewEntry, type Session, type Sessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { sessionTree } from "@sessions/core/transfer"
import { expect, onTestFinished, test } from "vitest"
import { createFileStorage } from "../src/index.ts"
import { makeRoot } from "./helpers.ts"

test("S7.1: a new session makes its folder, with an empty log and metadata", async () => {
  const root = makeRoot()
  const session = await open(root).create({ id: "s", cwd: "/project", title: "Tests" })
  expect(logOf(root)).toHaveLength(1)
  expect(JSON.parse(logOf(root)[0] as string)).toMatchObject({ type: "session", id: "s", cwd: "/project" })
  expect(await entriesOf(session)).toEqual([])
  const info = { id: "s", cwd: "/project", title: "Tests", messageCount: 0, source: "interactive" }
  expect(await open(root).info("s")).toMatchObject(info)
  expect((await open(root).list()).sessions).toMatchObject([info])
})

test("S7.2: messages are appended, the file never rewritten", async () => {
  const root = makeRoot()
  const session = await open(root).create({ id: "s" })
  const { ino } = fs.statSync(join(root, "s", "session.jsonl"))
  let before = textOf(root)
  for (let n = 0; n < 5; n++) {
    await session.append([said("user", `ask ${n}`), said("assistant", `answer ${n}`)])
    const now = textOf(root)
    expect(now.startsWith(before)).toBe(true)
    expect(now.length).toBeGreaterThan(before.length)
    before = now
  }
  expect(fs.statSync(join(root, "s", "session.jsonl")).ino).toBe(ino)
})

test("S7.3: loading reconstructs the conversation with its compaction over it", async () => {
  const root = makeRoot()
  const session = await open(root).create({ id: "s" })
  await session.append([said("user", LONG), said("assistant", LONG), said("user", "go on"), said("assistant", "done")])
  await compact(session, { summarize: async () => "## Goal\nto be short", keepRecentTokens: 2 })
  await session.append(said("user", "and now"))
  const loaded = await open(root).open("s")
  expect((await loaded.context()).messages).toEqual((await session.context()).messages)
  const [summary, ...rest] = await textsOf(loaded)
  expect(summary).toContain("<summary>\n## Goal\nto be short\n</summary>")
  expect(rest).toEqual(["go on", "done", "and now"])
  expect((await loaded.messages()).messages).toHaveLength(5)
})

test("S7.4: lastMessageAt and messageCount of the metadata follow the messages", async () => {
  const root = makeRoot()
  const session = await open(root).create({ id: "s" })
  const { createdAt, updatedAt, lastMessageAt } = await session.info()
  // The system may date the file some milliseconds before the time that it tells the program.
  expect(lastMessageAt).toBe(createdAt < updatedAt ? createdAt : updatedAt)
  for (const [index, minute] of ["01", "02", "03"].entries()) {
    await session.append(said("user", minute, `2025-01-01T00:${minute}:00.000Z`))
    const told = { messageCount: index + 1, lastMessageAt: `2025-01-01T00:${minute}:00.000Z` }
    expect(await session.info()).toMatchObject(told)
    expect(await open(root).info("s")).toMatchObject(told)
  }
  await session.append({ type: "mode_change", mode: "plan" })
  expect(await open(root).info("s")).toMatchObject({ messageCount: 3, lastMessageAt: "2025-01-01T00:03:00.000Z" })
})

test("S7.5: the list is sorted by lastMessageAt, newest first; a rename does not move a session", async () => {
  const root = makeRoot()
  const sessions = open(root)
  for (const [id, minute] of [
    ["old", "01"],
    ["new", "03"],
    ["middle", "02"],
  ] as const)
    await (await sessions.create({ id })).append(said("user", "hi", `2025-01-01T00:${minute}:00.000Z`))
  const ids = async (): Promise<string[]> => (await open(root).list()).sessions.map(({ id }) => id)
  expect(await ids()).toEqual(["new", "middle", "old"])
  await sessions.rename("old", "Renamed")
  expect(await ids()).toEqual(["new", "middle", "old"])
  expect(await open(root).info("old")).toMatchObject({ title: "Renamed" })
  await (await sessions.open("old")).append(said("user", "again", "2025-01-01T00:04:00.000Z"))
  expect(await ids()).toEqual(["old", "new", "middle"])
})

test("S7.6: compaction appends", async () => {
  const root = makeRoot()
  const session = await open(root).create({ id: "s" })
  await session.append([said("user", LONG), said("assistant", LONG)])
  for (const round of [1, 2]) {
    const before = textOf(root)
    const { entryId } = await compact(session, { summarize: async () => `round ${round}`, keepRecentTokens: 0 })
    const added = textOf(root).slice(before.length)
    expect(textOf(root).startsWith(before)).toBe(true)
    expect(added.trimEnd().split("\n")).toHaveLength(1)
    expect(JSON.parse(added)).toMatchObject({ type: "compaction", id: entryId, summary: `round ${round}` })
    await session.append([said("user", LONG), said("assistant", LONG)])
  }
})

test("S7.7: sessions that a schedule started carry source and cronJobId", async () => {
  const root = makeRoot()
  const sessions = open(root)
  await sessions.create({ id: "s", source: "cron", cronJobId: "nightly" })
  await sessions.create({ id: "mine" })
  const told = { id: "s", source: "cron", cronJobId: "nightly" }
  expect(await open(root).info("s")).toMatchObject(told)
  expect((await open(root).list({ source: "cron" })).sessions).toMatchObject([told])
  expect(JSON.parse(logOf(root)[0] as string)).toMatchObject(told)
})

test("S7.8: ids are validated; an invalid one is refused with a code that a server answers with 400", async () => {
  const root = makeRoot()
  const sessions = open(root)
  for (const id of ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", ".hidden", "x".repeat(300)]) {
    for (const call of [sessions.create({ id }), sessions.open(id), sessions.info(id), sessions.delete(id)]) {
      const error: unknown = await call.then(
        () => undefined,
        (reason: unknown) => reason,
      )
      expect([id, (error as { code?: unknown }).code, httpStatus(error)]).toEqual([id, "invalid", 400])
    }
  }
  expect((await sessions.list()).sessions).toEqual([])
})

test("S7.9: a crash in the middle of an append is ignored on reload", async () => {
  const root = makeRoot()
  const session = await open(root).create({ id: "s" })
  await session.append([said("user", "ask"), said("assistant", "answer")])
  await session.close()
  const whole = textOf(root)
  const line = JSON.stringify({
    type: "message",
    id: "torn",
    parentId: null,
    message: { role: "user", content: "lost" },
  })
  for (const cut of [1, 20, line.length]) {
    fs.writeFileSync(join(root, "s", "session.jsonl"), whole + line.slice(0, cut))
    const loaded = await open(root).open("s")
    expect(await textsOf(loaded)).toEqual(["ask", "answer"])
    expect(loaded.diagnostics).toMatchObject([{ code: "torn_tail", bytes: cut }])
    await loaded.append(said("user", "go on"))
    await loaded.close()
    expect(await textsOf(await open(root).open("s"))).toEqual(["ask", "answer", "go on"])
  }
})

test("S7.10: concurrent sends to one session queue and never interleave", async () => {
  const root = makeRoot()
  const sessions = open(root)
  const session = await sessions.create({ id: "s" })
  const other = await sessions.open("s")
  const send = (handle: Session, n: number): Promise<void> =>
    handle.turn(async (turn) => {
      await turn.append(said("user", `ask ${n}`))
      await turn.context()
      await turn.append(said("assistant", `answer ${n}`))
    })
  await Promise.all(Array.from({ length: 12 }, (_, n) => send(n % 2 === 0 ? session : other, n)))
  const expected = Array.from({ length: 12 }, (_, n) => [`ask ${n}`, `answer ${n}`]).flat()
  expect(await textsOf(session)).toEqual(expected)
  const loaded = await open(root).open("s")
  expect(await textsOf(loaded)).toEqual(expected)
  expect((await sessionTree(loaded)).roots).toHaveLength(1)
  expect(loaded.diagnostics).toEqual([])
})

/** A thousand tokens. */
const LONG = "-".repeat(4_000)

function open(root: string): Sessions {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  onTestFinished(() => sessions.close())
  return sessions
}

function said(role: "user" | "assistant", content: string, timestamp?: string): NewEntry {
  return { type: "message", message: { role, content }, ...(timestamp === undefined ? {} : { timestamp }) }
}

function textOf(root: string): string {
  return fs.readFileSync(join(root, "s", "session.jsonl"), "utf8")
}

function logOf(root: string): string[] {
  return textOf(root).trimEnd().split("\n")
}

async function entriesOf(session: Session): Promise<unknown[]> {
  const entries: unknown[] = []
  for await (const entry of session.entries()) entries.push(entry)
  return entries
}

async function textsOf(session: Session): Promise<string[]> {
  const { messages } = await session.context()
  return messages.map(({ message }) =>
    message.content.map((block) => String((block as { text?: unknown }).text)).join(""),
  )
}
