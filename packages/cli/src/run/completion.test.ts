import { execFileSync } from "node:child_process"
import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { COMMANDS } from "../commands/table.ts"

const cli = createCli()

async function scriptOf(shell: string): Promise<string> {
  const { exit, stdout, stderr } = await cli("completion", shell)
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  return stdout
}

/** What bash offers for the last word. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const line = words.map((word) => `'${word}'`).join(" ")
  const script = `${await scriptOf("bash")}
COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sessions; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n")
}

test("bash completes commands, and the options of each", async () => {
  expect(await offered("sessions", "re")).toEqual(["rewind", "resume", "rename"])
  expect(await offered("sessions", "")).toEqual([...COMMANDS.map(({ name }) => name), "help", "completion"])
  expect(await offered("sessions", "help", "expo")).toEqual(["export"])
  expect(await offered("sessions", "completion", "")).toEqual(["bash", "zsh", "fish"])
  expect(await offered("sessions", "list", "--li")).toEqual(["--limit"])
  expect(await offered("sessions", "export", "--st")).toEqual(["--store"])
  // The shell completes paths.
  expect(await offered("sessions", "import", "./se")).toEqual([""])
})

test.each(["zsh", "fish"])("the script for %s has all commands and options", async (shell) => {
  const script = await scriptOf(shell)
  for (const name of ["help", "completion"])
    expect(script).toContain(shell === "zsh" ? `    '${name}:` : ` -a ${name} `)
  for (const { name, options } of COMMANDS) {
    const own = script.split("\n").filter((line) => line.includes(` ${name}`))
    for (const option of [...Object.keys(options), "store", "json"]) {
      expect(own.some((line) => line.includes(shell === "zsh" ? `'--${option}[` : ` -l ${option} `))).toBe(true)
    }
  }
})

test("a shell without a script is wrong usage, and the help says what to add to each", async () => {
  expect(await cli("completion", "tcsh")).toMatchObject({ exit: 2, stderr: expect.stringContaining("bash, zsh, fish") })
  expect((await cli("completion")).exit).toBe(2)
  expect((await cli("completion", "--help")).stdout).toContain("source <(sessions completion bash)")
})
