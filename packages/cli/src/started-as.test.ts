import { expect, test } from "vitest"
import { createCli } from "../test/harness.ts"
import { programOf } from "./started-as.ts"

test("the name is how the program was started", () => {
  const npx = { npm_command: "exec" }
  expect(programOf("/home/a/.npm/_npx/1b2c/node_modules/.bin/sessions", npx)).toBe("npx @sessions/cli")
  expect(programOf("C:\\Users\\a\\npm-cache\\_npx\\1b2c\\node_modules\\@sessions\\cli\\dist\\bin.js", npx)).toBe(
    "npx @sessions/cli",
  )
  expect(programOf("/home/a/.cache/pnpm/dlx/1b/node_modules/.bin/sessions", {})).toBe("pnpm dlx @sessions/cli")
  expect(programOf("/tmp/bunx-501-@sessions/cli/node_modules/.bin/sessions", {})).toBe("bunx @sessions/cli")
  expect(programOf("/project/node_modules/.bin/sessions", npx)).toBe("npx sessions")
  expect(programOf("/usr/local/bin/sessions", {})).toBe("sessions")
})

test("help and errors name commands as the program was started, and no text of a session is changed", async () => {
  const cli = createCli({ program: "npx @sessions/cli" })
  expect((await cli("--help")).stdout).toMatch(/^Usage: npx @sessions\/cli COMMAND /)
  const { stdout } = await cli("help", "rm")
  expect(stdout).toMatch(/^Usage: npx @sessions\/cli rm ID /)
  expect(stdout).toContain("\n  npx @sessions/cli rm @last --yes\n")
  for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80)
  expect((await cli("show", "absent")).stderr).toContain('"npx @sessions/cli list" shows its sessions')
  expect((await cli("nothing")).stderr).toMatch(/^sessions: .*"npx @sessions\/cli --help"/)
  await cli.use(async (sessions) => {
    for (const id of ["a", "b"]) {
      const content = 'call "sessions list" first'
      await (await sessions.create({ id, entries: [{ type: "message", message: { role: "user", content } }] })).close()
    }
  })
  expect((await cli("show", "a")).stdout).toContain('call "sessions list" first')
  expect((await cli("list", "--limit", "1")).stdout).toContain("next page: npx @sessions/cli list --limit 1")
})
