/** Sessions over files: what only the two of them together can get wrong. */
import * as fs from "node:fs"
import { join } from "node:path"
import { createSessions, type NewEntry, type Session, type Sessions, type SessionsOptions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { piLogs } from "@sessions/core/migrations"
import { exportSession, forkSession, sessionTree, verifySession } from "@sessions/core/transfer"
import { expect, onTestFinished, test } from "vitest"
import { createFileStorage, type FileStorageOptions } from "../src/index.ts"
import { makeRoot } from "./helpers.ts"

const AT = "2026-01-31T09:30:00.000Z"
const said = (role: "user" | "assistant", content: string): NewEntry => ({
  type: "message",
  message: { role, content },
})

test("a torn last line costs itself alone: what is appended afterwards is read, and its bytes are kept", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 4)
  const path = join(root, id, "session.jsonl")
  fs.appendFileSync(path, '{"type":"message","id":"torn","mess')
  const session = await open(root).open(id)
  expect(session.diagnostics).toMatchObject([{ code: "torn_tail", bytes: 35 }])
  await session.append(said("user", "after"))
  await session.close()
  expect(await texts(await open(root).open(id))).toEqual(["say 0", "say 1", "say 2", "say 3", "after"])
  const aside = fs.readdirSync(join(root, id)).filter((name) => name.endsWith(".torn"))
  expect(aside.map((name) => fs.readFileSync(join(root, id, name), "utf8"))).toEqual([
    '{"type":"message","id":"torn","mess',
  ])
  expect(await open(root).info(id)).toMatchObject({ messageCount: 5 })
})

test("verify names the lines that are not UTF-8, and the rest of the log is verified", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 20)
  const path = join(root, id, "session.jsonl")
  const bytes = fs.readFileSync(path)
  for (const said of ["say 3", "say 19"]) bytes[bytes.indexOf(said) + 1] = 0xff
  fs.writeFileSync(path, bytes)
  const { lines, damaged, diagnostics } = await verifySession(open(root), id)
  expect({ lines, damaged }).toEqual({ lines: 21, damaged: true })
  const found = diagnostics.map(({ code, seq, message }) => [code, seq, /at byte (\d+)/.test(message)])
  expect(found).toEqual([
    ["unparsable_line", 4, true],
    ["missing_parent", 5, false],
    ["unparsable_line", 20, true],
  ])
})

test("a list does not know of a byte inside a log that is not UTF-8; each call that reads it does, and changes nothing", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 20)
  const path = join(root, id, "session.jsonl")
  const bytes = fs.readFileSync(path)
  bytes[bytes.indexOf("say 3") + 1] = 0xff
  fs.writeFileSync(path, bytes)
  const sessions = open(root)
  const { sessions: rows, unreadable } = await sessions.list()
  expect([rows.map((row) => row.id), unreadable]).toEqual([[id], []])
  const session = await sessions.open(id)
  const exported = async (): Promise<void> => {
    for await (const _ of exportSession(sessions, id));
  }
  for (const call of [() => session.context(), () => sessionTree(session), exported, () => forkSession(sessions, id)])
    await expect(call()).rejects.toMatchObject({ code: "corrupt", message: expect.stringContaining("is not UTF-8") })
  expect(await verifySession(sessions, id)).toMatchObject({
    damaged: true,
    diagnostics: [{ code: "unparsable_line", seq: 4 }, {}],
  })
  await session.close()
  expect(fs.readFileSync(path)).toEqual(bytes)
})

test("a log of a newer version opens for reading only, and one that is no session is refused; neither is written to", async () => {
  const root = makeRoot()
  const header = (version: number) => ({ type: "session", version, id: "x", timestamp: AT })
  const message = {
    type: "message",
    id: "m",
    parentId: null,
    timestamp: AT,
    message: { role: "user", content: [{ type: "text", text: "hi" }] },
  }
  const logs = {
    newer: `${JSON.stringify({ ...header(99), format: "@sessions" })}\n${JSON.stringify(message)}\n`,
    theirs: `${JSON.stringify(header(4))}\n${JSON.stringify(message)}\n`,
    notes: "Buy milk.\nCall home.\n",
    json: '{"some":"json"}\n',
  }
  for (const [id, text] of Object.entries(logs)) {
    fs.mkdirSync(join(root, id))
    fs.writeFileSync(join(root, id, "session.jsonl"), text)
  }
  const sessions = open(root)
  for (const id of ["newer", "theirs"]) {
    const session = await sessions.open(id)
    expect(await texts(session)).toEqual(["hi"])
    await expect(session.append(said("user", "late"))).rejects.toMatchObject({ code: "newer_version" })
    await expect(sessions.rename(id, "mine")).rejects.toMatchObject({ code: "newer_version" })
    await session.close()
  }
  for (const id of ["notes", "json"]) {
    await expect(sessions.open(id)).rejects.toMatchObject({ code: "not_a_session" })
    await expect(sessions.create({ id })).rejects.toMatchObject({ code: "exists" })
    await expect(sessions.openOrCreate(id)).rejects.toMatchObject({ code: "not_a_session" })
  }
  const page = await sessions.list()
  expect(page.sessions.map(({ id }) => id).toSorted()).toEqual(["newer", "theirs"])
  expect(page.unreadable.map(({ id }) => id).toSorted()).toEqual(["json", "notes"])
  for (const [id, text] of Object.entries(logs))
    expect(fs.readFileSync(join(root, id, "session.jsonl"), "utf8")).toBe(text)
})

test("a session in many parts is one session, counted to its last message, and deleted with all of them", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 60, { maxPartBytes: 2_000 })
  const parts = fs.readdirSync(join(root, id)).filter((name) => name.endsWith(".jsonl"))
  expect(parts.length).toBeGreaterThan(5)
  const sessions = open(root, { maxPartBytes: 2_000 })
  const { sessions: listed, unreadable } = await sessions.list()
  expect(unreadable).toEqual([])
  expect(listed).toMatchObject([{ id, messageCount: 60, firstPrompt: "say 0" }])
  expect(listed[0]?.parts).toHaveLength(parts.length)
  expect(listed[0]?.parts.reduce((sum, part) => sum + part.bytes, 0)).toBe(listed[0]?.bytes)
  const session = await sessions.open(id)
  const told = await session.parts()
  expect(told.bytes).toBe(listed[0]?.bytes)
  for (const [index, part] of told.parts.entries()) {
    const lines = fs.readFileSync(part.at ?? "", "utf8").split("\n").length - 1
    expect(part).toEqual({ ...listed[0]?.parts[index], number: index + 1, count: lines })
  }
  expect(await sessions.delete(id)).toEqual({ bytes: listed[0]?.bytes, parts: parts.length, purged: true })
  expect(fs.existsSync(join(root, id))).toBe(false)
})

test("what is counted does not depend on what was kept: without any of it the log is read, and says the same", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 200)
  const before = await open(root).info(id)
  expect(before.messageCount).toBe(200)
  for (const name of fs.readdirSync(join(root, id)))
    if (name !== "session.jsonl" && name !== "identity") fs.rmSync(join(root, id, name), { recursive: true })
  expect(await open(root).info(id)).toEqual(before)
  fs.writeFileSync(join(root, id, "metadata.json"), "{not json")
  expect(await open(root).info(id)).toEqual(before)
})

test("deleting a session leaves nothing of it, and nothing of another", async () => {
  const root = makeRoot()
  const sessions = open(root)
  const picture = btoa("i".repeat(3_000))
  for (const id of ["a", "b"]) {
    const session = await sessions.create({ id, systemPromptOverride: "x".repeat(9_000) })
    await session.append({
      type: "message",
      message: { role: "user", content: [{ type: "image", data: picture, mimeType: "image/png" }] },
    })
    await session.close()
  }
  await sessions.list()
  const { storage } = sessions
  await storage.docs.put("sessions/a/checkpoint", "{}", { expect: null })
  await sessions.delete("a")
  const left = fs.readdirSync(root, { recursive: true }).map(String)
  expect(left.filter((path) => /(^|[/\\])a([/\\]|$)/.test(path))).toEqual([])
  const keys: string[] = []
  for await (const key of storage.docs.list()) keys.push(key)
  expect(keys.every((key) => key.startsWith("sessions/b/"))).toBe(true)
  const { messages, diagnostics } = await (await open(root).open("b")).context()
  expect(messages[0]?.message.content).toMatchObject([{ data: picture }])
  expect(diagnostics).toEqual([])
})

test("a hostile id writes and deletes nowhere", async () => {
  const root = makeRoot()
  const outside = makeRoot()
  fs.writeFileSync(join(outside, "keep"), "me")
  const sessions = open(root)
  for (const id of [
    "../x",
    `../${outside.split("/").at(-1)}`,
    "..",
    "/tmp/x",
    "a/../../x",
    "a\0",
    "",
    "x".repeat(129),
  ]) {
    for (const call of [
      () => sessions.create({ id }),
      () => sessions.open(id),
      () => sessions.delete(id),
      () => sessions.openOrCreate(id),
    ])
      await expect(call()).rejects.toMatchObject({ code: "invalid" })
  }
  expect(fs.readFileSync(join(outside, "keep"), "utf8")).toBe("me")
  expect(fs.readdirSync(root)).toEqual([])
})

test("a compacted session opens by reading its end, and listing reads no log at all", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 400, {}, 5_000)
  const writer = open(root)
  const session = await writer.open(id)
  await compact(session, { summarize: async () => "## Goal\nGo on.", keepRecentTokens: 3_000 })
  expect(session.head?.next).toBe(402)
  await writer.close()
  let read = 0
  const inner = createFileStorage({ root })
  const storage = {
    ...inner,
    async *read(...given: Parameters<typeof inner.read>) {
      for await (const chunk of inner.read(...given)) {
        for (const line of chunk.lines) read += line.length
        yield chunk
      }
    },
  }
  const sessions = createSessions({ storage })
  expect((await sessions.list()).sessions).toMatchObject([{ messageCount: 400 }])
  expect(read).toBe(0)
  expect((await (await sessions.open(id)).context()).messages.length).toBeLessThan(6)
  expect(read).toBeLessThan(200_000)
  await storage[Symbol.asyncDispose]()
})

test("the fork of an older log has all of its history, and is listed as its child", async () => {
  const root = makeRoot()
  fs.mkdirSync(join(root, "old"))
  const messages = Array.from({ length: 40 }, (_, n) => ({
    type: "message",
    timestamp: AT,
    message: { role: n % 2 === 0 ? "user" : "assistant", content: `say ${n}` },
  }))
  const lines = [{ type: "session", id: "old", timestamp: AT, cwd: "/project" }, ...messages].map((record) =>
    JSON.stringify(record),
  )
  fs.writeFileSync(join(root, "old", "session.jsonl"), `${lines.join("\n")}\n`)
  const sessions = open(root, {}, { readers: [piLogs] })
  const fork = await forkSession(sessions, "old")
  expect(await texts(fork)).toEqual(messages.map(({ message }) => message.content))
  expect(await sessions.info(fork.id)).toMatchObject({
    messageCount: 40,
    firstPrompt: "say 0",
    cwd: "/project",
    parentSession: { id: "old" },
  })
  expect((await sessions.list({ parent: "old" })).sessions.map(({ id }) => id)).toEqual([fork.id])
  expect(fs.readFileSync(join(root, "old", "session.jsonl"), "utf8")).toBe(`${lines.join("\n")}\n`)
})

test("a fork across a compaction, labels on its path, keeps the whole history and counts it", async () => {
  const root = makeRoot()
  const sessions = open(root)
  const session = await sessions.create({ id: "source", title: "named" })
  const { ids } = await session.append([said("user", `one ${"-".repeat(4_000)}`), said("assistant", "two")])
  await session.label(ids[0] as string, "the start")
  await session.append([said("user", "three"), said("assistant", "four")])
  await compact(session, { summarize: async () => "## Goal\nGo on.", keepRecentTokens: 1 })
  await session.append([said("user", "five")])
  const fork = await forkSession(sessions, "source")
  expect((await fork.messages()).messages).toHaveLength(5)
  expect((await fork.context()).messages).toEqual(
    (await session.context()).messages.map((item) => ({ ...item, entryId: expect.any(String) })),
  )
  expect(await sessions.info(fork.id)).toMatchObject({
    messageCount: 5,
    firstPrompt: expect.stringMatching(/^one /),
    parentSession: { id: "source" },
  })
})

test("two repositories on one folder make one session of one id, and their turns are all there", async () => {
  const root = makeRoot()
  const [one, two] = [open(root), open(root)]
  const opened = await Promise.all(
    Array.from({ length: 8 }, (_, n) => (n % 2 === 0 ? one : two).openOrCreate("shared", { cwd: `/${n}` })),
  )
  expect(new Set(opened.map(({ header }) => header.cwd)).size).toBe(1)
  await Promise.all(opened.map((session, n) => session.append(said("user", `say ${n}`))))
  expect(await one.info("shared")).toMatchObject({ messageCount: 8 })
  expect((await two.list()).sessions).toMatchObject([{ id: "shared", messageCount: 8 }])
})

test("a session follows what another storage on the same files appends, until it is deleted there", async () => {
  const root = makeRoot()
  const one = await open(root).create({ id: "a" })
  await one.append(said("user", "start"))
  const elsewhere = open(root)
  const two = await elsewhere.open("a")
  const foreign = new Promise((resolve) => one.on("foreign", ({ entries }) => resolve(entries.map(({ type }) => type))))
  const following = one.follow().catch((error: unknown) => (error as { code?: unknown }).code)
  await two.append(said("user", "theirs"))
  expect(await foreign).toEqual(["message"])
  expect(await texts(one)).toEqual(["start", "theirs"])
  await elsewhere.delete("a")
  expect(await following).toBe("not_found")
})

function open(
  root: string,
  o: Omit<FileStorageOptions, "root"> = {},
  more: Omit<SessionsOptions, "storage"> = {},
): Sessions {
  const sessions = createSessions({ ...more, storage: createFileStorage({ ...o, root }) })
  onTestFinished(() => sessions.close())
  return sessions
}

async function filled(
  root: string,
  messages: number,
  o: Omit<FileStorageOptions, "root"> = {},
  units = 0,
): Promise<{ id: string }> {
  const sessions = createSessions({ storage: createFileStorage({ ...o, root }) })
  const session = await sessions.create({ id: "s" })
  const padding = units === 0 ? "" : ` ${"-".repeat(units)}`
  for (let n = 0; n < messages; n += 4)
    await session.append(
      Array.from({ length: 4 }, (_, i) => said(i % 2 === 0 ? "user" : "assistant", `say ${n + i}${padding}`)),
    )
  await sessions.close()
  return { id: session.id }
}

async function texts(session: Session): Promise<string[]> {
  const { messages } = await session.messages({ limit: 1_000 })
  return messages.map(({ message }) =>
    (message.content ?? []).map((block) => String((block as { text?: string }).text)).join(""),
  )
}

test("a whole last line that lost its line feed is told at once and after it was cut off, with the file that has it", async () => {
  const root = makeRoot()
  const { id } = await filled(root, 2)
  const path = join(root, id, "session.jsonl")
  fs.truncateSync(path, fs.statSync(path).size - 1)
  const session = await open(root).open(id)
  expect(session.diagnostics).toMatchObject([{ code: "torn_tail" }])
  await session.append(said("user", "after"))
  await session.close()
  const [aside] = fs.readdirSync(join(root, id)).filter((name) => name.endsWith(".torn"))
  const cut = { code: "torn_tail", message: expect.stringContaining(join(root, id, aside ?? "missing")) as string }
  expect(await verifySession(open(root), id)).toMatchObject({ damaged: true, diagnostics: [cut] })
  fs.rmSync(join(root, id, aside ?? "missing"))
  expect(await verifySession(open(root), id)).toMatchObject({ damaged: false, diagnostics: [] })
})
