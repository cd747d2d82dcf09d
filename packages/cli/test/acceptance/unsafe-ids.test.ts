import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Sessions } from "@sessions/core"
import {
  continueRecent,
  copySession,
  deletePointer,
  exportSession,
  forkSession,
  getPointer,
  importSession,
  migrateSession,
  setPointer,
  verifySession,
} from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"
import { expect, test } from "vitest"
import { runProcess } from "../cli-process.ts"
import { header, jsonl, log } from "./logs.ts"
import { contentsOf, createWorkspace, refusal, type Workspace } from "./workspace.ts"

/** Text that must never be accepted as a session id. */
const UNSAFE_IDS = [
  "../x",
  "",
  "x".repeat(129),
  "a\0b",
  "a/b",
  "..",
  ".",
  "%2e%2e",
  "..\\x",
  "/etc",
  "a..b",
  ".locks",
  ".blobs",
  "@g@con",
  "x\ny",
  "ｘ",
  "x ",
  "~",
] as const

/** A store with one session, with files around it that a path out of the store would reach. */
async function withNeighbours(): Promise<Workspace> {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("from-file"))
  await workspace.cli("import", "in.jsonl", "--id", "keep")
  for (const folder of [
    join(workspace.cwd, "x"),
    join(workspace.root, "x"),
    join(workspace.cwd, "a"),
    join(workspace.root, "%2e%2e"),
  ]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "session.jsonl"), jsonl(header("victim")))
    writeFileSync(join(folder, "metadata.json"), "{}")
  }
  writeFileSync(join(workspace.cwd, "session.jsonl"), "not yours\n")
  return workspace
}

function commandsWith(id: string): string[][] {
  return [
    ["export", id],
    ["export", id, "--format", "markdown", "--out", "out.md"],
    ["show", id],
    ["context", id],
    ["tree", id],
    ["branches", id],
    ["branch", id, "e1"],
    ["resume", id, "--pointer", "tty"],
    ["fork", id],
    ["fork", "keep", "--id", id],
    ["rename", id, "title"],
    ["label", id, "m1", "name"],
    ["move", id, "/elsewhere"],
    ["rm", id, "--yes"],
    ["rm", id, "--entry", "m1"],
    ["copy", id, "--to", "./other"],
    ["migrate", id],
    ["verify", id],
    ["import", "in.jsonl", "--id", id],
    ["resume", "keep", "--pointer", id],
    ["resume", "--pointer", id],
  ]
}

test.each(UNSAFE_IDS)("no command accepts %j as an id, and no file changes", async (id) => {
  const workspace = await withNeighbours()
  const before = contentsOf(workspace.root)
  for (const argv of commandsWith(id)) {
    const result = await workspace.cli(...argv)
    expect(refusal(1, 2)(result), JSON.stringify(argv)).toBeUndefined()
  }
  expect(contentsOf(workspace.root)).toEqual(before)
})

test.each(UNSAFE_IDS)("an entry id %j is not found, and nothing is written", async (id) => {
  const workspace = await withNeighbours()
  const before = workspace.log("keep")
  const calls = [
    ["rm", "keep", "--entry", id],
    ["fork", "keep", "--at", id],
    ["label", "keep", id, "name"],
  ]
  for (const argv of calls) {
    expect(refusal(1, 2)(await workspace.cli(...argv)), JSON.stringify(argv)).toBeUndefined()
    expect(workspace.log("keep").equals(before), JSON.stringify(argv)).toBe(true)
  }
  const { sessions } = JSON.parse((await workspace.cli("list", "--json")).stdout) as { sessions: unknown[] }
  expect(sessions.length).toBe(1)
})

type Call = (sessions: Sessions, id: string) => Promise<unknown>

const METHODS: Readonly<Record<string, Call>> = {
  create: (s, id) => s.create({ id }),
  open: (s, id) => s.open(id),
  openOrCreate: (s, id) => s.openOrCreate(id),
  info: (s, id) => s.info(id),
  rename: (s, id) => s.rename(id, "title"),
  move: (s, id) => s.move(id, { cwd: "/x" }),
  delete: (s, id) => s.delete(id),
  fork: (s, id) => forkSession(s, id),
  "fork to": (s, id) => forkSession(s, "keep", { id }),
  import: (s, id) => importSession(s, log("from-file"), { id }),
  export: (s, id) => exportSession(s, id)[Symbol.asyncIterator]().next(),
  copy: (s, id) => copySession(s, id, s.storage),
  migrate: (s, id) => migrateSession(s, id),
  verify: (s, id) => verifySession(s, id),
  "pointers.set name": (s, id) => setPointer(s, id, { session: "keep" }),
  "pointers.get": (s, id) => getPointer(s, id),
  "pointers.delete": (s, id) => deletePointer(s, id),
  "continueRecent pointer": (s, id) => continueRecent(s, { cwd: "/p", pointer: id }),
  "storage.append": (s, id) => s.storage.append(id, ["{}"], { expect: 0 }),
  "storage.head": (s, id) => s.storage.head(id),
  "storage.delete": (s, id) => s.storage.delete(id),
  "storage.read": (s, id) => s.storage.read(id)[Symbol.asyncIterator]().next(),
  "storage.docs.put": (s, id) => s.storage.docs.put(`sessions/${id}/info`, "{}", { expect: null }),
  "storage.docs.put name": (s, id) => s.storage.docs.put(id, "{}", { expect: null }),
  "storage.docs.delete": (s, id) => s.storage.docs.delete(`sessions/${id}/info`, { expect: "v" }),
  "storage.blobs.get": (s, id) => s.storage.blobs.get(id),
  "storage.blobs.delete": (s, id) => s.storage.blobs.delete(id),
}

test.each(UNSAFE_IDS)("every method refuses the id %j as invalid, and no file changes", async (id) => {
  const workspace = await withNeighbours()
  const sessions = workspace.open()
  const before = contentsOf(workspace.root)
  for (const [name, call] of Object.entries(METHODS)) {
    const outcome = await call(sessions, id).then(
      () => "resolved",
      (error: unknown) => (error as { code?: unknown }).code,
    )
    expect(outcome, name).toBe("invalid")
  }
  expect(contentsOf(workspace.root)).toEqual(before)
})

test("an id that is not a string is refused as invalid", async () => {
  const workspace = await withNeighbours()
  const sessions = workspace.open()
  const before = contentsOf(workspace.root)
  for (const id of [7, ["keep"], { toString: () => "../x" }] as unknown as string[]) {
    for (const [name, call] of Object.entries(METHODS)) {
      if (name.startsWith("pointers") || name.includes("pointer") || name.includes("docs")) continue
      const refused = await call(sessions, id).then(
        () => "resolved",
        (error: unknown) => (error as { code?: unknown }).code,
      )
      expect(refused, `${name} ${typeof id}`).toBe("invalid")
    }
  }
  expect(contentsOf(workspace.root)).toEqual(before)
})

test("device names of Windows, and ids that differ only in case, are separate sessions", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  const ids = ["CON", "con", "Aux.x", "aux.x", "NUL", "abc", "ABC", "x".repeat(128)]
  for (const id of ids)
    expect(await workspace.cli("import", "in.jsonl", "--id", id)).toMatchObject({ exit: 0, stdout: `${id}\n` })
  const names = Object.keys(contentsOf(workspace.store)).map((path) => path.split("/")[0]?.toLowerCase() ?? "")
  for (const name of names) expect(name).not.toMatch(/^(con|aux|nul)(\.|$)/)
  const { sessions } = JSON.parse((await workspace.cli("list", "--json")).stdout) as { sessions: { id: string }[] }
  expect(sessions.map(({ id }) => id).sort()).toEqual([...ids].sort())
  await workspace.cli("rm", "CON", "--yes")
  expect((await workspace.cli("show", "con")).exit).toBe(0)
  expect((await workspace.cli("verify", "--all")).stdout).toContain("7 sessions, 0 damaged")
})

test("a process refuses an unsafe id with one line", async () => {
  const workspace = await withNeighbours()
  const before = contentsOf(workspace.root)
  expect(refusal(2)(await runProcess({ cwd: workspace.cwd }, "rm", "../x", "--yes"))).toBeUndefined()
  expect(contentsOf(workspace.root)).toEqual(before)
})

test("a store with an unusual folder path writes only below its folder", async () => {
  const workspace = await withNeighbours()
  const storage = createFileStorage({ root: join(workspace.cwd, "with space", "..", "store") })
  await storage.append("id", ["{}"], { expect: 0 })
  await storage[Symbol.asyncDispose]()
  expect(Object.keys(contentsOf(workspace.cwd)).filter((path) => path.startsWith("store/id/"))).toContain(
    "store/id/session.jsonl",
  )
})
