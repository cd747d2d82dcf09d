import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { folder } from "./resolve.ts"

const said = (text: string, timestamp: string) =>
  ({ type: "message", timestamp, message: { role: "user", content: text } }) as const

async function threeSessions() {
  const cli = createCli()
  await cli.use(async (sessions) => {
    for (const [id, at] of [
      ["alpha-1", "2026-01-01T00:00:00.000Z"],
      ["alpha-2", "2026-01-03T00:00:00.000Z"],
      ["beta", "2026-01-02T00:00:00.000Z"],
    ] as const) {
      const session = await sessions.create({ id })
      await session.append(said(id, at))
      await session.close()
    }
  })
  return cli
}

test("a session is named by its id, by a start that only it has, or as @last", async () => {
  const cli = await threeSessions()
  for (const [ref, id] of [
    ["beta", "beta"],
    ["b", "beta"],
    ["alpha-1", "alpha-1"],
    ["@last", "alpha-2"],
  ] as const) {
    const { info } = (await cli.json("show", ref)) as { info: { id: string } }
    expect(info.id).toBe(id)
  }
})

test("a whole id wins over being the start of others", async () => {
  const cli = await threeSessions()
  await cli.use(async (sessions) => (await sessions.create({ id: "alpha" })).close())
  const { info } = (await cli.json("show", "alpha")) as { info: { id: string } }
  expect(info.id).toBe("alpha")
})

test("a start that several sessions have is refused with them", async () => {
  const cli = await threeSessions()
  const { exit, stderr } = await cli("show", "alpha")
  expect(exit).toBe(1)
  expect(stderr).toBe("sessions: alpha could be 2 sessions (alpha-1, alpha-2); write more of the id.\n")
})

test("what no session has, and @last of an empty store, is a failure that says so", async () => {
  const cli = createCli()
  expect(await cli("show", "nope")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/has no session nope; /) })
  expect(await cli("show", "@last")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/no session yet/) })
})

test.each(["../x", "", "a/b", "a\u0000b", "..", "-x/", "x".repeat(129), "@first"])(
  "%j can be no id: wrong use, before any store is asked",
  async (ref) => {
    const { exit, stderr } = await createCli()("show", "--", ref)
    expect(stderr).toMatch(/^sessions: .*session id.*\n$/)
    expect(exit).toBe(2)
  },
)

test("a folder is made absolute, unless it is so on this machine or another", () => {
  expect(folder(".", "/project")).toBe("/project")
  expect(folder("sub", "/project")).toBe("/project/sub")
  expect(folder("/x", "/project")).toBe("/x")
  expect(folder("C:\\x", "/project")).toBe("C:\\x")
})
