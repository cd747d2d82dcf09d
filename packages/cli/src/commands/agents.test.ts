/** Sessions of other agents on this machine: found, imported, written back and handed over. */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as zlib from "node:zlib"
import { connect } from "@sessions/sqlite/driver"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"
import { decompress } from "../files/zstd.ts"

let home = ""
let cli: Cli
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "sessions-agents-"))
  cli = createCli({ cwd: home, env: { HOME: home, CLAUDE_CONFIG_DIR: join(home, "claude") } })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const MKFIFO = "mkfifo"

/** Missing before Node 22.15. */
const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: (text: string) => Buffer }

const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`

const lineOf = (session: number, n: number, type: string, content: string, more: object = {}) => ({
  type,
  uuid: uuid(100 * session + n),
  parentUuid: n === 1 ? null : uuid(100 * session + n - 1),
  sessionId: uuid(session),
  cwd: session === 2 ? "/other" : "/my project",
  timestamp: `2026-01-01T00:00:0${n}.000Z`,
  message: { role: type, content },
  ...more,
})

const textOf = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("")

/** Three sessions of Claude Code in two folders, one with a subagent, the first one the newest. */
function writeSessions(): string {
  const folder = join(home, "claude", "projects")
  const write = (name: string, text: string, age = 0) => {
    const file = join(folder, name)
    mkdirSync(join(file, ".."), { recursive: true })
    writeFileSync(file, text)
    const time = new Date(Date.parse("2026-01-02T00:00:00.000Z") - age)
    utimesSync(file, time, time)
    return file
  }
  const title = { type: "custom-title", customTitle: "The first", sessionId: uuid(1) }
  const first = textOf(lineOf(1, 1, "user", "hi"), lineOf(1, 2, "assistant", "hello"), title)
  const file = write(`-my-project/${uuid(1)}.jsonl`, first)
  const agent = { isSidechain: true, agentId: "a1" }
  write(`-my-project/${uuid(1)}/subagents/agent-a1.jsonl`, textOf(lineOf(1, 1, "user", "look", agent)))
  write(`-my-project/${uuid(1)}/subagents/agent-a1.meta.json`, '{"description":"look it up"}')
  write(`-other/${uuid(2)}.jsonl`, textOf(lineOf(2, 1, "user", "second")), 1000)
  write("-other/broken.jsonl", "no session\n", 2000)
  return file
}

test("discover lists the sessions of agents with folder, title and size, without a store", async () => {
  writeSessions()
  const { sessions } = (await cli.json("discover", "--store", "file:./nowhere")) as { sessions: object[] }
  expect(sessions).toMatchObject([
    {
      agent: "claude-code",
      id: uuid(1),
      cwd: "/my project",
      title: "The first",
      modifiedAt: "2026-01-02T00:00:00.000Z",
    },
    { agent: "claude-code", id: uuid(2), cwd: "/other", title: "second" },
  ])
  const other = (await cli("discover", "--cwd", "/other")).stdout
  expect(other).toMatch(/AGENT.*\nclaude-code .* \/other +second\n$/)
  expect(other).toContain(uuid(2))
  expect((await createCli({ cwd: home, env: { HOME: home } })("discover")).stdout).toContain(
    "No sessions of other agents",
  )
})

test("an agent's file is imported with its subagents, and a second import adds nothing", async () => {
  const file = writeSessions()
  const { stdout, stderr } = await cli("import", file)
  expect(stdout).toMatch(/^claude-code\.[0-9a-f]{32}\n$/)
  expect(stderr).toBe(`format: claude-code  ${uuid(1)}  The first\nwith 1 session of subagents\n`)
  const again = await cli("import", file)
  expect(again).toMatchObject({ exit: 0, stdout })
  expect(again.stderr).toContain("imported before, nothing was written")
  const { sessions } = (await cli.json("list", "--kind", "subagent")) as { sessions: object[] }
  expect(sessions).toMatchObject([{ title: "look it up", parentSession: { id: stdout.trim() } }])
})

test("import says what is lost in words and numbers, and handoff names the session as its agent does", async () => {
  const line = (ordinal: number, type: string, payload: object) => ({
    timestamp: "2026-01-01T00:00:00.000Z",
    ordinal,
    type,
    payload,
  })
  const said = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
  const text = textOf(
    line(0, "session_meta", { id: uuid(7), timestamp: "2026-01-01T00:00:00.000Z", cwd: "/work" }),
    line(1, "response_item", said("what was said first")),
    line(2, "compacted", { message: "", replacement_history: [{ type: "compaction", encrypted_content: "gAAA" }] }),
    line(3, "from_the_future", { text: "words of a kind" }),
    line(4, "response_item", said("and now")),
  )
  const folder = join(home, ".codex", "sessions", "2026", "01", "01")
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `rollout-2026-01-01T00-00-00-${uuid(7)}.jsonl`)
  writeFileSync(file, text)
  const { stderr } = await cli("import", file)
  expect(stderr).toContain(`format: codex  ${uuid(7)}  what was said first\n`)
  expect(stderr).toMatch(/history .*, 3 records, is encrypted/)
  expect(stderr).toMatch(/unknown .*1 records with 15 characters of text/)
  await cli("rm", uuid(7), "--yes")
  expect((await cli("import", "--from", "codex", "--all")).stdout).toMatch(
    /what was said first.*\n.*, 3 records, is encrypted/,
  )
  const dry = await cli("handoff", uuid(7), "--to", "claude-code", "--dry-run")
  expect(dry.stderr).toContain(`session: ${uuid(7)}  what was said first\n`)
  expect(dry.stderr).toContain("3 records, is encrypted")
})

test("import --all takes every session of the agent, or those of a folder, and can be run again", async () => {
  writeSessions()
  const one = await cli("import", "--from", "claude-code", "--all", "--cwd", "/other")
  expect(one).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining("imported 1 session; 0 were there already, 0 failed"),
  })
  const all = await cli("import", "--from", "claude-code", "--all")
  expect(all.exit).toBe(1)
  expect(all.stdout).toMatch(/failed .*broken\.jsonl: The file is in none of the known formats/)
  expect(all.stdout).toContain("imported 2 sessions; 1 were there already, 1 failed\n")
  expect((await cli("import", "--all")).exit).toBe(2)
})

test("import --all passes by empty files, which an agent leaves that was ended at once", async () => {
  const file = writeSessions()
  rmSync(join(file, "..", "..", "-other", "broken.jsonl"))
  writeFileSync(join(file, "..", "empty.jsonl"), "")
  const all = await cli("import", "--from", "claude-code", "--all")
  expect(all).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining("imported 3 sessions; 0 were there already, 0 failed"),
  })
})

test("the folder of a long path has the cut name and the hash that Claude Code gives it", async () => {
  const cwd = `/${"long-folder.name/".repeat(20)}end`
  const id = await cli.use(async (sessions) => (await sessions.create({ cwd })).id)
  const { file } = (await cli.json("handoff", id, "--to", "claude-code", "--dry-run")) as { file: string }
  const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, "-").slice(0, 200)
  expect(file).toContain(`/projects/${name}-by5lkk/`)
})

test("a session over the size limit is refused before anything is written, and imported with --max-size", async () => {
  const lines = Array.from({ length: 300 }, (_, n) => lineOf(1, n + 1, "user", "x".repeat(5_000)))
  writeFileSync(join(home, "large.jsonl"), textOf(...lines))
  const refused = await cli("import", "large.jsonl", "--max-size", "100KB")
  expect(refused).toMatchObject({ exit: 1, stdout: "" })
  expect(refused.stderr).toMatch(/may have 100000\. Nothing was written\. .*\n.*--max-size 2GB\.\n$/)
  expect(await cli.json("list")).toMatchObject({ sessions: [] })
  mkdirSync(join(home, "folder"))
  writeFileSync(join(home, "folder", "large.jsonl"), textOf(...lines))
  expect((await cli("import", "folder", "--max-size", "100KB")).stdout).toContain("--max-size 2GB")
  expect((await cli("import", "large.jsonl", "--max-size", "5MB")).exit).toBe(0)
  expect((await cli("import", "large.jsonl", "--max-size", "5")).stderr).toContain("must be a size such as 500MB")
})

test("a folder is imported file by file; files that are no session are left out", async () => {
  writeSessions()
  expect(await cli.json("import", join("claude", "projects", "-other"))).toMatchObject({
    imported: [{ from: { format: "claude-code" }, added: true }],
    failed: [],
  })
  mkdirSync(join(home, "empty"))
  expect((await cli("import", "empty")).stderr).toContain("empty has no file that ends in .jsonl or .json")
})

test("a session of Cersei is imported with all its parts, and a part is no session of its own", async () => {
  const said = (n: number) => {
    const message = { role: "user", content: `part ${n}` }
    return textOf({ type: "user", uuid: uuid(n), session_id: "s", timestamp: "2026-01-01T00:00:00Z", message })
  }
  mkdirSync(join(home, "cersei"))
  for (const [n, name] of ["s", "s_part2", "s_part3"].entries())
    writeFileSync(join(home, "cersei", `${name}.jsonl`), said(n + 1))
  const { imported, failed } = (await cli.json("import", "cersei")) as { imported: { id: string }[]; failed: object[] }
  expect([imported.length, failed]).toEqual([1, []])
  const { stdout: shown } = await cli("context", imported[0]?.id ?? "")
  for (const n of [1, 2, 3]) expect(shown).toContain(`part ${n}`)
  expect((await cli("import", join("cersei", "s.jsonl"))).stderr).toContain("imported before")
  const part = await cli("import", join("cersei", "s_part2.jsonl"))
  expect(part).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/continues the session of .*s\.jsonl; import that/),
  })
})

test("the error for a file of no format names every format and why it is not that", async () => {
  writeFileSync(join(home, "notes.txt"), "hello\n")
  const { exit, stderr } = await cli("import", "notes.txt")
  expect(exit).toBe(1)
  expect(stderr).toContain(
    "sessions: The file is in none of the known formats.\n  sessions, pi, oh-my-pi: none of its lines is a record\n  claude-code: it has no line of JSON\n",
  )
  const forced = await cli.with({ stdin: "hello\n" }, "import", "-", "--from", "claude-code")
  expect(forced.stderr).toContain("claude-code: it has no line of JSON")
})

test("an imported session is exported as its file was, also from a pipe", async () => {
  const file = writeSessions()
  const text = readFileSync(file, "utf8")
  const { stdout: id } = await cli.with({ stdin: text }, "import", "-")
  const { stdout } = await cli("export", id.trim(), "--format", "claude-code")
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(
    text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  )
  expect((await cli("export", id.trim(), "--format", "claude-code", "--backup")).exit).toBe(2)
})

test("handoff writes a session where the agent finds it, and prints the command that resumes it", async () => {
  const id = await cli.use(async (sessions) => {
    const session = await sessions.create({ cwd: "/my project" })
    await session.append([
      { type: "message", message: { role: "system", content: "ours" } },
      { type: "message", message: { role: "user", content: "go on there" } },
    ])
    return session.id
  })
  const dry = await cli("handoff", id, "--to", "claude-code", "--dry-run")
  expect(dry.stdout).toMatch(
    /^would write .*\/claude\/projects\/-my-project\/[0-9a-f-]{36}\.jsonl \(.*\)\ncd '\/my project' && claude --resume [0-9a-f-]{36}\n$/,
  )
  expect(dry.stderr).toContain("1 system messages are not in the file")
  expect(() => readdirSync(join(home, "claude"))).toThrow("ENOENT")
  const done = await cli("handoff", id, "--to", "claude-code")
  expect(done.stdout.replace("wrote", "would write")).toBe(dry.stdout)
  const [, file = ""] = /wrote (.*) \(/.exec(done.stdout) ?? []
  const [line] = readFileSync(file, "utf8").trim().split("\n")
  expect(JSON.parse(line ?? "")).toMatchObject({
    type: "user",
    cwd: "/my project",
    message: { content: "go on there" },
  })
  expect((await cli("handoff", id, "--to", "claude-code")).stdout).toContain("was written before:")
  expect((await cli("handoff", id)).exit).toBe(2)
})

test("a session is handed over to the folder that a link means, and to each folder as a session of its own", async () => {
  const real = join(realpathSync(home), "real")
  mkdirSync(real)
  symlinkSync(real, join(home, "link"))
  const id = await cli.use(async (sessions) => {
    const session = await sessions.create({ cwd: join(home, "link") })
    await session.append({ type: "message", message: { role: "user", content: "go on there" } })
    return session.id
  })
  const { stdout } = await cli("handoff", id, "--to", "claude-code")
  expect(stdout).toContain(`/projects/${real.replaceAll(/[^a-zA-Z0-9]/g, "-")}/`)
  expect(stdout).toContain(`\ncd ${real} && claude --resume `)
  await cli("handoff", id, "--to", "codex", "--cwd", "/one")
  const other = (await cli.json("handoff", id, "--to", "codex", "--cwd", "/two")) as { file: string; written: boolean }
  expect(other.written).toBe(true)
  expect(readFileSync(other.file, "utf8")).toContain('"cwd":"/two"')
})

test("a session is handed over to Codex below the day on which it began, and found there again", async () => {
  const codexHome = join(home, "codex")
  const codexCli = createCli({ cwd: home, env: { HOME: home, CODEX_HOME: codexHome } })
  const id = await codexCli.use(async (sessions) => {
    const session = await sessions.create({ cwd: "/work" })
    await session.append({ type: "message", message: { role: "user", content: "go on there" } })
    return session.id
  })
  const { stdout } = await codexCli("handoff", id, "--to", "codex")
  expect(stdout).toMatch(
    /\/codex\/sessions\/\d{4}\/\d\d\/\d\d\/rollout-[^/]*[0-9a-f-]{36}\.jsonl \(.*\)\ncd \/work && codex resume [0-9a-f-]{36}\n$/,
  )
  expect((await codexCli("discover")).stdout).toMatch(/\ncodex .* \/work +go on there\n$/)
  const copy = await codexCli("import", "--from", "codex", "--all")
  expect(copy.stdout).toContain("imported 1 session; 0 were there already, 0 failed")
})

test("files of one session are one session, one without a message is left out and named, and a second run is quiet", async () => {
  const files = createCli({ cwd: home, env: { HOME: home } })
  const place = { sessionId: uuid(7), isSidechain: false, timestamp: "2026-01-01T00:00:00.000Z" }
  const said = (id: string, parentUuid: string | null, content: string, cwd: string) => {
    return { ...place, type: "user", uuid: id, parentUuid, cwd, message: { role: "user", content } }
  }
  const write = (folder: string, name: string, text: string) => {
    const path = join(home, ".claude", "projects", folder)
    mkdirSync(path, { recursive: true })
    writeFileSync(join(path, `${name}.jsonl`), text)
  }
  write("-one", uuid(7), textOf(said("u1", null, "first", "/one")))
  write("-two", uuid(7), textOf(said("u1", null, "first", "/one"), said("u2", "u1", "second", "/two")))
  write(
    "-one",
    uuid(8),
    textOf({ type: "queue-operation", operation: "enqueue", sessionId: uuid(8), content: "later" }),
  )
  write("-one", uuid(9), textOf({ type: "summary", summary: "a title", leafUuid: "u1" }))
  write("-one", uuid(5), textOf({ type: "file-history-snapshot", messageId: "u1", snapshot: {} }))
  write("-one", uuid(6), textOf({ type: "permission-mode", permissionMode: "plan", sessionId: uuid(6) }))
  const { sessions: found } = (await files.json("discover")) as { sessions: { id?: string }[] }
  expect(found.filter(({ id }) => id === uuid(7))).toHaveLength(1)
  const first = await files("import", "--from", "claude-code", "--all")
  expect(first).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining("imported 1 session; 0 were there already, 0 failed, 4 without a message yet\n"),
  })
  const again = await files("import", "--from", "claude-code", "--all")
  expect(again).toMatchObject({
    exit: 0,
    stdout: "imported 0 sessions; 1 were there already, 0 failed, 4 without a message yet\n",
  })
  const { hits } = (await files.json("grep", "second")) as { hits: object[] }
  expect(hits).toHaveLength(1)
  write("-two", uuid(7), textOf(said("u1", null, "first", "/one"), said("u3", "u1", "third", "/two")))
  expect((await files("import", "--from", "claude-code", "--all")).stdout).toMatch(/-two\S*  first\n/)
})

test("a message that was imported while the agent wrote it is found by the words that came later", async () => {
  const files = createCli({ cwd: home, env: { HOME: home } })
  const place = { sessionId: uuid(9), isSidechain: false, cwd: "/one", timestamp: "2026-01-01T00:00:00.000Z" }
  const part = (id: string, parentUuid: string, text: string) => {
    const message = { id: "m1", role: "assistant", content: [{ type: "text", text }] }
    return { ...place, type: "assistant", uuid: id, parentUuid, message }
  }
  const path = join(home, ".claude", "projects", "-one")
  const file = join(path, `${uuid(9)}.jsonl`)
  mkdirSync(path, { recursive: true })
  const asked = { ...place, type: "user", uuid: "u1", parentUuid: null, message: { role: "user", content: "go" } }
  writeFileSync(file, textOf(asked, part("a1", "u1", "walrus")))
  await files("import", file)
  await files("grep", "walrus")
  writeFileSync(file, textOf(asked, part("a1", "u1", "walrus"), part("a2", "a1", "narwhal")))
  await files("import", file)
  for (const word of ["walrus", "narwhal"]) {
    const { hits } = (await files.json("grep", word)) as { hits: object[] }
    expect(hits, word).toMatchObject([{ entryId: "a1", role: "assistant" }])
  }
})

if (decompress === null)
  console.log("Compressed sessions are left out: this runtime has no zstd that reports a cut file.")

test.skipIf(decompress === null)("sessions that Codex has compressed are listed and imported", async () => {
  const codexCli = createCli({ cwd: home, env: { HOME: home } })
  const folder = join(home, ".codex", "archived_sessions")
  mkdirSync(folder, { recursive: true })
  const [timestamp, cwd] = ["2026-01-01T00:00:00.000Z", "/work"]
  const said = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] })
  const text = textOf(
    { timestamp, type: "session_meta", payload: { id: uuid(1), timestamp, cwd } },
    ...Array.from({ length: 3000 }, (_, n) => ({
      timestamp,
      type: "response_item",
      payload: said(`question ${n} ${"x".repeat(50)}`),
    })),
  )
  const file = join(folder, `rollout-2026-01-01T00-00-00-${uuid(1)}.jsonl.zst`)
  writeFileSync(file, zstdCompressSync?.(text) ?? "")
  expect(await codexCli.json("discover")).toMatchObject({
    sessions: [{ id: uuid(1), cwd, title: expect.stringMatching(/^question 0 /) }],
  })
  const { imported } = (await codexCli.json("import", "--from", "codex", "--all")) as { imported: readonly object[] }
  expect(imported).toMatchObject([{ lines: 3002, diagnostics: [] }])
  writeFileSync(file, zstdCompressSync?.(text).subarray(0, 500) ?? "")
  const cut = await codexCli("import", file, "--id", "cut")
  expect(cut).toMatchObject({ exit: 1, stdout: "" })
  expect(cut.stderr).toContain(`cannot read ${file}`)
})

test("the sessions of Copilot and Gemini CLI are found in their places", async () => {
  const write = (file: string, ...lines: readonly object[]) => {
    mkdirSync(join(home, file, ".."), { recursive: true })
    writeFileSync(join(home, file), textOf(...lines))
  }
  write(".copilot/session-state/s1/events.jsonl", { type: "session.start", data: { sessionId: "s1" } })
  write(".gemini/tmp/p/chats/session-2026-01-01T00-00-1.jsonl", { sessionId: "g1", projectHash: "p" })
  const { sessions } = (await cli.json("discover")) as { sessions: { agent: string; id: string }[] }
  expect(sessions.map(({ agent, id }) => `${agent} ${id}`).sort()).toEqual(["copilot s1", "gemini g1"])
})

/** A database with the tables of opencode, of which only the columns are there that are read. */
function writeDatabase(file: string): void {
  mkdirSync(join(file, ".."), { recursive: true })
  const db = connect(file)
  db.exec(`PRAGMA journal_mode = WAL;
    CREATE TABLE session (id text, parent_id text, directory text, title text, time_created integer, time_updated integer);
    CREATE TABLE message (id text, session_id text, time_created integer, data text);
    CREATE TABLE part (id text, message_id text, session_id text, data text)`)
  const add = (n: number, parent: string | null, cwd: string) => {
    db.run("INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)", `ses_${n}`, parent, cwd, `Title ${n}`, n * 1000, n * 1000)
    const info = { role: "user", time: { created: n * 1000 } }
    db.run("INSERT INTO message VALUES (?, ?, ?, ?)", `msg_${n}`, `ses_${n}`, n * 1000, JSON.stringify(info))
    const part = JSON.stringify({ type: "text", text: `question ${n}` })
    db.run("INSERT INTO part VALUES (?, ?, ?, ?)", `prt_${n}`, `msg_${n}`, `ses_${n}`, part)
  }
  add(1, null, "/one")
  add(2, "ses_1", "/one")
  add(3, null, "/two")
  db.close()
}

test("the sessions in the database of opencode are listed and imported, and it is only read", async () => {
  const file = join(home, ".local", "share", "opencode", "opencode.db")
  writeDatabase(file)
  const before = readFileSync(file)
  expect(await cli.json("discover")).toEqual({
    sessions: [3, 1].map((n) => ({
      agent: "opencode",
      file: `${file}#ses_${n}`,
      bytes: 74,
      modifiedAt: `1970-01-01T00:00:0${n}.000Z`,
      id: `ses_${n}`,
      cwd: n === 3 ? "/two" : "/one",
      title: `Title ${n}`,
    })),
  })
  const one = (await cli.json("import", "--from", "opencode", "--all", "--cwd", "/one")) as { imported: object[] }
  expect(one.imported).toMatchObject([{ file: `${file}#ses_2` }, { file: `${file}#ses_1`, diagnostics: [] }])
  expect((await cli("import", "--from", "opencode", "--all")).stdout).toContain(
    "imported 1 session; 2 were there already, 0 failed",
  )
  const { sessions } = (await cli.json("list", "--kind", "subagent")) as { sessions: object[] }
  expect(sessions).toMatchObject([{ title: "Title 2", cwd: "/one" }])
  expect(readFileSync(file)).toEqual(before)
  const elsewhere = { HOME: home, OPENCODE_DB: "other.db" }
  writeFileSync(join(file, "..", "other.db"), "no database")
  const unreadable = await cli.with({ env: elsewhere }, "discover")
  expect(unreadable).toMatchObject({ exit: 0, stdout: expect.stringContaining("unreadable opencode:") as string })
})

test("a database of opencode that is given as a file is imported; another one is refused", async () => {
  const file = join(home, "copy.db")
  writeDatabase(file)
  expect((await cli.json("import", file)) as object).toMatchObject({
    imported: [{ file: `${file}#ses_3` }, { file: `${file}#ses_2` }, { file: `${file}#ses_1` }],
    failed: [],
  })
  expect((await cli("import", "copy.db")).stdout).toContain("imported 0 sessions; 3 were there already, 0 failed")
  expect((await cli("import", "copy.db", "--id", "x")).stderr).toContain("--id is for one session")
  connect(join(home, "other.db")).exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
  expect(await cli("import", "other.db")).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining("no database of opencode") as string,
  })
})

test("several files and folders are imported in one call; what cannot be is named and stops nothing; a repeated call adds nothing", async () => {
  const first = writeSessions()
  const second = join(home, "claude", "projects", "-other", `${uuid(2)}.jsonl`)
  mkdirSync(join(home, "chats"))
  writeFileSync(join(home, "chats", "c.jsonl"), textOf(lineOf(9, 1, "user", "in a folder")))
  writeFileSync(join(home, "chats", "package.json"), "{}")
  writeFileSync(join(home, "notes.jsonl"), "no session")
  const given = [first, "notes.jsonl", "chats", "missing.jsonl", second, first]
  const done = await cli("import", ...given)
  expect(done.exit).toBe(1)
  expect(done.stdout).toContain("notes.jsonl: The file is in none of the known formats")
  expect(done.stdout).toContain("claude-code: it has no line of JSON")
  expect(done.stdout).toContain("missing.jsonl: no such file")
  expect(done.stdout).not.toContain("package.json")
  const { imported, failed } = JSON.parse((await cli("import", ...given, "--json")).stdout) as Record<string, object[]>
  expect(imported?.map((one) => (one as { added: boolean }).added)).toEqual(imported?.map(() => false))
  expect(failed).toHaveLength(2)
  expect((await cli("import", first, "-")).stderr).toContain("- is standard input")
})

test("Claude Code's folder has the name of CLAUDE_CODE_PROJECT_DIR_NAME if its own folder is given, too", async () => {
  const id = await cli.use(async (sessions) => (await sessions.create({ cwd: "/work" })).id)
  const folderOf = async (env: Record<string, string>) => {
    const { stdout } = await cli.with(
      { env: { HOME: home, ...env } },
      "handoff",
      id,
      "--to",
      "claude-code",
      "--dry-run",
    )
    return /\/projects\/([^/]*)\//.exec(stdout)?.[1]
  }
  const own = { CLAUDE_CONFIG_DIR: join(home, "claude") }
  const names = [
    { ...own, CLAUDE_CODE_PROJECT_DIR_NAME: "mine" },
    { CLAUDE_CODE_PROJECT_DIR_NAME: "mine" },
    { ...own, CLAUDE_CODE_PROJECT_DIR_NAME: "../up" },
    { ...own, CLAUDE_CODE_PROJECT_DIR_NAME: "nul" },
  ]
  expect(await Promise.all(names.map(folderOf))).toEqual(["mine", "-work", "-work", "-work"])
})

test("handoff --to gemini writes a chat into the project of the folder, where it is found with its folder", async () => {
  const gemini = join(home, ".gemini")
  const handedOver = async (cwd: string) => {
    const id = await cli.use(async (sessions) => {
      const session = await sessions.create({ cwd })
      await session.append({ type: "message", message: { role: "user", content: `in ${cwd}` } })
      return session.id
    })
    const done = (await cli.json("handoff", id, "--to", "gemini")) as { file: string; resume: string; targetId: string }
    expect(done.resume).toBe(`cd ${cwd} && gemini --resume ${done.targetId}`)
    expect(JSON.parse(readFileSync(done.file, "utf8").split("\n")[0] ?? "")).toMatchObject({ sessionId: done.targetId })
    expect(done.file.endsWith(`-${done.targetId.slice(0, 8)}.jsonl`)).toBe(true)
    return done.file.slice(gemini.length).split("/")[2]
  }
  // The first is registered, the second has a marker; the third is new, and its name is taken by the first.
  mkdirSync(join(gemini, "tmp", "known"), { recursive: true })
  writeFileSync(join(gemini, "tmp", "known", ".project_root"), "/b/known\n")
  writeFileSync(join(gemini, "projects.json"), JSON.stringify({ projects: { "/a/My.App": "my-app" } }))
  expect(await handedOver("/a/My.App")).toBe("my-app")
  expect(await handedOver("/b/known")).toBe("known")
  expect(await handedOver("/c/My-App")).toBe("my-app-1")
  expect(readFileSync(join(gemini, "tmp", "my-app-1", ".project_root"), "utf8")).toBe("/c/My-App")
  expect(await handedOver("/c/My-App")).toBe("my-app-1")
  const { sessions } = (await cli.json("discover")) as { sessions: { cwd: string }[] }
  expect(sessions.map(({ cwd }) => cwd).sort()).toEqual(["/a/My.App", "/b/known", "/c/My-App", "/c/My-App"])
  const { imported } = (await cli.json("import", "--from", "gemini", "--all", "--cwd", "/b/known")) as {
    imported: { id: string }[]
  }
  expect(await cli.use(async (all) => (await all.info(imported[0]?.id ?? "")).cwd)).toBe("/b/known")
})

test.skipIf(process.platform === "win32")(
  "links that form loops, pipes and folders with names of files are passed by",
  async () => {
    const file = writeSessions()
    const project = join(file, "..")
    for (const name of ["up", "up2"]) symlinkSync("..", join(project, name))
    const subagents = join(file.replace(/\.jsonl$/, ""), "subagents")
    execFileSync(MKFIFO, [join(subagents, "agent-pipe.jsonl")])
    mkdirSync(join(subagents, "agent-folder.jsonl"))
    const { sessions } = (await cli.json("discover")) as { sessions: { id: string }[] }
    expect(sessions.map(({ id }) => id)).toEqual([uuid(1), uuid(2)])
    expect((await cli("import", file)).stderr).toMatch(/The first\nwith 1 session of subagents\n$/)
  },
)

test.skipIf(process.platform === "win32")(
  "sessions in a linked folder are found once, under the path of the folder",
  async () => {
    const file = writeSessions()
    symlinkSync(join(file, ".."), join(home, "claude", "projects", "a-link"))
    mkdirSync(join(home, "elsewhere"))
    writeFileSync(join(home, "elsewhere", `${uuid(3)}.jsonl`), textOf(lineOf(3, 1, "user", "third")))
    symlinkSync(join(home, "elsewhere"), join(home, "claude", "projects", "b-link"))
    const { sessions } = (await cli.json("discover")) as { sessions: { id: string; file: string }[] }
    expect(sessions.map(({ id }) => id).sort()).toEqual([uuid(1), uuid(2), uuid(3)])
    expect(sessions.find(({ id }) => id === uuid(1))?.file).toBe(file)
  },
)

test("handoff --to pi writes a log of version 3 in the folder that pi lists for the session's folder", async () => {
  const { stdout: id } = await cli("import", writeSessions())
  const { file, resume } = (await cli.json("handoff", id.trim(), "--to", "pi")) as { file: string; resume: string }
  expect(file.slice(join(home, ".pi", "agent").length)).toMatch(
    /^\/sessions\/--my project--\/2026-[\dTZ-]+_[0-9a-f-]{36}\.jsonl$/,
  )
  const header = JSON.parse(readFileSync(file, "utf8").split("\n")[0] ?? "") as { id: string }
  expect(header).toMatchObject({ type: "session", version: 3, cwd: "/my project" })
  expect(resume).toBe(`cd '/my project' && pi --session ${header.id}`)
})

test("handoff --to opencode gives the file to opencode's own import, in the folder of the session", async () => {
  const [bin, work] = [join(home, "bin"), join(realpathSync(home), "my work")]
  for (const folder of [bin, work]) mkdirSync(folder)
  const take = `#!/bin/sh\necho "$1" > "${home}/args"; pwd -P > "${home}/cwd"; cat "$2" > "${home}/taken"\n`
  writeFileSync(join(bin, "opencode"), take, { mode: 0o755 })
  const withProgram = createCli({ cwd: home, env: { HOME: home, PATH: `${bin}:/usr/bin:/bin` } })
  const id = await withProgram.use(async (sessions) => {
    const session = await sessions.create({ cwd: work })
    await session.append({ type: "message", message: { role: "user", content: "go on there" } })
    return session.id
  })
  const dry = (await withProgram.json("handoff", id, "--to", "opencode", "--dry-run")) as object
  expect(dry).toMatchObject({
    to: "opencode",
    written: false,
    targetId: expect.stringMatching(/^ses_\w{26}$/) as string,
  })
  expect(readdirSync(home)).not.toContain("taken")
  const done = (await withProgram.json("handoff", id, "--to", "opencode")) as { targetId: string; resume: string }
  expect(done).toEqual({ ...dry, written: true })
  expect(done.resume).toBe(`cd '${work}' && opencode --session ${done.targetId}`)
  const read = (name: string) => readFileSync(join(home, name), "utf8")
  expect([read("args"), read("cwd")]).toEqual(["import\n", `${work}\n`])
  expect(JSON.parse(read("taken"))).toMatchObject({ info: { id: done.targetId, directory: work } })

  const without = await cli.with({ env: { HOME: home, PATH: "/nowhere" } }, "import", join(home, "taken"))
  const missing = await cli.with(
    { env: { HOME: home, PATH: "/nowhere" } },
    "handoff",
    without.stdout.trim(),
    "--to",
    "opencode",
  )
  expect(missing).toMatchObject({ exit: 1, stderr: expect.stringContaining("could not be started") as string })
  const gone = await withProgram("handoff", id, "--to", "opencode", "--cwd", join(home, "gone"))
  expect(gone.stderr).toContain("there is no folder")
})

test("handoff --to opencode says that opencode sends nothing of a session whose last message is in the future", async () => {
  const line = (timestamp: string) => ({
    type: "user",
    uuid: "u1",
    parentUuid: null,
    sessionId: uuid(3),
    cwd: "/work",
    timestamp,
    message: { role: "user", content: "Q" },
  })
  for (const [time, isSaid] of [
    ["2999-01-01T00:00:00.000Z", true],
    ["2026-01-01T00:00:00.000Z", false],
  ] as const) {
    await cli.with({ stdin: textOf(line(time)) }, "import", "-")
    const { stderr } = await cli("handoff", uuid(3), "--to", "opencode", "--cwd", home, "--dry-run")
    expect(stderr.includes("in the future")).toBe(isSaid)
    await cli("rm", uuid(3), "--yes")
  }
})

test("sessions of Qwen Code and Kimi CLI are found with folder and title, and imported once with their subagents", async () => {
  const put = (name: string, text: string) => {
    mkdirSync(join(home, name, ".."), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  const said = (text: string, more: object = {}) => ({
    uuid: `q-${text}`,
    parentUuid: null,
    sessionId: "q1",
    timestamp: "2026-01-01T00:00:01.000Z",
    type: "user",
    cwd: "/work",
    message: { role: "user", parts: [{ text }] },
    ...more,
  })
  put(".qwen/projects/-work/chats/q1.jsonl", textOf(said("to Qwen")))
  put(".qwen/projects/-work/subagents/q1/agent-a.jsonl", textOf(said("look", { isSidechain: true, agentId: "a" })))
  const folder = `.kimi/sessions/${createHash("md5").update("/work").digest("hex")}`
  put(".kimi/kimi.json", JSON.stringify({ work_dirs: [{ path: "/work" }] }))
  put(`${folder}/k1/context.jsonl`, textOf({ role: "_checkpoint", id: 0 }, { role: "user", content: "to Kimi" }))
  put(`${folder}/k1/state.json`, JSON.stringify({ custom_title: "Named" }))
  put(`${folder}/k1/wire.jsonl`, textOf({ type: "metadata", protocol_version: "1" }))
  put(
    `${folder}/k1/subagents/b/context.jsonl`,
    textOf({ role: "_checkpoint", id: 0 }, { role: "user", content: "dig" }),
  )
  put(`${folder}/k1/subagents/b/wire.jsonl`, textOf({ type: "metadata", protocol_version: "1" }))
  const { sessions } = (await cli.json("discover", "--cwd", "/work")) as { sessions: { agent: string }[] }
  expect(sessions.toSorted((a, b) => (a.agent < b.agent ? -1 : 1))).toMatchObject([
    { agent: "kimi-cli", id: "k1", cwd: "/work", title: "Named" },
    { agent: "qwen-code", id: "q1", cwd: "/work", title: "to Qwen" },
  ])
  for (const from of ["qwen-code", "kimi-cli"]) expect((await cli("import", "--from", from, "--all")).exit).toBe(0)
  const { sessions: stored } = (await cli.json("list", "--all")) as { sessions: { kind?: string }[] }
  expect(stored).toHaveLength(4)
  expect(stored.filter(({ kind }) => kind === "subagent")).toHaveLength(2)
  for (const from of ["qwen-code", "kimi-cli"]) expect((await cli("import", "--from", from, "--all")).exit).toBe(0)
  expect(((await cli.json("list", "--all")) as { sessions: object[] }).sessions).toHaveLength(4)
})

test("of a session of deepseek-harness the newest log is found and imported; it is not taken for one of pi", async () => {
  const put = (name: string, text: string) => {
    const file = join(home, ".dsh", "sessions", "--work--", "s1", name)
    mkdirSync(join(file, ".."), { recursive: true })
    writeFileSync(file, text)
    return file
  }
  const log = (version: number, text: string) =>
    textOf(
      { type: "session", version, id: "s1", createdAt: 1_790_000_000_000, cwd: "/work", delegationDepth: 0 },
      {
        type: "user/message",
        seq: 0,
        time: 1_790_000_000_000,
        surfaceOp: "append",
        data: { id: "m1", role: "user", content: [{ type: "text", text }], source: { kind: "user" } },
      },
    )
  put("session.jsonl", log(0, "the old log"))
  const file = put("session.v3.jsonl", log(3, "the new log"))
  const { sessions } = (await cli.json("discover")) as { sessions: object[] }
  expect(sessions).toMatchObject([{ agent: "dsh", id: "s1", cwd: "/work", title: "the new log", file }])
  expect((await cli("import", file)).stderr).toBe("format: dsh  s1  the new log\n")
  if (decompress === null || zstdCompressSync === undefined) return
  const lines = log(3, "the new log").split("\n")
  const frames = lines.filter((line) => line !== "").map((line) => zstdCompressSync(`${line}\n`))
  rmSync(file)
  const compressed = put("session.v3.jsonl.zstd", "")
  writeFileSync(compressed, Buffer.concat(frames))
  expect((await cli.json("discover")) as object).toMatchObject({
    sessions: [{ title: "the new log", file: compressed }],
  })
  expect(await cli("import", compressed)).toMatchObject({ exit: 0 })
})
