/** Commands that may take long say so on a terminal. */
import { expect, test } from "vitest"
import { type Cli, createCli } from "./harness.ts"

const COMMANDS: readonly (readonly string[])[] = [
  ["fork", "one"],
  ["compact", "one", "--summarizer", "echo short", "--keep-recent-tokens", "1"],
  ["copy", "one", "--to", "mem:other"],
  ["merge", "one", "--with", "mem:other"],
  ["merge", "--all", "--with", "mem:other"],
  ["migrate", "one"],
  ["retention", "--older-than", "1d", "--yes"],
  ["retention", "--older-than", "1d", "--dry-run"],
  ["gc"],
  ["tree", "one"],
  ["branches", "one"],
  ["verify", "--all"],
  ["grep", "hello", "--no-index"],
]

async function withSession(): Promise<Cli> {
  let now = Date.now()
  // Each look at the clock is a second later, so all work takes long.
  const cli = createCli({ env: { PATH: process.env["PATH"] ?? "" }, cwd: process.cwd(), now: () => (now += 1_000) })
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "one" })
    for (const content of ["hello ".repeat(400), "again"])
      await session.append({ type: "message", message: { role: "user", content } })
  })
  return cli
}

test.each(COMMANDS)("%s %s shows progress on a terminal, and none elsewhere or with --json", async (...command) => {
  const onTerminal = await (await withSession()).with({ terminal: 60 }, ...command)
  expect(onTerminal.exit, onTerminal.stderr).toBe(0)
  expect(onTerminal.stderr).toMatch(/^\r\u001b\[K\w[^]*\r\u001b\[K$/)
  for (const line of onTerminal.stderr.split("\r\u001b[K")) expect(line.length).toBeLessThan(60)

  const asJson = await (await withSession()).with({ terminal: 60 }, ...command, "--json")
  const piped = await (await withSession())(...command)
  expect([asJson.stderr, piped.stderr]).toEqual(["", ""])
})
