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

test("options that every command has may stand before the command", () => {
  expect(splitCommand(["--store", "x", "--json", "show", "a", "--last", "3"])).toEqual({
    name: "show",
    rest: ["--store", "x", "--json", "a", "--last", "3"],
  })
  expect(splitCommand(["--store=x"])).toEqual({ name: undefined, rest: ["--store=x"] })
})

test("what comes after -- is never an option", () => {
  expect(splitCommand(["rename", "@last", "--", "--clear"]).rest).toEqual(["@last", "--", "--clear"])
})

test("an unknown command is refused, with the nearest one", async () => {
  expect(await refused("lst")).toBe('there is no command "lst"; did you mean "list"?')
  expect(await refused("somersault")).toBe('there is no command "somersault"; "sessions --help" lists them')
})

test("an unknown option is refused, with the nearest one", async () => {
  expect(await refused("list", "--limt", "3")).toBe(
    'list has no option --limt; did you mean --limit? For its options see "sessions list --help".',
  )
  expect(await refused("list", "-x")).toMatch(/^list has no option -x; for its options see/)
})

test("an option without its value, or with one too many, is refused", async () => {
  expect(await refused("list", "--limit")).toMatch(/^--limit needs a value, N; /)
  expect(await refused("fork", "@last", "--at", "--json")).toMatch(/^--at needs a value, ENTRY; /)
  expect(await refused("list", "--all=yes")).toMatch(/^--all takes no value; /)
})

test("missing arguments are named, and superfluous ones quoted", async () => {
  expect(await refused("show")).toBe('show needs ID; see "sessions show --help".')
  expect(await refused("label")).toBe('label needs ID and ENTRY; see "sessions label --help".')
  expect(await refused("show", "a", "b")).toBe('show has no use for "b"; see "sessions show --help".')
})

test("numbers and words are checked before anything is done", async () => {
  expect(await refused("show", "x", "--last", "-1")).toMatch(/--last/)
  expect(await refused("show", "x", "--last", "1.5")).toBe('--last takes a whole number from 0, not "1.5".')
  expect(await refused("list", "--limit", "201")).toBe('--limit takes a whole number from 1 to 200, not "201".')
  expect(await refused("context", "x", "--repair", "magic")).toBe('--repair takes synthesize, drop, none, not "magic".')
  expect(integerOption("n", undefined, 0)).toBeUndefined()
  expect(choiceOption("c", undefined, ["a", "b"], "a")).toBe("a")
})

test("an unknown kind of store is refused with the ones that are known", async () => {
  expect(await refused("list", "--store", "ftp:x")).toBe(
    'ftp:x: there is no kind of store called "ftp"; known are file:, mem:.',
  )
})

test("what the library refuses as invalid is wrong use too", async () => {
  expect(await refused("list", "--cursor", "junk")).toMatch(/cursor/)
  expect(await refused("resume", "--pointer", "a b")).toMatch(/pointer/)
})

test("combinations that contradict each other are wrong use", async () => {
  expect(await refused("verify")).toMatch(/needs an ID, or --all/)
  expect(await refused("verify", "x", "--all")).toMatch(/needs an ID, or --all/)
  expect(await refused("list", "--all", "--cursor", "x")).toMatch(/--all or --cursor/)
  expect(await refused("rename", "x")).toMatch(/TITLE, or --clear/)
  expect(await refused("rename", "x", "a", "--clear")).toMatch(/TITLE, or --clear/)
  expect(await refused("rename", "x", " ")).toMatch(/not empty/)
  expect(await refused("label", "x", "y")).toMatch(/LABEL, or --clear/)
  expect(await refused("resume", "x")).toMatch(/--pointer NAME/)
  expect(await refused("copy", "x")).toMatch(/--to URL/)
  expect(await refused("export", "x", "--json")).toMatch(/--out FILE/)
  expect(await refused("export", "x", "--format", "markdown", "--self-contained")).toMatch(/jsonl/)
})
