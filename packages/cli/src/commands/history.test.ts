import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSqliteHistory } from "@sessions/history/sqlite"
import { connect } from "@sessions/sqlite/driver"
import { expect, onTestFinished, test, vi } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"

const NOW = Date.UTC(2026, 1, 16, 12)
const DAY = 86_400_000

/** A folder with three prompts, typed 40, 2 and 0 days ago, in the history of the default store. */
async function filled(file = ".sessions/history.db"): Promise<{ cli: Cli; cwd: string; path: string }> {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-cli-history-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const path = join(cwd, file)
  const history = createSqliteHistory({ path })
  const now = vi.spyOn(Date, "now")
  for (const [prompt, folder, days] of [
    ["fix the tests", "/project", 40],
    ["fix it", cwd, 2],
    ["run\nthe tests", "/project", 0],
  ] as const) {
    now.mockReturnValue(NOW - days * DAY)
    history.add(prompt, { cwd: folder })
  }
  now.mockRestore()
  await history.close()
  return { cli: createCli({ cwd, now: () => NOW }), cwd, path }
}

test("lists age, folder and prompt, newest first, on one line each", async () => {
  const { cli, cwd } = await filled()
  const { stdout, stderr, exit } = await cli("history")
  expect({ stderr, exit }).toEqual({ stderr: "", exit: 0 })
  const folder = (name: string): string => name.padEnd(cwd.length)
  expect(stdout.split("\n")).toEqual([
    ` AGE  ${folder("FOLDER")}  PROMPT`,
    ` now  ${folder("/project")}  run the tests`,
    ` 2 d  ${folder(cwd)}  fix it`,
    `40 d  ${folder("/project")}  fix the tests`,
    "",
  ])
})

test("finds prompts with words, of a folder, and limits them", async () => {
  const { cli, cwd, path } = await filled()
  const found = async (...argv: string[]): Promise<string[]> => {
    const { file, prompts } = (await cli.json("history", ...argv)) as { file: string; prompts: { prompt: string }[] }
    expect(file).toBe(path)
    return prompts.map(({ prompt }) => prompt)
  }
  expect(await found("test", "FI")).toEqual(["fix the tests"])
  expect(await found("fix", "--limit", "1")).toEqual(["fix it"])
  expect(await found("--cwd", ".")).toEqual(["fix it"])
  expect(await found("--cwd", "/project", "tests")).toEqual(["run\nthe tests", "fix the tests"])
  expect(await found("clear.")).toEqual([])
  expect(await found("clear", "tests")).toEqual([])
  expect((await cli("history", "absent")).stdout).toBe(`No such prompt in ${cwd}/.sessions/history.db.\n`)
})

test("prints prompts as JSON with id, time and folder", async () => {
  const { cli } = await filled()
  expect(await cli.json("history", "--limit", "1")).toMatchObject({
    prompts: [{ id: 3, prompt: "run\nthe tests", at: "2026-02-16T12:00:00.000Z", cwd: "/project" }],
  })
})

test("of a store with sessions, lists what was typed in them, newest first over all of them", async () => {
  const { cli } = await filled()
  await cli.use(async (sessions) => {
    for (const [id, hours, source] of [
      ["a", [1, 5], "interactive"],
      ["b", [2, 3], "interactive"],
      ["job", [0], "cron"],
    ] as const) {
      const session = await sessions.create({ id, cwd: `/${id}`, source })
      for (const hour of hours.toSorted((x, y) => y - x)) {
        const timestamp = new Date(NOW - hour * 3_600_000).toISOString()
        await session.append([
          { type: "message", timestamp, message: { role: "user", content: `prompt of Zoë ${hour}` } },
          { type: "message", timestamp, message: { role: "assistant", content: `answer ${hour}` } },
          { type: "message", timestamp, message: { role: "user", content: "injected", synthetic: true } },
        ])
      }
      await session.close()
    }
  })
  const found = async (...argv: string[]): Promise<string[]> => {
    const { prompts } = (await cli.json("history", ...argv)) as { prompts: { session: string; prompt: string }[] }
    return prompts.map(({ session, prompt }) => `${session} ${prompt.slice(-1)}`)
  }
  expect(await found()).toEqual(["a 1", "b 2", "b 3", "a 5"])
  expect(await found("--limit", "2")).toEqual(["a 1", "b 2"])
  expect(await found("zoe", "pro", "--cwd", "/b")).toEqual(["b 2", "b 3"])
  expect(await found("answer")).toEqual([])
  const { stdout } = await cli("history", "--limit", "1")
  expect(stdout).toContain("1 h  /a      prompt of Zoë 1")
  expect((await cli("history", "absent")).stdout).toMatch(/^No such prompt in the sessions of /)
  // The file is there still.
  expect((await cli("history", "--file", ".sessions/history.db", "--limit", "1")).stdout).toContain("run the tests")
})

test("clear deletes prompts that are older than an age, or all", async () => {
  const { cli, path } = await filled()
  expect((await cli("history", "clear", "--older-than", "30d", "--yes")).stdout).toBe(`deleted 1 prompt of ${path}\n`)
  expect(await cli.json("history", "clear", "--older-than", "1w", "--yes")).toEqual({ file: path, deleted: 0 })
  expect(await cli.json("history", "clear", "--older-than", "47h", "--yes")).toEqual({ file: path, deleted: 1 })
  expect(await cli.json("history", "clear", "--yes")).toEqual({ file: path, deleted: 1 })
  expect(await cli.json("history")).toEqual({ file: path, prompts: [] })
})

test("clear asks on a terminal, and deletes nothing unless the answer is yes", async () => {
  const { cli } = await filled()
  const refused = await cli.with({ terminal: 80, stdin: "n\n" }, "history", "clear", "--older-than", "30d")
  expect(refused.exit).toBe(1)
  expect(refused.stdout).toMatch(/^Delete the prompts older than 30d of .*history\.db\? \[y\/N\] $/)
  expect(refused.stderr).toContain("nothing was deleted")
  const { prompts } = (await cli.json("history")) as { prompts: unknown[] }
  expect(prompts).toHaveLength(3)
  expect((await cli.with({ terminal: 80, stdin: "y\n" }, "history", "clear")).stdout).toMatch(/deleted 3 prompts/)
})

test.each([
  [["clear"], "--yes"],
  [["clear", "--json"], "--yes"],
  [["clear", "--yes", "--limit", "5"], '--limit is for "sessions history" only'],
  [["clear", "--yes", "--cwd", "."], '--cwd is for "sessions history" only'],
  [["fix", "--yes"], '--yes is for "sessions history clear" only'],
  [["--older-than", "30d"], '--older-than is for "sessions history clear" only'],
  [["clear", "--yes", "--older-than", "30"], "an age such as 12h, 30d or 8w"],
  [["--limit", "1001"], "from 1 to 1000"],
  [["--store", "mem:"], "--file PATH"],
])("%j is wrong usage", async (args, text) => {
  const { cli } = await filled()
  const { exit, stderr, stdout } = await cli("history", ...args)
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" })
  expect(stderr).toContain(text)
})

test("a history that is missing is a failure, and no file is made", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-cli-history-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  mkdirSync(join(cwd, ".sessions"))
  const { exit, stderr } = await createCli({ cwd })("history")
  expect(exit).toBe(1)
  expect(stderr).toContain(`there is no history at ${cwd}/.sessions/history.db`)
})

test("a file can be named, also one of oh-my-pi", async () => {
  const { cli, cwd } = await filled()
  const db = connect(join(cwd, "theirs.db"))
  db.exec(`
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL, created_at INTEGER NOT NULL, cwd TEXT);
    INSERT INTO history (prompt, created_at) VALUES ('theirs', 1700000000)
  `)
  db.close()
  expect(await cli.json("history", "--file", "theirs.db")).toEqual({
    file: join(cwd, "theirs.db"),
    prompts: [{ id: 1, prompt: "theirs", at: "2023-11-14T22:13:20.000Z" }],
  })
})
