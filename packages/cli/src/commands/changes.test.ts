/** Commands that change a session: each reports the change, and the library sees it. */
import { expect, test, vi } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"
import { makeSample, type Sample } from "../../test/sample.ts"

async function withSample(): Promise<{ cli: Cli } & Sample> {
  const cli = createCli()
  return { cli, ...(await cli.use((sessions) => makeSample(sessions))) }
}

test("rename sets the title and --clear removes it", async () => {
  const { cli, id } = await withSample()
  const title = async (): Promise<string | undefined> => (await cli.use((sessions) => sessions.info(id))).title
  expect((await cli("rename", "@last", "New name")).stdout).toBe(`renamed ${id} to "New name"\n`)
  expect(await title()).toBe("New name")
  expect(await cli.json("rename", id, "--clear")).toEqual({ id, title: null })
  expect(await title()).toBeUndefined()
})

test("move changes the folder that list --cwd uses", async () => {
  const { cli, id } = await withSample()
  expect(await cli.json("move", id, "sub")).toEqual({ id, cwd: "/project/sub" })
  expect(await cli.json("list", "--cwd", "/project/sub")).toMatchObject({ sessions: [{ id }] })
})

test("label sets the label of an entry, --clear removes it, and a missing entry is an error", async () => {
  const { cli, id, entries } = await withSample()
  const labels = async (): Promise<unknown[]> =>
    ((await cli.json("tree", id)) as { entries: { label?: string }[] }).entries.flatMap(({ label }) => label ?? [])
  expect(await cli.json("label", id, entries[0] ?? "", "here")).toEqual({ id, entryId: entries[0], label: "here" })
  expect(await labels()).toEqual(["here"])
  expect((await cli("label", id, entries[0] ?? "", "--clear")).stdout).toBe(`cleared the label of ${entries[0]}\n`)
  expect(await labels()).toEqual([])
  expect((await cli("label", id, "nope", "x")).exit).toBe(1)
})

test("rm deletes a session and prints its size", async () => {
  const { cli, id } = await withSample()
  const { exit, stdout } = await cli("rm", id, "--yes")
  expect(exit).toBe(0)
  expect(stdout).toMatch(new RegExp(`^deleted ${id} \\(1 part, 1\\.\\d kB\\)\n$`))
  expect(await cli("rm", id, "--yes")).toMatchObject({ exit: 1, stdout: "" })
})

test("rm asks on a terminal, names the session, and deletes nothing without a yes", async () => {
  const { cli, id } = await withSample()
  const refused = await cli.with({ terminal: 100, stdin: "n\n" }, "rm", id)
  expect(refused).toMatchObject({ exit: 1, stderr: "sessions: nothing was deleted.\n" })
  expect(refused.stdout).toContain(`Delete ${id}, "fix the tests" with 4 messages? [y/N]`)
  expect((await cli("show", id)).exit).toBe(0)
  expect((await cli.with({ terminal: 100, stdin: "y\n" }, "rm", id)).stdout).toContain(`deleted ${id}`)
})

test("without a terminal, and with --json, rm needs --yes, and deletes nothing without it", async () => {
  const { cli, id } = await withSample()
  for (const more of [[], ["--json"], ["--blobs", "now"]]) {
    const { exit, stderr } = await cli("rm", id, ...more)
    expect([exit, stderr]).toEqual([2, expect.stringContaining("add --yes")])
  }
  expect((await cli.with({ terminal: 80, stdin: "y\n" }, "rm", id, "--json")).exit).toBe(2)
  expect((await cli("show", id)).exit).toBe(0)
})

test("rm --blobs now removes the blobs of the session, and says if some stay", async () => {
  const { cli, id } = await withSample()
  const long = "a long text ".repeat(60_000)
  await cli.use(async (sessions) => {
    const session = await sessions.open(id)
    await session.append({ type: "message", message: { role: "user", content: long } })
    await session.close()
  })
  const blobs = (): Promise<number> =>
    cli.use(async ({ storage }) => {
      let count = 0
      for await (const _ of storage.blobs.list()) count++
      return count
    })
  expect(await blobs()).toBe(1)
  expect((await cli("rm", id, "--blobs", "later", "--yes")).stderr).toContain("--blobs must be one of now, gc")
  expect((await cli("rm", id, "--blobs", "now", "--entry", "x")).exit).toBe(2)
  expect((await cli("rm", id, "--blobs", "now", "--yes")).stdout).toContain("gc --older-than 2h")
  expect(await blobs()).toBe(1)
  const { now } = Date
  vi.spyOn(Date, "now").mockImplementation(() => now() + 3 * 3_600_000)
  expect(await cli.json("gc", "--older-than", "2h", "--without-sessions")).toMatchObject({ removed: 1 })
  vi.restoreAllMocks()
  expect(await blobs()).toBe(0)
})

test("rm --yes does not ask on a terminal", async () => {
  const { cli, id } = await withSample()
  expect((await cli.with({ terminal: 100 }, "rm", id, "--yes")).stdout).toMatch(/^deleted /)
})

test("rm --entry hides one entry and keeps the session", async () => {
  const { cli, id, entries } = await withSample()
  expect(await cli.json("rm", id, "--entry", entries[3] ?? "")).toEqual({ id, entryId: entries[3] })
  const { messages } = (await cli.json("show", id)) as { messages: { entryId: string }[] }
  expect(messages.map(({ entryId }) => entryId)).toEqual(entries.slice(0, 3))
  expect((await cli("rm", id, "--entry", "nope")).exit).toBe(1)
})

test("fork prints the id of a new session that ends at the entry", async () => {
  const { cli, id, entries } = await withSample()
  const forked = (await cli("fork", id, "--at", entries[0] ?? "")).stdout.trim()
  const { messages } = (await cli.json("context", forked)) as { messages: unknown[] }
  expect(messages.length).toBe(1)
  expect(await cli.json("fork", id, "--id", "mine")).toEqual({ id: "mine", from: id })
  expect((await cli("fork", id, "--at", "nope")).exit).toBe(1)
  expect((await cli("fork", id, "--id", "mine")).exit).toBe(1)
  expect((await cli("fork", id, "--id", "../x")).exit).toBe(2)
})

test("copy writes the same log to another store and can be repeated", async () => {
  const { cli, id } = await withSample()
  const exported = (await cli("export", id)).stdout
  for (let i = 0; i < 2; i++) expect(await cli.json("copy", id, "--to", "mem:other")).toMatchObject({ id, lines: 5 })
  expect((await cli("export", id, "--store", "mem:other")).stdout).toBe(exported)
})

test("resume prints the session of the pointer in this folder, otherwise the newest one, and creates one only with --create", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    await makeSample(sessions, { id: "old", cwd: "/project", at: "2026-01-01T00:00:00.000Z" })
    await makeSample(sessions, { id: "new", cwd: "/project" })
  })
  expect((await cli("resume")).stdout).toBe("new\n")
  expect((await cli("resume", "old", "--pointer", "tty1")).stdout).toBe("old\n")
  expect((await cli("resume", "--pointer", "tty1")).stdout).toBe("old\n")
  const none = await cli("resume", "--pointer", "tty1", "--cwd", "/empty")
  expect(none).toMatchObject({ exit: 1, stdout: "" })
  expect(none.stderr).toContain('No session of the folder "/empty"')
  expect(none.stderr).toContain('"sessions resume --create"')
  expect(await cli.use((sessions) => sessions.list())).toMatchObject({ sessions: [{ id: "new" }, { id: "old" }] })
  expect(await cli.json("resume", "--create", "--pointer", "tty1", "--cwd", "/empty")).toMatchObject({
    cwd: "/empty",
    pointer: "tty1",
  })
  expect(["old\n", "new\n"]).not.toContain((await cli("resume", "--create", "--cwd", "/other")).stdout)
})

test("migrate reports that a current log needs no migration", async () => {
  const { cli, id } = await withSample()
  expect(await cli.json("migrate", id)).toMatchObject({ id, migrated: false, from: { version: 4 } })
  expect((await cli("migrate", id)).stdout).toMatch(/nothing to do/)
})
