import * as fs from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createCheckpoints } from "@sessions/checkpoints"
import { createWorkFiles } from "@sessions/checkpoints/node"
import { afterEach, beforeEach, expect, test } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"

let folder: string
let cli: Cli
let message: string

/** A session whose agent changed `a` and made `new` in its only turn. */
beforeEach(async () => {
  folder = fs.mkdtempSync(join(tmpdir(), "sessions-rewind-"))
  fs.writeFileSync(join(folder, "a"), "a0")
  cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "s", cwd: folder })
    const { storage } = sessions
    const checkpoints = createCheckpoints({ storage, files: createWorkFiles(folder) }).of(session)
    const { ids } = await session.append({ type: "message", message: { role: "user", content: "change a" } })
    message = ids[0] as string
    await checkpoints.begin(message)
    for (const path of ["a", "new"]) {
      await checkpoints.track(path)
      fs.writeFileSync(join(folder, path), "1")
    }
  })
})

afterEach(() => fs.rmSync(folder, { recursive: true }))

const read = (path: string): string | undefined =>
  fs.existsSync(join(folder, path)) ? fs.readFileSync(join(folder, path), "utf8") : undefined

test("checkpoints lists the snapshots with their messages", async () => {
  expect(await cli.json("checkpoints", "s")).toMatchObject({
    id: "s",
    root: folder,
    snapshots: [
      {
        messageId: message,
        reason: "turn",
        files: [
          { path: "a", version: 1, state: "file", bytes: 2 },
          { path: "new", version: 1, state: "absent", bytes: 0 },
        ],
        text: "change a",
      },
    ],
  })
  const { stdout } = await cli("checkpoints", "s")
  expect(stdout).toMatch(new RegExp(`2 files +${message} +change a`))
})

test("rewind returns the files, and prints the snapshot that undoes it", async () => {
  const { undo, ...result } = (await cli.json("rewind", "s", message, "--yes")) as { undo: string }
  expect(result).toEqual({
    id: "s",
    root: folder,
    restored: ["a"],
    removed: ["new"],
    unchanged: [],
    skipped: [],
    failed: [],
  })
  expect([read("a"), read("new")]).toEqual(["a0", undefined])
  const { stdout } = await cli("rewind", "s", undo, "--yes")
  expect(stdout).toMatch(/^restored a\nrestored new\n/)
  expect([read("a"), read("new")]).toEqual(["1", "1"])
  expect((await cli("checkpoints", "s")).stdout).toContain("before a rewind to this message")
})

test("rewind evicts no snapshot: the agent's program may keep more than this one would", async () => {
  await cli.use(async (sessions) => {
    const session = await sessions.open("s")
    const { storage } = sessions
    const files = createWorkFiles(folder)
    const checkpoints = createCheckpoints({ storage, files, maxSnapshots: 1_000 }).of(session)
    const entry = { type: "message", message: { role: "user", content: "go on" } } as const
    const { ids } = await session.append(Array.from({ length: 105 }, () => entry))
    for (const id of ids) await checkpoints.begin(id)
  })
  await cli("rewind", "s", message, "--yes")
  expect(await cli.json("checkpoints", "s")).toMatchObject({ snapshots: { length: 107 } })
})

test("rewind --dry-run only shows what it would do", async () => {
  const { stdout } = await cli("rewind", "s", message, "--dry-run")
  expect(stdout).toBe(`restore a\nremove new\n0 files of ${folder} unchanged\n`)
  expect([read("a"), read("new")]).toEqual(["1", "1"])
})

test("rewind shows what it would do and asks on a terminal", async () => {
  const terminal = { terminal: 200, env: { NO_COLOR: "1" } }
  const refused = await cli.with({ ...terminal, stdin: "n\n" }, "rewind", "s", message)
  expect(refused).toMatchObject({ exit: 1, stdout: expect.stringMatching(/^restore a\nremove new\n/) })
  expect(read("a")).toBe("1")
  expect(await cli.with({ ...terminal, stdin: "y\n" }, "rewind", "s", message)).toMatchObject({ exit: 0 })
  expect(read("a")).toBe("a0")
})

test("rewind without a terminal needs --yes, so does --json", async () => {
  expect(await cli("rewind", "s", message)).toMatchObject({ exit: 2, stdout: "" })
  expect((await cli("rewind", "s", message, "--json")).stderr).toMatch(/add --yes/)
  expect(read("a")).toBe("1")
})

test("rewind --conversation moves the leaf to before the message", async () => {
  await cli.json("rewind", "s", message, "--yes", "--conversation")
  expect(await cli.json("context", "s")).toMatchObject({ messages: [] })
})

test("rewind takes the folder of --root, and says what failed", async () => {
  const other = fs.mkdtempSync(join(tmpdir(), "sessions-rewind-"))
  fs.mkdirSync(join(other, "a"))
  fs.writeFileSync(join(other, "a", "by-hand"), "")
  const { exit, stdout } = await cli("rewind", "s", message, "--yes", "--root", other)
  expect({ exit, stdout }).toMatchObject({ exit: 1, stdout: expect.stringMatching(/^failed a: .*not empty/) })
  expect(read("a")).toBe("1")
  fs.rmSync(other, { recursive: true })
})

test("rewind to an unknown message names the oldest that is there", async () => {
  const { exit, stderr } = await cli("rewind", "s", "nowhere", "--yes")
  expect({ exit, stderr }).toMatchObject({ exit: 1, stderr: expect.stringContaining(message) })
})
