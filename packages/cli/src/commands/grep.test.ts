import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { expect, onTestFinished, test } from "vitest"
import { captured, createCli } from "../../test/harness.ts"
import { run } from "../index.ts"
import { indexFolderOf } from "../store/search-index.ts"

/** Two sessions with two messages each. */
async function filled(): Promise<{ readonly cli: ReturnType<typeof createCli>; readonly ids: readonly string[] }> {
  const cli = createCli({ now: () => Date.parse("2026-02-16T12:00:00.000Z") })
  const ids = await cli.use(async (sessions) => {
    const made: string[] = []
    for (const [cwd, hour] of [
      ["/project", "10"],
      ["/other", "11"],
    ]) {
      const session = await sessions.create({ cwd: cwd as string })
      const timestamp = `2026-02-16T${hour}:20:00.000Z`
      const { ids: own } = await session.append([
        { type: "message", timestamp, message: { role: "user", content: "Where is the deploy key?" } },
        { type: "message", timestamp, message: { role: "assistant", content: "In the \u001b[31m vault\u202e." } },
      ])
      made.push(session.id, ...own)
    }
    return made
  })
  return { cli, ids }
}

test("shows session, time, role, entry and the line with the match, newest first", async () => {
  const { cli, ids } = await filled()
  const { stdout, stderr, exit } = await cli("grep", "--no-index", "key", "dep")
  expect({ stderr, exit }).toEqual({ stderr: "", exit: 0 })
  expect(stdout).toBe(
    `${ids[3]}  2026-02-16 11:20  user  ${ids[4]}\n  Where is the deploy key?\n` +
      `${ids[0]}  2026-02-16 10:20  user  ${ids[1]}\n  Where is the deploy key?\n`,
  )
})

test("marks the match with colour on a terminal, without NO_COLOR only, and shows no control character of a log", async () => {
  const { cli } = await filled()
  const plain = { terminal: 200, env: { NO_COLOR: "1" } }
  const coloured = await cli.with({ terminal: 200 }, "grep", "--no-index", "vault", "--cwd", "/other")
  expect(coloured.stdout).toContain("\u001b[33mvault\u001b[0m")
  const { stdout } = await cli.with(plain, "grep", "--no-index", "vault")
  expect(stdout).not.toContain("\u001b")
  expect(stdout).not.toContain("\u202e")
  expect(stdout).toContain("In the \u241b[31m vault\\u202e.")
})

test("filters by folder and role, gives pages, and prints JSON", async () => {
  const { cli, ids } = await filled()
  type Found = { hits: { entryId: string }[]; next?: string }
  const find = async (...options: string[]): Promise<Found> => cli.json("grep", "--no-index", "the", ...options)
  expect((await find("--cwd", ".", "--role", "user")).hits.map(({ entryId }) => entryId)).toEqual([ids[1]])
  expect((await find("--role", "assistant")).hits).toHaveLength(2)
  const first = await find("--limit", "3")
  expect(first.hits).toHaveLength(3)
  const rest = await find("--limit", "3", "--cursor", first.next as string)
  expect(rest.hits.map(({ entryId }) => entryId)).toEqual([ids[1]])
  expect(rest.next).toBeUndefined()
  expect((await find("--best")).hits).toHaveLength(4)
})

test("says that nothing matches, and refuses wrong usage", async () => {
  const { cli } = await filled()
  expect(await cli("grep", "--no-index", "absent")).toMatchObject({
    exit: 1,
    stdout: expect.stringMatching(/^No match in memory/),
  })
  expect((await cli("grep", "--no-index", "absent", "--json")).exit).toBe(1)
  expect((await cli("grep")).stderr).toMatch(/^sessions: grep needs WORDS; see/)
  expect((await cli("grep", "a", "--limit", "0")).exit).toBe(2)
  expect((await cli("grep", "a", "--rebuild", "--no-index")).exit).toBe(2)
})

test("keeps its index beside a file store, and builds it again with --rebuild", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessions-grep-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const root = join(folder, "store")
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const session = await sessions.create()
  await session.append({ type: "message", message: { role: "user", content: "the deploy key" } })
  await sessions.close()
  const grep = async (...argv: string[]): Promise<string> => {
    const { io, stdout, stderr } = captured({ cwd: folder })
    const exit = await run(["grep", "--store", "store", ...argv], io)
    expect({ exit, stderr: stderr() }).toEqual({ exit: 0, stderr: "" })
    return stdout()
  }
  expect(await grep("deploy", "--no-index")).toContain("the deploy key")
  expect(existsSync(join(root, ".search"))).toBe(false)
  expect(await grep("deploy")).toContain("the deploy key")
  const before = readdirSync(join(root, ".search"))
  expect(before).toHaveLength(1)
  expect(await grep("deploy")).toContain("the deploy key")
  expect(readdirSync(join(root, ".search"))).toEqual(before)
  expect(await grep("deploy", "--rebuild")).toContain("the deploy key")
  expect(readdirSync(join(root, ".search"))).not.toEqual(before)
  expect(await grep("key")).toContain(session.id)
})

test("keeps the index of a store without a path in the cache folder, under a name that does not show the address", () => {
  const at = (store: string): string | undefined =>
    indexFolderOf(store, { cwd: "/work", env: { XDG_CACHE_HOME: "/cache" } })
  expect(at("memory:")).toBeUndefined()
  expect(at("file:./.sessions")).toBe(join("/work", ".sessions", ".search"))
  expect(at("sqlite:sessions.db")).toBe(join("/work", "sessions.db-search"))
  expect(at("postgres://me:secret@host/db")).toMatch(/^[/\\]cache[/\\]sessions[/\\]search[/\\][0-9a-f]{32}$/)
  expect(at("s3:a")).not.toBe(at("s3:b"))
})

test("an index that cannot be written is told with --no-index, which searches the same store", async () => {
  const root = mkdtempSync(join(tmpdir(), "sessions-grep-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  await (await sessions.create()).append({ type: "message", message: { role: "user", content: "a needle" } })
  await sessions.close()
  // As on a file system that is mounted read-only, no folder can be made there.
  writeFileSync(join(root, ".search"), "")
  const grep = async (...argv: string[]): Promise<{ exit: number; stderr: string }> => {
    const { io, stderr } = captured({ cwd: root })
    return { exit: await run(["grep", "needle", "--store", `file:${root}`, ...argv], io), stderr: stderr() }
  }
  const named = expect.stringMatching(/^sessions: [^\n]*--no-index[^\n]*\n$/) as string
  expect(await grep()).toEqual({ exit: 1, stderr: named })
  expect(await grep("--no-index")).toEqual({ exit: 0, stderr: "" })
})
