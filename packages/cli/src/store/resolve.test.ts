import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { COMMANDS } from "../commands/table.ts"
import { absoluteFolder } from "./resolve.ts"

const userMessage = (text: string, timestamp: string) =>
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
      await session.append(userMessage(id, at))
      await session.close()
    }
  })
  return cli
}

test("a session is found by its id, by a unique prefix, or as @last", async () => {
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

test("@last is the newest session without a kind", async () => {
  const cli = await threeSessions()
  await cli.use(async (sessions) => (await sessions.create({ id: "graph", kind: "langgraph" })).close())
  const { info } = (await cli.json("show", "@last")) as { info: { id: string } }
  expect(info.id).toBe("alpha-2")
  for (const id of ["alpha-1", "alpha-2", "beta"]) await cli("rm", id, "--yes")
  expect(await cli("show", "@last")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/no session yet/) })
})

test("a complete id takes precedence over a prefix", async () => {
  const cli = await threeSessions()
  await cli.use(async (sessions) => (await sessions.create({ id: "alpha" })).close())
  const { info } = (await cli.json("show", "alpha")) as { info: { id: string } }
  expect(info.id).toBe("alpha")
})

test("a word that looks like @last is named, and no other word begins with @", async () => {
  const cli = await threeSessions()
  for (const ref of ["@lst", "@LAST", "@lastt", "@la"])
    expect(await cli("show", ref)).toMatchObject({ exit: 2, stderr: expect.stringContaining("Did you mean @last?") })
  const { stderr } = await cli("show", "@ann-and-others")
  expect(stderr).toContain("No other word than @last begins with @")
})

test("an id that begins with a dash is taken behind --, and the error says so", async () => {
  const cli = await threeSessions()
  await cli.use(async (sessions) => (await sessions.create({ id: "-V1StGXR8_" })).close())
  await cli.use(async (sessions) => (await sessions.create({ id: "user:ann@example.org" })).close())
  for (const argv of [
    ["show", "--", "-V1StGXR8_"],
    ["--json", "show", "--", "-V1"],
    ["show", "--json", "--", "-V"],
  ])
    expect((await cli(...argv)).stdout).toContain("-V1StGXR8_")
  expect((await cli("show", "user:ann@")).stdout).toContain("user:ann@example.org")
  expect(await cli("show", "-V1StGXR8_")).toMatchObject({ exit: 2, stderr: expect.stringContaining("goes behind --") })
  expect((await cli("rm", "--yes", "--", "-V1StGXR8_")).exit).toBe(0)
})

test("an ambiguous prefix is refused with its matches", async () => {
  const cli = await threeSessions()
  const { exit, stderr } = await cli("show", "alpha")
  expect(exit).toBe(1)
  expect(stderr).toBe("sessions: alpha matches 2 sessions (alpha-1, alpha-2); use a longer prefix.\n")
})

test("an unknown id, and @last of an empty store, is an error", async () => {
  const cli = createCli()
  expect(await cli("show", "nope")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/has no session nope; /) })
  expect(await cli("show", "@last")).toMatchObject({ exit: 1, stderr: expect.stringMatching(/no session yet/) })
})

test.each(["../x", "", "a/b", "a\u0000b", "..", "-x/", "x".repeat(129), "@first"])(
  "%j is not a valid id: usage error, without access to the store",
  async (ref) => {
    const { exit, stderr } = await createCli()("show", "--", ref)
    expect(stderr).toMatch(/^sessions: .*session id.*\n$/)
    expect(exit).toBe(2)
  },
)

test("a folder is made absolute, unless it is absolute on this or another system", () => {
  expect(absoluteFolder(".", "/project")).toBe("/project")
  expect(absoluteFolder("sub", "/project")).toBe("/project/sub")
  expect(absoluteFolder("/x", "/project")).toBe("/x")
  expect(absoluteFolder("C:\\x", "/project")).toBe("C:\\x")
  expect(absoluteFolder("sub/", "/project")).toBe("/project/sub")
  expect(absoluteFolder("/x/y/../", "/project")).toBe("/x")
  expect(absoluteFolder("/", "/project")).toBe("/")
  expect(absoluteFolder("c:/x/y/", "/project")).toBe("C:\\x\\y")
  expect(absoluteFolder("C:\\", "/project")).toBe("C:\\")
  expect(absoluteFolder("\\\\host\\share\\x\\", "/project")).toBe("\\\\host\\share\\x")
})

test("the id that an agent has given a session is taken as ours is, and is in lists", async () => {
  const cli = createCli()
  const agentId = "00000000-0000-4000-8000-000000000001"
  const line = (type: string, uuid: string, text: string) =>
    `${JSON.stringify({ type, uuid, parentUuid: null, sessionId: agentId, cwd: "/work", timestamp: "2026-01-01T00:00:00.000Z", message: { role: type, content: text } })}\n`
  const { stdout } = await cli.with({ stdin: line("user", "u1", "hello") }, "import", "-")
  const id = stdout.trim()
  expect(id).toMatch(/^claude-code\./)
  expect(await cli.json("show", agentId)).toMatchObject({ info: { id }, agentId })
  expect((await cli("show", agentId)).stdout).toContain(agentId)
  expect((await cli("export", agentId)).stdout).toContain("hello")
  expect(await cli.json("list", "--full")).toMatchObject({ agentIds: { [id]: agentId } })
  expect((await cli("list", "--full")).stdout).toContain(agentId)
  expect((await cli("list")).stdout).not.toContain(agentId)
  expect(await cli("show", agentId.replace(/1$/, "2"))).toMatchObject({ exit: 1 })
})

test("every command that takes an id takes an agent's, and names the sessions if two agents have given the same one", async () => {
  const agentId = "00000000-0000-4000-8000-000000000001"
  const at = "2026-01-01T00:00:00.000Z"
  const text = (...lines: readonly object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("")
  const message = { role: "user", content: "hello" }
  const ofPi = text(
    { type: "session", version: 3, id: agentId, timestamp: at, cwd: "/work" },
    { type: "message", id: "e1", parentId: null, timestamp: at, message },
  )
  const cli = createCli()
  const first = await cli.with({ stdin: ofPi }, "import", "-")
  expect(first.stderr).toBe(`format: pi  ${agentId}  hello\n`)
  const id = first.stdout.trim()
  // What they do with it is shown by the tests of the commands.
  const taking = COMMANDS.filter(({ args }) => args[0] === "ID" || args[0] === "ID?" || args[1]?.startsWith("ID"))
  expect(taking.length).toBeGreaterThan(18)
  const isUnknown = async (name: string, ref: string): Promise<boolean> => {
    const { args } = taking.find((command) => command.name === name) as (typeof taking)[number]
    const more = args.slice(1).flatMap((arg) => (arg.endsWith("?") ? [] : ["x"]))
    const given = args[0] === "ACTION" ? ["extract", ref] : [ref, ...more]
    const { stderr } = await cli(name, ...given, ...(MORE[name] ?? []))
    return stderr.includes(`has no session ${ref}`)
  }
  for (const { name } of taking.filter((command) => command.name !== "rm"))
    expect([name, await isUnknown(name, agentId), await isUnknown(name, "nobody")]).toEqual([name, false, true])
  const line = { type: "user", uuid: "u1", parentUuid: null, sessionId: agentId, cwd: "/work", timestamp: at, message }
  const second = await cli.with({ stdin: text(line) }, "import", "-")
  const both = [second.stdout.trim(), id].join(", ")
  expect(await cli("rm", agentId, "--yes")).toMatchObject({
    exit: 1,
    stderr: `sessions: ${agentId} is the id of 2 sessions: ${both}.\n`,
  })
  expect((await cli("rm", id, "--yes")).exit).toBe(0)
  expect((await cli("rm", agentId, "--yes")).exit).toBe(0)
})

/** What a command needs beside the id. */
const MORE: Readonly<Record<string, readonly string[]>> = {
  compact: ["--model", "true"],
  copy: ["--to", "mem:other"],
  handoff: ["--to", "codex", "--dry-run"],
  merge: ["--with", "mem:other"],
  label: ["a label"],
  memory: ["--model", "true"],
  rename: ["a title"],
  rewind: ["--dry-run"],
  resume: ["--pointer", "here"],
}
