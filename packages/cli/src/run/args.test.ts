import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { choiceOption, integerOption } from "../option-values.ts"
import { splitCommand } from "./args.ts"

const cli = createCli()

async function refused(...argv: string[]): Promise<string> {
  const { exit, stdout, stderr } = await cli(...argv)
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" })
  expect(stderr).toMatch(/^sessions: [^\n]*\n$/)
  return stderr.slice("sessions: ".length).trim()
}

test("SESSIONS_STORE names the store, unless --store does", async () => {
  const env = { SESSIONS_STORE: "mem:other" }
  await cli.with({ env }, "resume", "--create", "--pointer", "here")
  const count = async (...argv: string[]): Promise<unknown> => (await cli.with({ env }, ...argv)).stdout
  expect(await count("list", "--json")).not.toBe(await count("list", "--json", "--store", "mem:"))
  expect((await cli.with({ env: { SESSIONS_STORE: "" } }, "list", "--json")).stdout).toBe(
    (await cli("list", "--json")).stdout,
  )
  expect((await cli.with({ env: { SESSIONS_STORE: "ftp:x" } }, "list")).stderr).toContain("ftp")
})

test("common options may precede the command", () => {
  expect(splitCommand(["--store", "x", "--json", "show", "a", "--last", "3"])).toEqual({
    name: "show",
    rest: ["--store", "x", "--json", "a", "--last", "3"],
  })
  expect(splitCommand(["--store=x"])).toEqual({ name: undefined, rest: ["--store=x"] })
})

test("words after -- are not options", () => {
  expect(splitCommand(["rename", "@last", "--", "--clear"]).rest).toEqual(["@last", "--", "--clear"])
})

test("an unknown command is refused with a suggestion", async () => {
  expect(await refused("lst")).toBe('unknown command "lst"; did you mean "list"? Or see "sessions --help".')
  expect(await refused("somersault")).toBe('unknown command "somersault"; see "sessions --help".')
})

test("an unknown option is refused with a suggestion", async () => {
  expect(await refused("list", "--limt", "3")).toBe(
    'unknown option --limt of list; did you mean --limit? Or see "sessions list --help".',
  )
  expect(await refused("list", "-x")).toMatch(/^unknown option -x of list; see/)
})

test("a missing or superfluous option value is refused", async () => {
  expect(await refused("list", "--limit")).toMatch(/^--limit needs a value: --limit N; /)
  expect(await refused("fork", "@last", "--at", "--json")).toMatch(/^--at needs a value: --at ENTRY; /)
  expect(await refused("list", "--all=yes")).toMatch(/^--all takes no value; /)
})

test("an empty path is no path, and not the current folder", async () => {
  const needs = (name: string, option: string) =>
    `--${option} needs a value: --${option} PATH; see "sessions ${name} --help".`
  for (const name of ["list", "history", "resume", "discover"])
    expect(await refused(name, "--cwd", "")).toBe(needs(name, "cwd"))
  expect(await refused("retention", "--older-than", "1d", "--cwd=", "--yes")).toBe(needs("retention", "cwd"))
  expect(await refused("export", "x", "--out", "")).toMatch(/^--out needs a value: --out FILE; /)
  expect(await refused("import", "")).toBe('FILE of import is empty; see "sessions import --help".')
  expect(await refused("import", "a.jsonl", "b.jsonl", "")).toMatch(/^FILE of import is empty; /)
  expect(await refused("move", "x", "")).toMatch(/^PATH of move is empty; /)
})

test("missing and superfluous arguments are named", async () => {
  expect(await refused("show")).toBe('show needs ID; see "sessions show --help".')
  expect(await refused("label")).toBe('label needs ID and ENTRY; see "sessions label --help".')
  expect(await refused("show", "a", "b")).toBe('unexpected argument "b" of show; see "sessions show --help".')
})

test("numbers and choices are checked before the command runs", async () => {
  expect(await refused("show", "x", "--last", "-1")).toMatch(/--last/)
  expect(await refused("show", "x", "--last", "1.5")).toBe('--last must be a whole number of at least 0, not "1.5".')
  expect(await refused("list", "--limit", "201")).toBe('--limit must be a whole number from 1 to 200, not "201".')
  expect(await refused("context", "x", "--repair", "magic")).toBe(
    '--repair must be one of synthesize, drop, none, not "magic".',
  )
  expect(integerOption("n", undefined, 0)).toBeUndefined()
  expect(choiceOption("c", undefined, ["a", "b"], "a")).toBe("a")
})

test("an unknown store type is refused with the known ones", async () => {
  expect(await refused("list", "--store", "ftp:x")).toBe(
    'unknown store type "ftp" in ftp:x; use a path or file:, mem:.',
  )
})

test("an argument that the library refuses as invalid is a usage error", async () => {
  expect(await refused("list", "--cursor", "junk")).toMatch(/cursor/)
  expect(await refused("resume", "--pointer", "a b")).toMatch(/pointer/)
})

test("contradictory or incomplete options are a usage error", async () => {
  expect(await refused("verify")).toMatch(/needs either an ID or --all/)
  expect(await refused("verify", "x", "--all")).toMatch(/needs either an ID or --all/)
  expect(await refused("list", "--all", "--cursor", "x")).toMatch(/--all or --cursor/)
  expect(await refused("rename", "x")).toMatch(/TITLE or --clear/)
  expect(await refused("rename", "x", "a", "--clear")).toMatch(/TITLE or --clear/)
  expect(await refused("rename", "x", " ")).toMatch(/must not be empty/)
  expect(await refused("label", "x", "y")).toMatch(/LABEL or --clear/)
  expect(await refused("resume", "x")).toMatch(/--pointer NAME/)
  expect(await refused("copy", "x")).toMatch(/--to URL/)
  expect(await refused("export", "x", "--json")).toMatch(/--out FILE/)
  expect(await refused("export", "x", "--format", "markdown", "--self-contained")).toMatch(/jsonl/)
})
