import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { expect, test } from "vitest"
import { sessions as sessionsProcess } from "../cli-process.ts"
import { header, jsonl, log } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { contentsOf, makePlace, refusal } from "./workspace.ts"

/** None of these may ever be a session's id. */
const HOSTILE = [
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

/** A store with one session, and beside and above it what a path out of the store would meet. */
async function surrounded(): Promise<Place> {
  const place = makePlace()
  place.file("in.jsonl", log("from-file"))
  await place.cli("import", "in.jsonl", "--id", "keep")
  for (const folder of [
    join(place.cwd, "x"),
    join(place.root, "x"),
    join(place.cwd, "a"),
    join(place.root, "%2e%2e"),
  ]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "session.jsonl"), jsonl(header("victim")))
    writeFileSync(join(folder, "metadata.json"), "{}")
  }
  writeFileSync(join(place.cwd, "session.jsonl"), "not yours\n")
  return place
}

function commandsWith(id: string): string[][] {
  return [
    ["export", id],
    ["export", id, "--format", "markdown", "--out", "out.md"],
    ["show", id],
    ["context", id],
    ["tree", id],
    ["resume", id, "--pointer", "tty"],
    ["fork", id],
    ["fork", "keep", "--id", id],
    ["rename", id, "title"],
    ["label", id, "m1", "name"],
    ["move", id, "/elsewhere"],
    ["rm", id],
    ["rm", id, "--entry", "m1"],
    ["copy", id, "--to", "./other"],
    ["migrate", id],
    ["verify", id],
    ["import", "in.jsonl", "--id", id],
    ["resume", "keep", "--pointer", id],
    ["resume", "--pointer", id],
  ]
}

test.each(HOSTILE)("no command takes %j for an id, and no file is touched", async (id) => {
  const place = await surrounded()
  const before = contentsOf(place.root)
  for (const argv of commandsWith(id)) {
    const result = await place.cli(...argv)
    expect(refusal(1, 2)(result), JSON.stringify(argv)).toBeUndefined()
    expect(contentsOf(place.root), JSON.stringify(argv)).toEqual(before)
  }
})

test.each(HOSTILE)("an entry called %j is not there, and asking for it writes nothing", async (id) => {
  const place = await surrounded()
  const before = place.log("keep")
  const asked = [
    ["rm", "keep", "--entry", id],
    ["fork", "keep", "--at", id],
    ["label", "keep", id, "name"],
  ]
  for (const argv of asked) {
    expect(refusal(1, 2)(await place.cli(...argv)), JSON.stringify(argv)).toBeUndefined()
    expect(place.log("keep").equals(before), JSON.stringify(argv)).toBe(true)
  }
  const { sessions } = JSON.parse((await place.cli("list", "--json")).stdout) as { sessions: unknown[] }
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
  fork: (s, id) => s.fork(id),
  "fork to": (s, id) => s.fork("keep", { id }),
  import: (s, id) => s.import(log("from-file"), { id }),
  export: (s, id) => s.export(id)[Symbol.asyncIterator]().next(),
  copy: (s, id) => s.copy(id, s.storage),
  migrate: (s, id) => s.migrate(id),
  verify: (s, id) => s.verify(id),
  "pointers.set name": (s, id) => s.pointers.set(id, { session: "keep" }),
  "pointers.get": (s, id) => s.pointers.get(id),
  "pointers.delete": (s, id) => s.pointers.delete(id),
  "continueRecent pointer": (s, id) => s.continueRecent({ cwd: "/p", pointer: id }),
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

test.each(HOSTILE)("every method refuses the id %j as invalid, and no file is touched", async (id) => {
  const place = await surrounded()
  const sessions = place.open()
  const before = contentsOf(place.root)
  for (const [name, call] of Object.entries(METHODS)) {
    const outcome = await call(sessions, id).then(
      () => "resolved",
      (error: unknown) => (error as { code?: unknown }).code,
    )
    expect(outcome, name).toBe("invalid")
    expect(contentsOf(place.root), name).toEqual(before)
  }
})

test("what is no text is no id either", async () => {
  const place = await surrounded()
  const sessions = place.open()
  const before = contentsOf(place.root)
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
  expect(contentsOf(place.root)).toEqual(before)
})

test("names that Windows gives to devices, and ids that differ in case only, are sessions of their own", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  const ids = ["CON", "con", "Aux.x", "aux.x", "NUL", "abc", "ABC", "x".repeat(128)]
  for (const id of ids)
    expect(await place.cli("import", "in.jsonl", "--id", id)).toMatchObject({ exit: 0, stdout: `${id}\n` })
  const names = Object.keys(contentsOf(place.store)).map((path) => path.split("/")[0]?.toLowerCase() ?? "")
  for (const name of names) expect(name).not.toMatch(/^(con|aux|nul)(\.|$)/)
  const { sessions } = JSON.parse((await place.cli("list", "--json")).stdout) as { sessions: { id: string }[] }
  expect(sessions.map(({ id }) => id).sort()).toEqual([...ids].sort())
  await place.cli("rm", "CON")
  expect((await place.cli("show", "con")).exit).toBe(0)
  expect((await place.cli("verify", "--all")).stdout).toContain("7 sessions, none damaged")
})

test("a process says the same, with nothing but one line", async () => {
  const place = await surrounded()
  const before = contentsOf(place.root)
  for (const argv of [
    ["show", "../x"],
    ["rm", ""],
    ["import", "in.jsonl", "--id", "a/b"],
  ]) {
    const result = await sessionsProcess({ cwd: place.cwd }, ...argv)
    expect(refusal(2)(result), argv.join(" ")).toBeUndefined()
  }
  expect(contentsOf(place.root)).toEqual(before)
})

test("a store that an id would be below stays within its folder whatever the folder is called", async () => {
  const place = await surrounded()
  const storage = createFileStorage({ root: join(place.cwd, "with space", "..", "store") })
  await storage.append("id", ["{}"], { expect: 0 })
  await storage[Symbol.asyncDispose]()
  expect(Object.keys(contentsOf(place.cwd)).filter((path) => path.startsWith("store/id/"))).toContain(
    "store/id/session.jsonl",
  )
})
