/** The database of opencode, with the tables of 1.18: its sessions are those of the documents that opencode exports. */
import { connect, type Connection } from "@sessions/sqlite/driver"
import { afterEach, beforeEach, expect, test } from "vitest"
import { opencode, opencodeDocument, opencodeSessions } from "../src/opencode/index.ts"
import { importText } from "./laws.ts"

let db: Connection
beforeEach(() => {
  db = connect(":memory:")
})
afterEach(() => db.close())

const SESSION = `CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, workspace_id text, parent_id text,
  slug text NOT NULL, directory text NOT NULL, path text, title text NOT NULL, version text NOT NULL, share_url text,
  summary_additions integer, summary_deletions integer, summary_files integer, summary_diffs text, metadata text,
  cost real DEFAULT 0 NOT NULL, tokens_input integer DEFAULT 0 NOT NULL, tokens_output integer DEFAULT 0 NOT NULL,
  tokens_reasoning integer DEFAULT 0 NOT NULL, tokens_cache_read integer DEFAULT 0 NOT NULL,
  tokens_cache_write integer DEFAULT 0 NOT NULL, revert text, permission text, agent text, model text,
  time_created integer NOT NULL, time_updated integer NOT NULL, time_compacting integer, time_archived integer)`
const MESSAGE = `CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
  time_updated integer NOT NULL, data text NOT NULL)`
const PART = `CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
  time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL)`

function fill(): void {
  for (const sql of [SESSION, MESSAGE, PART]) db.exec(sql)
  const columns = "id, project_id, parent_id, slug, directory, title, version, time_created, time_updated"
  const session = `INSERT INTO session (${columns}) VALUES (?, 'global', ?, 's', '/work', ?, '1.18.34', 1000, ?)`
  db.run(session, "ses_1", null, "First", 5000)
  db.run(session, "ses_2", "ses_1", "Second", 6000)
  db.run("UPDATE session SET revert = ?, model = ? WHERE id = 'ses_2'", '{"messageID":"msg_9"}', '{"id":"m"}')
  const message = (id: string, time: number, data: string, ofSession = "ses_1") =>
    db.run("INSERT INTO message VALUES (?, ?, ?, ?, ?)", id, ofSession, time, time, data)
  const part = (id: string, messageId: string, data: string) =>
    db.run("INSERT INTO part VALUES (?, ?, 'ses_1', 1, 1, ?)", id, messageId, data)
  // Not in the order of the conversation.
  message("msg_1", 3000, '{"role":"assistant","parentID":"msg_2","providerID":"acme","modelID":"m"}')
  message("msg_2", 2000, '{"role":"user","time":{"created":2000}}')
  message("msg_8", 4000, '{"role":"user","time":{"created":4000}}', "ses_2")
  part("prt_3", "msg_1", '{"type":"text","text":"two"}')
  part("prt_2", "msg_1", '{"type":"text","text":"one"}')
  part("prt_4", "msg_2", '{"type":"text","text":"question"}')
  part("prt_5", "msg_2", "{broken")
}

async function textOf(id: string): Promise<string> {
  let text = ""
  for await (const piece of opencodeDocument(db, id)) text += piece
  return text
}

test("the sessions of the database are listed, the latest first", () => {
  fill()
  expect(opencodeSessions(db)).toEqual([
    { id: "ses_2", title: "Second", cwd: "/work", updatedAt: "1970-01-01T00:00:06.000Z", parentId: "ses_1", bytes: 39 },
    { id: "ses_1", title: "First", cwd: "/work", updatedAt: "1970-01-01T00:00:05.000Z", bytes: 208 },
  ])
})

test("a session is a document with its messages by time and their parts by id, which is imported and written back", async () => {
  fill()
  const text = await textOf("ses_1")
  const { info, messages } = JSON.parse(text) as { info: object; messages: { info: object; parts: unknown[] }[] }
  expect(info).toEqual({
    id: "ses_1",
    slug: "s",
    projectID: "global",
    directory: "/work",
    title: "First",
    version: "1.18.34",
    cost: 0,
    tokens: { input: 0, output: 0, reasoning: 0, cache: { read: 0, write: 0 } },
    time: { created: 1000, updated: 5000 },
  })
  expect(messages.map((message) => message.info)).toMatchObject([{ id: "msg_2", sessionID: "ses_1" }, { id: "msg_1" }])
  // Data that is no JSON is kept.
  expect(messages[0]?.parts).toEqual([
    { type: "text", text: "question", id: "prt_4", sessionID: "ses_1", messageID: "msg_2" },
    "{broken",
  ])
  const { session } = await importText(opencode, { text })
  const { messages: context } = await session.context()
  expect(context.map(({ message }) => message.content.map((block) => "text" in block && block.text))).toEqual([
    ["question"],
    ["one", "two"],
  ])
  let again = ""
  for await (const piece of opencode.write(session)) again += piece
  expect(JSON.parse(again)).toEqual({ info, messages })
})

test("columns with JSON are values of the document", async () => {
  fill()
  expect(JSON.parse(await textOf("ses_2"))).toMatchObject({
    info: { parentID: "ses_1", revert: { messageID: "msg_9" }, model: { id: "m" } },
  })
})

test("a session that the database does not have is not found, and another database is no source", async () => {
  expect(() => opencodeSessions(db)).toThrow(expect.objectContaining({ code: "not_a_session" }) as Error)
  fill()
  await expect(textOf("ses_3")).rejects.toMatchObject({ code: "not_found" })
})
