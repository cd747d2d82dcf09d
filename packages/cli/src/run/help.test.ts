import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { COMMANDS, GROUPS } from "../commands/table.ts"
import { parseCommand, splitCommand } from "./args.ts"

const cli = createCli()

test.each(COMMANDS)("$name has help with its options and an example", async ({ name, options }) => {
  const { exit, stdout, stderr } = await cli(name, "--help")
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  expect(stdout).toMatch(new RegExp(`^Usage: sessions ${name}\\b`))
  expect(stdout).toMatch(new RegExp(`\n  sessions ${name}\\b`))
  for (const option of [...Object.keys(options), "store", "json", "help"]) expect(stdout).toContain(`--${option}`)
})

test.each(COMMANDS.flatMap(({ examples }) => examples))("the example %j is a valid command line", (example) => {
  const { name, rest } = splitCommand(words(example))
  const command = COMMANDS.find((one) => one.name === name)
  expect(command && parseCommand(command, rest)).toBeDefined()
})

test("no line of any help is longer than 80 characters, but examples", async () => {
  for (const argv of [["help"], ["completion", "--help"], ...COMMANDS.map(({ name }) => ["help", name])]) {
    const { stdout } = await cli(...argv)
    const text = stdout.replace(/\nExamples\n[^]*$/, "")
    expect(text.split("\n").filter((line) => line.length > 80)).toEqual([])
  }
})

test("help COMMAND prints the same as COMMAND --help", async () => {
  expect(await cli("help", "list")).toEqual(await cli("list", "-h"))
})

test("--help and help print the overview to standard output", async () => {
  const { exit, stdout } = await cli("--help")
  expect(exit).toBe(0)
  for (const { name, summary } of COMMANDS) expect(stdout).toMatch(new RegExp(` ${name} +${summary.slice(0, 10)}`))
  for (const { title } of GROUPS) expect(stdout).toContain(`\n\n${title}\n`)
  expect(await cli("help")).toEqual({ exit, stdout, stderr: "" })
})

test("without a command the overview goes to standard error, with exit status 2", async () => {
  const { exit, stdout, stderr } = await cli()
  expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" })
  expect(stderr).toMatch(/^Usage: sessions COMMAND/)
})

test("help is styled on a terminal, and plain with NO_COLOR", async () => {
  expect((await cli.with({ terminal: 80 }, "list", "--help")).stdout).toContain("\u001b[1mExamples\u001b[0m")
  expect((await cli.with({ terminal: 80, env: { NO_COLOR: "1" } }, "list", "--help")).stdout).not.toContain("\u001b")
})

function words(line: string): string[] {
  return Array.from(line.replace(/ [<>].*/, "").matchAll(/"([^"]*)"|\S+/g), ([whole, quoted]) => quoted ?? whole)
}
