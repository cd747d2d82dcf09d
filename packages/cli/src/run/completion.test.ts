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
async function offered(...given: readonly string[]): Promise<readonly string[]> {
  // What a shell has beside the script, such as the program itself.
  const [before, words] = given[0] === "sessions" ? ["", given] : [given[0] ?? "", given.slice(1)]
  const line = words.map((word) => `'${word}'`).join(" ")
  const script = `${before}
${await scriptOf("bash")}
COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _sessions; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n")
}

test("bash completes commands, and the options of each", async () => {
  expect(await offered("sessions", "re")).toEqual(["resume", "rename", "rewind", "retention"])
  expect(await offered("sessions", "")).toEqual([...COMMANDS.map(({ name }) => name), "help", "completion"])
  expect(await offered("sessions", "help", "expo")).toEqual(["export"])
  expect(await offered("sessions", "completion", "")).toEqual(["bash", "zsh", "fish"])
  expect(await offered("sessions", "list", "--li")).toEqual(["--limit"])
  expect(await offered("sessions", "export", "--st")).toEqual(["--store"])
  // The shell completes paths.
  expect(await offered("sessions", "import", "./se")).toEqual([""])
})

test("bash completes the ids of the store, and the values of an option that has a list", async () => {
  const answer = JSON.stringify({ sessions: [{ id: "01AB", parentSession: { id: "no" } }, { id: "chat-1" }] }, null, 2)
  const script = `sessions() { printf '%s\\n' '${answer}'; }`
  expect(await offered(script, "sessions", "show", "")).toEqual(["@last", "01AB", "chat-1"])
  expect(await offered(script, "sessions", "rm", "ch")).toEqual(["chat-1"])
  expect(await offered(script, "sessions", "import", "ch")).toEqual([""])
  expect(await offered("sessions", "export", "x", "--format", "ht")).toEqual(["html"])
  expect(await offered("sessions", "import", "--from", "claude")).toEqual(["claude-code"])
  expect(await offered("sessions", "handoff", "x", "--to", "pi")).toEqual(["pi"])
})

test.each(["zsh", "fish"])("the script for %s has the ids, and the lists of values", async (shell) => {
  const script = await scriptOf(shell)
  expect(script).toContain("sessions list --limit 200 --json")
  expect(script).toMatch(/--format\[.*\(jsonl markdown html |-l format -r -f -a 'jsonl markdown html /)
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
