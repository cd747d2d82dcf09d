/** `sessions doctor` on stores that are there, missing, and of another program. */
import { symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { cannotMount, makeReadOnly, mountTmpfs } from "../../../fs/test/tmpfs.ts"
import { log } from "./logs.ts"
import { contentsOf, createWorkspace } from "./workspace.ts"

interface Found {
  readonly checks: readonly { readonly name: string; readonly status: string; readonly message: string }[]
}

test("says which versions it has, and of a sound store how many sessions there are, who may write and how much is free", async () => {
  const { cli, cwd, file } = createWorkspace()
  await cli("import", file("in.jsonl", log("a")), "--id", "a")
  const before = contentsOf(cwd)
  const { exit, stdout } = await cli("doctor", "--json")
  const { checks } = JSON.parse(stdout) as Found
  expect([exit, ...checks.map(({ name, status }) => `${name} ${status}`)]).toEqual([
    0,
    expect.stringMatching(/^runtime (ok|warning)$/),
    "versions ok",
    "store ok",
    "rights ok",
    expect.stringMatching(/^space (ok|warning)$/),
  ])
  const version = (await cli("--version")).stdout.trim()
  expect(checks[1]?.message).toBe(`sessions ${version}, which writes logs of version 4`)
  expect(checks[2]?.message).toBe(`fs:${join(cwd, ".sessions")}: 1 session`)
  expect((await cli("doctor")).stdout).toMatch(/^ok +store +fs:.*: 1 session$/m)
  expect(contentsOf(cwd)).toEqual(before)
})

test("fails for a store that is not there and for a file of another program, with the path, and changes nothing", async () => {
  const { cli, cwd } = createWorkspace()
  writeFileSync(join(cwd, "other.db"), "not a database".repeat(100))
  const before = contentsOf(cwd)
  for (const [store, message] of [
    ["./typo", `there is no store at ${join(cwd, "typo")}`],
    ["sqlite:./other.db", join(cwd, "other.db")],
  ] as const) {
    const { exit, stdout } = await cli("doctor", "--json", "--store", store)
    const found = (JSON.parse(stdout) as Found).checks.find(({ name }) => name === "store")
    expect([exit, found?.status, found?.message]).toEqual([1, "failed", expect.stringContaining(message)])
  }
  expect(contentsOf(cwd)).toEqual(before)
})

test("a folder that cannot be looked at fails each check of it, and one behind a link that leads nowhere has none", async () => {
  const { cli, cwd } = createWorkspace()
  symlinkSync("loop", join(cwd, "loop"))
  symlinkSync("nowhere", join(cwd, "dangling"))
  expect(statusesOf(await cli("doctor", "--json", "--store", "./loop"))).toEqual([
    1,
    "store failed",
    "rights failed",
    "space failed",
  ])
  expect(statusesOf(await cli("doctor", "--json", "--store", "./dangling"))).toEqual([1, "store failed"])
})

test.skipIf(cannotMount())("a store on a read-only file system fails for its rights, and is read", async () => {
  const { cli, file } = createWorkspace()
  const folder = mountTmpfs("size=4m")
  await cli("import", file("in.jsonl", log("a")), "--store", join(folder, "store"))
  makeReadOnly(folder)
  expect(statusesOf(await cli("doctor", "--json", "--store", join(folder, "store")))).toEqual([
    1,
    "store ok",
    "rights failed",
    "space warning",
  ])
})

function statusesOf({ exit, stdout }: { readonly exit: number; readonly stdout: string }): readonly unknown[] {
  const { checks } = JSON.parse(stdout) as Found
  return [exit, ...checks.slice(2).map(({ name, status }) => `${name} ${status}`)]
}
