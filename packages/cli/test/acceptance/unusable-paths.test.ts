import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { sessions as sessionsProcess } from "../cli-process.ts"
import { log } from "./logs.ts"
import type { Place } from "./workspace.ts"
import { contentsOf, makePlace, refusal, refusalOrSuccess } from "./workspace.ts"

const WRITING = (store: string): string[][] => [
  ["import", "in.jsonl", "--store", store],
  ["resume", "--store", store],
  ["resume", "--pointer", "tty", "--store", store],
]

const READING = (store: string): string[][] => [
  ["list", "--store", store],
  ["list", "--all", "--json", "--store", store],
  ["show", "@last", "--store", store],
  ["show", "keep", "--store", store],
  ["context", "keep", "--store", store],
  ["tree", "keep", "--store", store],
  ["export", "keep", "--store", store],
  ["verify", "keep", "--store", store],
  ["rm", "keep", "--store", store],
  ["rename", "keep", "title", "--store", store],
  ["copy", "keep", "--to", "./other", "--store", store],
]

test.each([
  ["a file", "./taken"],
  ["below a file", "./taken/deeper/still"],
  ["where nobody can make a folder", "/proc/self/fd/sessions"],
  ["a device", "/dev/null"],
  ["below a folder with too long a name", `./${"n".repeat(300)}`],
  ["a link that leads nowhere through a file", "./dangling"],
])("a store that is %s: each command says so in one line and changes nothing", async (_, store) => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  place.file("taken", "mine")
  symlinkSync("taken/nothing", join(place.cwd, "dangling"))
  const before = contentsOf(place.root)
  for (const argv of [...WRITING(store), ...READING(store)]) {
    const result = await place.cli(...argv)
    // There may be nothing to list where nothing could be made.
    const isRefused = argv[0] === "list" ? refusalOrSuccess : refusal(1, 2)
    expect(isRefused(result), argv.join(" ")).toBeUndefined()
    expect(contentsOf(place.root), argv.join(" ")).toEqual(before)
  }
})

test("listing a store that is a file is a failure, not an empty list", async () => {
  const place = makePlace()
  place.file("taken", "mine")
  expect(refusal(1, 2)(await place.cli("list", "--store", "./taken"))).toBeUndefined()
  expect(refusal(1, 2)(await place.cli("verify", "--all", "--store", "./taken"))).toBeUndefined()
})

/** A store of two sessions in which one place is taken by something else. */
async function obstructed(...path: string[]): Promise<Place> {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  await place.cli("import", "in.jsonl", "--id", "keep")
  await place.cli("import", "in.jsonl", "--id", "other")
  const target = join(place.store, ...path)
  rmSync(target, { recursive: true, force: true })
  writeFileSync(target, "in the way")
  return place
}

test.each([[".locks"], [".docs"], [".new"], [".trash"], [".rolled"], ["keep"], ["keep/docs"], ["keep/metadata.json"]])(
  "where %s is a file, commands work or say so in one line, and the logs stay",
  async (name) => {
    const place = await obstructed(...name.split("/"))
    const logs = (): string[] => ["keep", "other"].filter((id) => existsSync(join(place.store, id, "session.jsonl")))
    const before = logs()
    const other = place.log("other")
    for (const argv of [
      ["list", "--json"],
      ["show", "keep"],
      ["context", "keep"],
      ["export", "other"],
      ["verify", "keep"],
      ["verify", "--all"],
      ["rename", "keep", "title"],
      ["label", "keep", "m1", "name"],
      ["resume", "keep", "--pointer", "tty"],
      ["resume", "--pointer", "tty"],
      ["import", "in.jsonl", "--id", "third"],
      ["migrate", "keep"],
    ]) {
      const result = await place.cli(...argv)
      expect(refusalOrSuccess(result), argv.join(" ")).toBeUndefined()
      expect(
        logs().filter((id) => before.includes(id)),
        argv.join(" "),
      ).toEqual(before)
    }
    expect(place.log("other").equals(other)).toBe(true)
  },
)

test("a part that is a folder is said, and the other sessions are listed", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  await place.cli("import", "in.jsonl", "--id", "keep")
  mkdirSync(join(place.store, "odd", "session.jsonl"), { recursive: true })
  const list = await place.cli("list", "--json")
  expect(list.exit).toBe(0)
  expect(list.stdout).toContain('"keep"')
  for (const argv of [
    ["show", "odd"],
    ["export", "odd"],
    ["rename", "odd", "x"],
    ["import", "in.jsonl", "--id", "odd"],
  ]) {
    expect(refusal(1, 2)(await place.cli(...argv)), argv.join(" ")).toBeUndefined()
  }
  expect(existsSync(join(place.store, "odd", "session.jsonl"))).toBe(true)
})

test("a link in the store leads no command out of it", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  await place.cli("import", "in.jsonl", "--id", "keep")
  const outside = join(place.root, "outside")
  mkdirSync(outside)
  writeFileSync(join(outside, "session.jsonl"), log("outside"))
  writeFileSync(join(outside, "precious.txt"), "precious")
  symlinkSync(outside, join(place.store, "linked"))
  const before = contentsOf(outside)
  for (const argv of [
    ["rename", "linked", "x"],
    ["rm", "linked"],
    ["migrate", "linked"],
    ["import", "in.jsonl", "--id", "linked"],
  ]) {
    await place.cli(...argv)
    expect(contentsOf(outside)["precious.txt"], argv.join(" ")).toBe(before["precious.txt"])
    expect(contentsOf(outside)["session.jsonl"], argv.join(" ")).toBe(before["session.jsonl"])
  }
})

test("export leaves a file that is there alone, and a folder that is not there is said", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  await place.cli("import", "in.jsonl", "--id", "keep")
  const before = contentsOf(place.root)
  for (const out of ["in.jsonl", ".", "no/such/folder/out", "/proc/self/out", "in.jsonl/out", "", "n".repeat(300)]) {
    expect(refusal(1, 2)(await place.cli("export", "keep", "--out", out)), out).toBeUndefined()
    expect(contentsOf(place.root), out).toEqual(before)
  }
})

test("import says which file it cannot read, and makes no session", async () => {
  const place = makePlace()
  await place.cli("list")
  for (const file of ["nothing.jsonl", ".", "/proc/self/mem", "", "a\0b"]) {
    const result = await place.cli("import", file)
    expect(refusal(1, 2)(result), file).toBeUndefined()
  }
  expect(existsSync(place.store)).toBe(false)
})

test("a store that refuses is said the same by a process", async () => {
  const place = makePlace()
  place.file("in.jsonl", log("x"))
  place.file("taken", "mine")
  const result = await sessionsProcess({ cwd: place.cwd }, "import", "in.jsonl", "--store", "file:./taken")
  expect(refusal(1)(result)).toBeUndefined()
  expect(result.stderr).toContain("taken")
})
