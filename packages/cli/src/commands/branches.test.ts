import type { Sessions } from "@sessions/core"
import { expect, test } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"

const at = "2026-01-02T03:04:05.000Z"
const now = (): number => Date.parse("2026-01-02T05:04:05.000Z")

async function say(sessions: Sessions, id: string, text: string): Promise<() => Promise<void>> {
  const session = await sessions.open("s")
  return async () => {
    await session.append({ type: "message", id, timestamp: at, message: { role: "user", content: text } })
    await session.close()
  }
}

/** Two processes answer `q` at once: `a1` is hidden behind `a2`. */
async function diverged(): Promise<Cli> {
  const cli = createCli({ now })
  await cli.use(async (sessions) => {
    await (await sessions.create({ id: "s" })).close()
    await (await say(sessions, "q", "the question"))()
  })
  await cli.use((one) =>
    cli.use(async (two) => {
      const both = [await say(one, "a1", "the first answer"), await say(two, "a2", "the second answer")]
      for (const append of both) await append()
    }),
  )
  return cli
}

interface Branches {
  readonly leafId: string
  readonly branches: readonly object[]
}

test("branches lists the current branch and those that are open or settled, newest first", async () => {
  const cli = await diverged()
  const { exit, stdout } = await cli("branches", "s")
  expect(exit).toBe(0)
  expect(stdout.split("\n").slice(0, 3)).toEqual([
    "BRANCH  AGE  MESSAGES  STATE    ROLE  LAST MESSAGE",
    "a2      2 h         0  current  user  the second answer",
    "a1      2 h         1  open     user  the first answer",
  ])
  const { branches, leafId } = (await cli.json("branches", "s")) as Branches
  expect(leafId).toBe("a2")
  expect(branches).toEqual([
    {
      id: "a2",
      seq: 3,
      timestamp: at,
      fork: "a2",
      messages: 0,
      settled: false,
      current: true,
      kind: "user",
      text: "the second answer",
    },
    {
      id: "a1",
      seq: 2,
      timestamp: at,
      fork: "q",
      messages: 1,
      settled: false,
      current: false,
      kind: "user",
      text: "the first answer",
    },
  ])
  expect(((await cli.json("branches", "s", "--open")) as Branches).branches).toMatchObject([{ id: "a1" }])
})

test("list and show mark a session with open branches, until branch chooses one", async () => {
  const cli = await diverged()
  expect((await cli("list")).stdout).toContain("(1 open branch) the question")
  expect((await cli("show", "s")).stdout).toMatch(/^open branches +a1$/m)
  expect(await cli.json("branch", "s", "a1")).toMatchObject({ id: "s", settled: ["a2"] })
  expect((await cli("list")).stdout).not.toContain("open branch")
  expect((await cli("show", "s")).stdout).not.toContain("open branches")
  expect((await cli("branches", "s")).stdout).toMatch(/a2 .* settled .*\na1 .* current /)
  expect((await cli("branches", "s", "--open")).stdout).toBe("No branch of s is open.\n")
  expect((await cli("context", "s")).stdout).toContain("the first answer")
})

test("branch prints where the session continues, and what that settles", async () => {
  const cli = await diverged()
  expect((await cli("branch", "s", "a1")).stdout).toBe("s continues from a1\nsettled a2\n")
})

test("branch --settle settles one branch and stays on the current one", async () => {
  const cli = await diverged()
  expect((await cli("branch", "s", "a1", "--settle")).stdout).toBe("settled a1\n")
  expect((await cli("list")).stdout).not.toContain("open branch")
  expect((await cli("context", "s")).stdout).toContain("the second answer")
})

test("an entry that the session does not have is refused", async () => {
  const cli = await diverged()
  for (const more of [[], ["--settle"]]) {
    const { exit, stderr } = await cli("branch", "s", "none", ...more)
    expect(exit).toBe(1)
    expect(stderr).toContain("none")
  }
})
