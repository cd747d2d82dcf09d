import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"

const DAY = 24 * 60 * 60 * 1000

/** Sessions whose last messages are so many days old. */
async function withSessions(...days: readonly number[]) {
  const cli = createCli()
  for (const day of days) {
    await cli.use(async (sessions) => {
      const session = await sessions.create({ id: `d${day}`, cwd: day > 50 ? "/old" : "/new" })
      const timestamp = new Date(Date.now() - day * DAY).toISOString()
      await session.append({ type: "message", timestamp, message: { role: "user", content: "hi" } })
      await session.close()
    })
  }
  const ids = (): Promise<string[]> =>
    cli.use(async (sessions) => (await sessions.list()).sessions.map(({ id }) => id).toSorted())
  return { cli, ids }
}

test("retention deletes what is older, the oldest first, and --dry-run nothing", async () => {
  const { cli, ids } = await withSessions(1, 40, 90)
  const dry = await cli("retention", "--older-than", "30d", "--dry-run")
  expect(dry.stdout).toMatch(/^d90 .*\nd40 .*\nwould delete 2 sessions .*, 0 skipped\n$/)
  expect(await ids()).toEqual(["d1", "d40", "d90"])
  expect(await cli.json("retention", "--older-than", "30d", "--cwd", "/old", "--yes")).toMatchObject({
    removed: [{ id: "d90" }],
  })
  expect((await cli("retention", "--older-than", "30d", "--yes")).stdout).toContain("deleted 1 session ")
  expect(await ids()).toEqual(["d1"])
})

test("retention takes a folder as the shell completes it, and one that is relative", async () => {
  const { cli } = await withSessions(40, 90)
  for (const folder of ["/old/", "."]) {
    const argv = ["retention", "--older-than", "30d", "--cwd", folder, "--dry-run"]
    expect((await cli.with({ cwd: "/old" }, ...argv)).stdout).toMatch(/^d90 .*\nwould delete 1 session /)
  }
})

test("on a terminal retention asks, unless --yes is given or nothing is old", async () => {
  const { cli, ids } = await withSessions(1, 40)
  const no = await cli.with({ terminal: 80, stdin: "n\n" }, "retention", "--older-than", "30d")
  expect(no).toMatchObject({ exit: 1, stderr: expect.stringContaining("nothing was deleted") })
  expect(no.stdout).toContain("Delete 1 session")
  expect(await ids()).toEqual(["d1", "d40"])
  expect((await cli.with({ terminal: 80, stdin: "y\n" }, "retention", "--older-than", "30d")).exit).toBe(0)
  expect(await ids()).toEqual(["d1"])
  expect((await cli.with({ terminal: 80 }, "retention", "--older-than", "30d")).stdout).not.toContain("[y/N]")
  expect((await cli.with({ terminal: 80 }, "retention", "--older-than", "1h", "--yes")).exit).toBe(0)
  expect(await ids()).toEqual([])
})

test("without a terminal, and with --json, retention needs --yes or --dry-run", async () => {
  const { cli, ids } = await withSessions(40)
  for (const more of [[], ["--json"]]) {
    const { exit, stderr } = await cli("retention", "--older-than", "30d", ...more)
    expect([exit, stderr]).toEqual([2, expect.stringContaining("add --yes")])
  }
  expect((await cli.with({ terminal: 80, stdin: "y\n" }, "retention", "--older-than", "30d", "--json")).exit).toBe(2)
  expect(await ids()).toEqual(["d40"])
})

test("gc takes an age from two hours on", async () => {
  const { cli } = await withSessions(1)
  expect((await cli("gc", "--older-than", "1h")).stderr).toContain("--older-than must be at least 2h")
  expect((await cli("gc", "--older-than", "2h")).exit).toBe(0)
})

test("retention without an age is wrong usage", async () => {
  const { cli } = await withSessions()
  expect((await cli("retention")).exit).toBe(2)
  expect((await cli("retention", "--older-than", "30")).exit).toBe(2)
  expect((await cli("retention", "--older-than", "0d")).exit).toBe(2)
})

test("gc keeps young blobs and says what it removed", async () => {
  const { cli } = await withSessions(1)
  await cli.use(async (sessions) => void (await sessions.storage.blobs.put(new Uint8Array([1]))))
  expect(await cli.json("gc")).toEqual({
    removed: 0,
    bytes: 0,
    swept: { removed: 0, bytes: 0, left: 0 },
    dryRun: false,
  })
  expect((await cli("gc", "--dry-run")).stdout).toMatch(/^would remove 0 blobs/)
})
