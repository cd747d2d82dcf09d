/** Stores with a path at which there is nothing. */
import { join } from "node:path"
import { expect, test } from "vitest"
import { COMMANDS } from "../../src/commands/table.ts"
import { log } from "./logs.ts"
import { contentsOf, createWorkspace, refusal } from "./workspace.ts"

const STORES: readonly (readonly [store: string[], path: string])[] = [
  [[], ".sessions"],
  [["--store", "./typo"], "typo"],
  [["--store", "file:./typo/deeper"], "typo/deeper"],
  [["--store", "sqlite:./typo.db"], "typo.db"],
  [["--store", "sqlite:./typo/sessions.db"], "typo/sessions.db"],
]

/** The shortest valid command lines of all commands that need a session that exists. */
const READING: readonly string[][] = [
  ...COMMANDS.filter(({ usesStore }) => usesStore !== false)
    .map(({ name, args, createsStore }): [string[], boolean] => {
      const words = args.filter((arg) => !arg.endsWith("?"))
      return [[name, ...words.map(() => "x")], createsStore?.(words, {}) ?? false]
    })
    .flatMap(([argv, creates]) => (creates ? [] : [argv])),
  ["verify", "--all"],
  ["copy", "x", "--to", "sqlite:./target.db"],
  ["copy", "--all", "--to", "./target"],
  ["resume", "x", "--pointer", "tty"],
]

test.each(STORES)(
  "with %j, a command that needs a session fails with the path and creates nothing",
  async (store, path) => {
    const { cli, cwd } = createWorkspace()
    for (const argv of READING) {
      const result = await cli(...argv, ...store)
      expect(refusal(1)(result), argv.join(" ")).toBeUndefined()
      expect(result.stderr, argv.join(" ")).toContain(`there is no store at ${join(cwd, path)};`)
    }
    expect(contentsOf(cwd)).toEqual({})
  },
)

test.each(["./new", "file:./new/deeper", "sqlite:./new.db"])(
  "--store %s: import, copy --to, and resume --create create a store",
  async (store) => {
    for (const argv of [
      ["import", "in.jsonl", "--store", store],
      ["resume", "--create", "--store", store],
      ["copy", "a", "--to", store],
    ]) {
      const { cli, file } = createWorkspace()
      await cli("import", file("in.jsonl", log("a")), "--id", "a")
      expect(await cli(...argv), argv.join(" ")).toMatchObject({ exit: 0, stderr: "" })
      expect((await cli("list", "--store", store)).stdout, argv.join(" ")).toMatch(/^ID /)
    }
  },
)

test("merge creates no store at a path that is misspelt", async () => {
  const { cli, cwd, file } = createWorkspace()
  await cli("import", file("in.jsonl", log("a")), "--id", "a")
  for (const store of ["./typo", "sqlite:./typo.db"]) {
    const { exit, stderr } = await cli("merge", "a", "--with", store)
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: expect.stringContaining("; name another one with --with.") })
  }
  expect(Object.keys(contentsOf(cwd)).filter((path) => path.includes("typo"))).toEqual([])
})

test("a file is no store of files, and a folder no database: the error names the other kind", async () => {
  const { cli, cwd, file } = createWorkspace()
  file("sessions.db", "")
  expect((await cli("list", "--store", "sessions.db")).stderr).toContain(`write sqlite:${join(cwd, "sessions.db")}.`)
  expect((await cli("list", "--store", "sqlite:.")).stderr).toContain(`write file:${cwd}.`)
})

test("an empty folder is a store without sessions", async () => {
  const { cli } = createWorkspace()
  expect(await cli("list", "--store", ".")).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^No sessions/) })
})
