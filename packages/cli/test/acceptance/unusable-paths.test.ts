import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runProcess } from "../cli-process.ts"
import { log } from "./logs.ts"
import { contentsOf, createWorkspace, refusal, refusalOrSuccess, type Workspace } from "./workspace.ts"

const WRITING = (store: string): string[][] => [
  ["import", "in.jsonl", "--store", store],
  ["resume", "--create", "--store", store],
  ["resume", "--create", "--pointer", "tty", "--store", store],
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
  ["rm", "keep", "--yes", "--store", store],
  ["rename", "keep", "title", "--store", store],
  ["copy", "keep", "--to", "./other", "--store", store],
]

test.each([
  ["a file", "./taken"],
  ["below a file", "./taken/deeper/still"],
  ["where no folder can be created", "/proc/self/fd/sessions"],
  ["a device", "/dev/null"],
  ["a folder with too long a name", `./${"n".repeat(300)}`],
  ["a dangling link through a file", "./dangling"],
])("a store that is %s: each command fails with one line and changes nothing", async (_, store) => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  workspace.file("taken", "mine")
  symlinkSync("taken/nothing", join(workspace.cwd, "dangling"))
  const before = contentsOf(workspace.root)
  for (const argv of [...WRITING(store), ...READING(store)]) {
    const result = await workspace.cli(...argv)
    // list may see an empty store if the folder cannot exist.
    const isRefused = argv[0] === "list" ? refusalOrSuccess : refusal(1, 2)
    expect(isRefused(result), argv.join(" ")).toBeUndefined()
    expect(contentsOf(workspace.root), argv.join(" ")).toEqual(before)
  }
})

test("listing a store that is a file is an error, not an empty list", async () => {
  const workspace = createWorkspace()
  workspace.file("taken", "mine")
  expect(refusal(1, 2)(await workspace.cli("list", "--store", "./taken"))).toBeUndefined()
  expect(refusal(1, 2)(await workspace.cli("verify", "--all", "--store", "./taken"))).toBeUndefined()
})

/** A store of two sessions in which a file replaces one path. */
async function obstructed(...path: string[]): Promise<Workspace> {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  await workspace.cli("import", "in.jsonl", "--id", "keep")
  await workspace.cli("import", "in.jsonl", "--id", "other")
  const target = join(workspace.store, ...path)
  rmSync(target, { recursive: true, force: true })
  writeFileSync(target, "in the way")
  return workspace
}

test.each([[".locks"], [".docs"], [".new"], [".trash"], [".rolled"], ["keep"], ["keep/docs"], ["keep/metadata.json"]])(
  "if %s is a file, commands work or fail with one line, and the logs are kept",
  async (name) => {
    const workspace = await obstructed(...name.split("/"))
    const logs = (): string[] =>
      ["keep", "other"].filter((id) => existsSync(join(workspace.store, id, "session.jsonl")))
    const before = logs()
    const other = workspace.log("other")
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
      const result = await workspace.cli(...argv)
      expect(refusalOrSuccess(result), argv.join(" ")).toBeUndefined()
      expect(
        logs().filter((id) => before.includes(id)),
        argv.join(" "),
      ).toEqual(before)
    }
    expect(workspace.log("other").equals(other)).toBe(true)
  },
)

test("a part that is a folder is an error, and the other sessions are listed", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  await workspace.cli("import", "in.jsonl", "--id", "keep")
  mkdirSync(join(workspace.store, "odd", "session.jsonl"), { recursive: true })
  const list = await workspace.cli("list", "--json")
  expect(list.exit).toBe(0)
  expect(list.stdout).toContain('"keep"')
  for (const argv of [
    ["show", "odd"],
    ["export", "odd"],
    ["rename", "odd", "x"],
    ["import", "in.jsonl", "--id", "odd"],
  ]) {
    expect(refusal(1, 2)(await workspace.cli(...argv)), argv.join(" ")).toBeUndefined()
  }
  expect(existsSync(join(workspace.store, "odd", "session.jsonl"))).toBe(true)
})

test("no command changes files outside the store through a link", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  await workspace.cli("import", "in.jsonl", "--id", "keep")
  const outside = join(workspace.root, "outside")
  mkdirSync(outside)
  writeFileSync(join(outside, "session.jsonl"), log("outside"))
  writeFileSync(join(outside, "precious.txt"), "precious")
  symlinkSync(outside, join(workspace.store, "linked"))
  const before = contentsOf(outside)
  for (const argv of [
    ["rename", "linked", "x"],
    ["rm", "linked", "--yes"],
    ["migrate", "linked"],
    ["import", "in.jsonl", "--id", "linked"],
  ]) {
    await workspace.cli(...argv)
    expect(contentsOf(outside)["precious.txt"], argv.join(" ")).toBe(before["precious.txt"])
    expect(contentsOf(outside)["session.jsonl"], argv.join(" ")).toBe(before["session.jsonl"])
  }
})

test("export overwrites no file, and a missing folder is an error", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  await workspace.cli("import", "in.jsonl", "--id", "keep")
  const before = contentsOf(workspace.root)
  for (const out of ["in.jsonl", ".", "no/such/folder/out", "/proc/self/out", "in.jsonl/out", "", "n".repeat(300)]) {
    expect(refusal(1, 2)(await workspace.cli("export", "keep", "--out", out)), out).toBeUndefined()
    expect(contentsOf(workspace.root), out).toEqual(before)
  }
})

test("import of an unreadable file is an error and creates no store", async () => {
  const workspace = createWorkspace()
  await workspace.cli("list")
  for (const file of ["nothing.jsonl", ".", "/proc/self/mem", "", "a\0b"]) {
    const result = await workspace.cli("import", file)
    expect(refusal(1, 2)(result), file).toBeUndefined()
  }
  expect(existsSync(workspace.store)).toBe(false)
})

test("a process reports an unusable store with one line", async () => {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", log("x"))
  workspace.file("taken", "mine")
  const result = await runProcess({ cwd: workspace.cwd }, "import", "in.jsonl", "--store", "file:./taken")
  expect(refusal(1)(result)).toBeUndefined()
  expect(result.stderr).toContain("taken")
})
