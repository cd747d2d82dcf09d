/** The files of histories in SQLite: their modes, files of oh-my-pi and of others, deleted text, and the index of words. */
import { existsSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { PromptHistory } from "@sessions/history"
import { createSqliteHistory } from "@sessions/history/sqlite"
import { connect } from "@sessions/sqlite/driver"
import { expect, onTestFinished, test, vi } from "vitest"
import { openWithoutFullText } from "../../sqlite/test/without-full-text.ts"
import { prompts } from "./cases.ts"
import { connectTo, newPath, openAt } from "./files.ts"

test("the files can be read by this user alone, and a missing folder is made", async () => {
  const path = join(dirname(newPath()), "new", "folder", "history.db")
  const history = openAt(path)
  history.add("one")
  await history.flush()
  for (const name of ["", "-wal", "-shm"]) expect(statSync(path + name).mode & 0o777).toBe(0o600)
  expect(statSync(dirname(path)).mode & 0o777).toBe(0o700)
})

test("a SQLite without full-text search is `unsupported`, and the message says which to use", async () => {
  await expect(openAt(newPath(), { open: openWithoutFullText }).recent()).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("Node before 22.16") as string,
  })
})

test("nothing is opened before the first use", () => {
  const path = newPath()
  openAt(path)
  expect(existsSync(path)).toBe(false)
})

test("the file has the table of oh-my-pi, a mark and a version, and a write-ahead log", async () => {
  const path = newPath()
  const history = openAt(path)
  history.add("one", { cwd: "/a" })
  await history.flush()
  const db = connectTo(path)
  expect(db.query("SELECT id, prompt, typeof(created_at) AS at, cwd FROM history").all()).toEqual([
    { id: 1, prompt: "one", at: "integer", cwd: "/a" },
  ])
  expect(db.query("PRAGMA application_id").get()).toEqual({ application_id: 0x68697374 })
  expect(db.query("PRAGMA user_version").get()).toEqual({ user_version: 1 })
  expect(db.query("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" })
})

const OH_MY_PI = `
  CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    prompt TEXT NOT NULL,
    created_at INTEGER NOT NULL DEFAULT (unixepoch()),
    cwd TEXT
  );
  CREATE INDEX idx_history_created_at ON history(created_at DESC);
`
const OH_MY_PI_WORDS = `
  CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id');
  CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
    INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
  END;
`

test.each([
  ["without an index", OH_MY_PI, ""],
  ["with its index", OH_MY_PI + OH_MY_PI_WORDS, ""],
  ["with an index that lacks rows", OH_MY_PI, OH_MY_PI_WORDS],
])("a history.db of oh-my-pi %s is used as it is", async (_, before, after) => {
  const path = newPath()
  const other = connectTo(path)
  other.exec(
    `${before} INSERT INTO history (prompt, created_at, cwd) VALUES ('fix it', 1700000000, '/a'), ('run it', 1700000060, NULL); ${after}`,
  )
  const history = openAt(path)
  expect(await history.recent()).toEqual([
    { id: 2, prompt: "run it", at: "2023-11-14T22:14:20.000Z" },
    { id: 1, prompt: "fix it", at: "2023-11-14T22:13:20.000Z", cwd: "/a" },
  ])
  expect(await prompts(history.search("it"))).toEqual(["run it", "fix it"])
  history.add("run it")
  history.add("add it")
  expect(await prompts(history.recent({ limit: 2 }))).toEqual(["add it", "run it"])
  // The other program goes on with the file.
  other.exec("INSERT INTO history (prompt, cwd) VALUES ('theirs', '/b')")
  expect(other.query("SELECT rowid FROM history_fts WHERE history_fts MATCH 'it' ORDER BY rowid").all()).toHaveLength(3)
  expect(await prompts(history.search("theirs"))).toEqual(["theirs"])
  expect(other.query("PRAGMA user_version").get()).toEqual({ user_version: 0 })
  other.exec("INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
})

test("a history.db that has each prompt once keeps them so, in the order in which they were typed last", async () => {
  const path = newPath()
  const other = connectTo(path)
  other.exec(`
    CREATE TABLE history (
      id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL, cwd TEXT, session_id TEXT
    );
    ${OH_MY_PI_WORDS}
    PRAGMA user_version = 1;
    INSERT INTO history (prompt, created_at, session_id) VALUES ('one a', 40, 's'), ('two a', 20, 's'), ('three a', 30, 's'), ('four a', 10, 's');
  `)
  const history = openAt(path)
  const sorted = ["one a", "three a", "two a", "four a"]
  expect(await prompts(history.recent())).toEqual(sorted)
  expect(await prompts(history.search("a"))).toEqual(sorted)
  const [, second] = await history.recent()
  expect(await prompts(history.recent({ before: second?.id as number }))).toEqual(["two a", "four a"])
  for (const prompt of ["one a", "four a", "two a"]) history.add(prompt)
  expect(await prompts(history.recent())).toEqual(["two a", "four a", "one a", "three a"])
  // So that the index is asked.
  other.exec(`
    WITH RECURSIVE later (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM later WHERE n < 2099)
    INSERT INTO history (prompt, created_at) SELECT 'later ' || n, unixepoch() + 1 FROM later
  `)
  expect(await prompts(history.search("a"))).toEqual(["two a", "four a", "one a", "three a"])
  expect(other.query("PRAGMA user_version").get()).toEqual({ user_version: 1 })
  other.exec(
    "INSERT INTO history (prompt, created_at) VALUES ('one a', 1) ON CONFLICT (prompt) DO UPDATE SET created_at = 9999999999",
  )
  expect(await prompts(history.recent({ limit: 1 }))).toEqual(["one a"])
  other.exec("INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
})

test.each([
  ["another table", "CREATE TABLE notes (a)"],
  ["a table of this name with other columns", "CREATE TABLE history (url TEXT, title TEXT)"],
  ["another mark", `${OH_MY_PI} PRAGMA application_id = 1936028531`],
])("a database with %s is `corrupt`, and stays as it is", async (_, sql) => {
  const path = newPath()
  const other = connectTo(path)
  other.exec(sql)
  const before = other.query("SELECT * FROM sqlite_schema").all()
  await expect(openAt(path).recent()).rejects.toMatchObject({
    code: "corrupt",
    message: expect.stringContaining("another program") as string,
  })
  expect(other.query("SELECT * FROM sqlite_schema").all()).toEqual(before)
})

test("a file that is no database is `corrupt`, and an add to it is reported", async () => {
  const path = newPath()
  const content = "These are notes. ".repeat(1000)
  writeFileSync(path, content)
  const onError = vi.fn<(error: unknown) => void>()
  const history = openAt(path, { onError })
  await expect(history.recent()).rejects.toMatchObject({ code: "corrupt" })
  history.add("one")
  await history.flush()
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: "corrupt" }))
  expect(readFileSync(path, "utf8")).toBe(content)
})

test("a file of a newer version is `unsupported`", async () => {
  const path = newPath()
  const history = createSqliteHistory({ path })
  await history.recent()
  await history.close()
  connectTo(path).exec("PRAGMA user_version = 99")
  await expect(openAt(path).recent()).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("version 99") as string,
  })
})

test("an index that is missing, that other programs left behind, or that lacks starts of words, is made again", async () => {
  const path = newPath()
  const damages = [
    "DROP TRIGGER history_ai; DROP TRIGGER history_ad; DROP TRIGGER history_au; DROP TABLE history_fts",
    "DROP TRIGGER history_ai; INSERT INTO history (prompt, created_at) VALUES ('added zebra', 1)",
    "DROP TRIGGER history_ad; DELETE FROM history WHERE prompt = 'one zebra'",
    "INSERT INTO history_fts (history_fts) VALUES ('delete-all')",
    "DROP TABLE history_fts; CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id', prefix='1 2 3')",
  ]
  for (const damage of damages) {
    const history = createSqliteHistory({ path })
    history.add("one zebra")
    history.add("two")
    await history.close()
    const db = connect(path)
    db.exec(damage)
    db.close()
    const again = createSqliteHistory({ path })
    // So that the index is asked.
    for (let n = 0; n < 2_100; n++) again.add(`later ${n}`)
    const expected = damage.includes("added")
      ? ["added zebra", "one zebra"]
      : damage.includes("WHERE")
        ? []
        : ["one zebra"]
    expect({ damage, found: await prompts(again.search("zebra")) }).toEqual({ damage, found: expected })
    expect(await again.clear()).toBeGreaterThan(2_000)
    await again.close()
    const check = connectTo(path)
    expect(check.query("SELECT sql FROM sqlite_schema WHERE name = 'history_fts'").get()).toEqual({
      sql: expect.stringContaining("prefix='1 2 3 4 5 6 7 8'"),
    })
    check.exec("INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
  }
})

test.each([
  ["its structure", "id = 10"],
  ["its words", "id > 10"],
])("an index with damage in %s is made again by the call that meets it, and no prompt is lost", async (_, where) => {
  const calls = {
    // Where SQLite looks at what is in the index: Deno's does not, and the next search finds the damage.
    add: async (history: PromptHistory) => {
      history.add("new zebra")
      await history.flush()
      return prompts(history.search("new"))
    },
    search: (history: PromptHistory) => prompts(history.search("zebra")),
    delete: async (history: PromptHistory) => {
      await history.delete(1)
      return prompts(history.search("zebra"))
    },
    clear: async (history: PromptHistory) => {
      await history.clear()
      return prompts(history.recent())
    },
  }
  const found: Record<string, readonly string[]> = {}
  for (const [name, call] of Object.entries(calls)) {
    const path = newPath()
    const history = createSqliteHistory({ path })
    history.add("one zebra")
    // So that the index is asked.
    for (let n = 0; n < 2_100; n++) history.add(`later ${n}`)
    await history.close()
    damageIndex(path, where)
    found[name] = await call(openAt(path))
    if (name !== "add")
      connectTo(path).exec("INSERT INTO history_fts (history_fts, rank) VALUES ('integrity-check', 1)")
  }
  expect(found).toEqual({ add: ["new zebra"], search: ["one zebra"], delete: [], clear: [] })
})

/** Overwrites the beginnings of blocks of the index, in the file: SQLite refuses to write to the table in which they are. */
function damageIndex(path: string, where: string): void {
  const db = connect(path)
  const blocks = db.query<{ block: Uint8Array }>(`SELECT block FROM history_fts_data WHERE ${where}`).all()
  db.close()
  const bytes = readFileSync(path)
  for (const { block } of blocks) {
    const at = bytes.indexOf(block.subarray(0, 200))
    expect(at).toBeGreaterThan(0)
    bytes.fill(0xff, at, at + Math.min(block.length, 200))
  }
  writeFileSync(path, bytes)
}

test("deleted and cleared prompts are in none of the files, also while others have them open", async () => {
  const path = newPath()
  const [history, other] = [openAt(path), openAt(path)]
  const contains = (text: string): boolean =>
    ["", "-wal"].some((name) => existsSync(path + name) && readFileSync(path + name).includes(text))
  onTestFinished(() => void vi.restoreAllMocks())
  const now = vi.spyOn(Date, "now").mockReturnValue(1_000_000)
  for (let n = 0; n < 250; n++) history.add(`older secretolder${n} ${"pad ".repeat(n * 10)}`)
  now.mockRestore()
  for (const prompt of ["keep one", "delete secretdeleted", "keep two", "clear secretcleared"]) history.add(prompt)
  await history.flush()
  await other.recent()
  for (const text of ["secretdeleted", "secretcleared", "secretolder"]) expect(contains(text)).toBe(true)
  const [found] = await history.search("secretdeleted")
  await history.delete(found?.id as number)
  expect([contains("secretdeleted"), contains("secretdele")]).toEqual([false, false])
  expect(await history.clear({ olderThan: new Date(2_000_000) })).toBe(250)
  expect(contains("secretolder")).toBe(false)
  expect(contains("secretcleared")).toBe(true)
  await history.clear()
  expect([contains("secretcleared"), contains("keep")]).toEqual([false, false])
})

test("text that was deleted in a file of oh-my-pi is in none of the files", async () => {
  const path = newPath()
  const other = connectTo(path)
  other.exec(`${OH_MY_PI} ${OH_MY_PI_WORDS} INSERT INTO history (prompt) VALUES ('one secretword'), ('two')`)
  const history = openAt(path)
  await history.delete(1)
  expect(["", "-wal"].some((name) => readFileSync(path + name).includes("secretword"))).toBe(false)
})

test("a file that is removed or replaced while it is open is opened again, so nothing that is flushed is lost", async () => {
  const path = newPath()
  const history = openAt(path)
  history.add("one")
  await history.flush()
  const removeFiles = (): void => ["-wal", "-shm", ""].forEach((name) => rmSync(path + name))
  removeFiles()
  history.add("two")
  await history.flush()
  expect(await prompts(openAt(path).recent())).toEqual(["two"])

  const other = newPath()
  const restored = openAt(other)
  restored.add("restored")
  await restored.close()
  removeFiles()
  renameSync(other, path)
  history.add("three")
  await history.flush()
  expect(await prompts(history.recent())).toEqual(["three", "restored"])
  expect(await prompts(openAt(path).recent())).toEqual(["three", "restored"])
})

test.each([
  ["a file", (folder: string) => writeFileSync(folder, "")],
  ["a link that leads nowhere", (folder: string) => symlinkSync(folder, folder)],
])(
  "with %s in the place of its folder a history that is open is `misconfigured`, and goes on when the folder is back",
  async (_, put) => {
    const path = newPath()
    const folder = dirname(path)
    const history = openAt(path)
    history.add("one")
    await history.flush()
    renameSync(folder, `${folder}.moved`)
    put(folder)
    await expect(history.recent()).rejects.toMatchObject({ code: "misconfigured" })
    rmSync(folder)
    renameSync(`${folder}.moved`, folder)
    history.add("two")
    await history.flush()
    expect(await prompts(openAt(path).recent())).toEqual(["two", "one"])
  },
)

test("a runtime without SQLite gets `unsupported`, with what to do", async () => {
  const lookUp = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined)
  onTestFinished(() => lookUp.mockRestore())
  const history = createSqliteHistory({ path: newPath() })
  await expect(history.recent()).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("Node 22.13") as string,
  })
  await history.close()
})

test("another library opens the file", async () => {
  const path = newPath()
  const open = vi.fn<() => never>(() => {
    throw new Error("the other library")
  })
  await expect(openAt(path, { open }).recent()).rejects.toThrow("the other library")
  expect(open).toHaveBeenCalledExactlyOnceWith(path)
})

test.each([
  [{}, "`path`"],
  [{ path: "" }, "`path`"],
  [{ path: ":memory:" }, "createMemoryHistory"],
  [{ path: "x", pth: "y" }, 'Did you mean "path"?'],
  [{ path: "x", open: "node:sqlite" }, "`open`"],
  [{ path: "x", redact: "no" }, "`redact`"],
])("the options %j are `invalid`", (options, text) => {
  expect(() => createSqliteHistory(options as never)).toThrow(
    expect.objectContaining({ code: "invalid", message: expect.stringContaining(text) as string }),
  )
})
