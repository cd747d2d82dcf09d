import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import type { Cli } from "../../test/harness.ts"

const LONG = "a long message ".repeat(400)

async function withTalk(): Promise<{ readonly cli: Cli; readonly count: () => Promise<number> }> {
  const cli = createCli({ env: { PATH: process.env["PATH"] ?? "" }, cwd: process.cwd() })
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "talk" })
    const said = (role: string, content: string) => ({ type: "message", message: { role, content } })
    await session.append([said("user", `first ${LONG}`), said("assistant", LONG), said("user", "last")])
  })
  const count = (): Promise<number> =>
    cli.use(async (sessions) => {
      let entries = 0
      for await (const _ of (await sessions.open("talk")).entries()) entries++
      return entries
    })
  return { cli, count }
}

test("compact gives the prompt to a program and keeps what it prints as the summary", async () => {
  const { cli, count } = await withTalk()
  // The program's answer says what it was asked.
  const program = `grep -c 'first a long message\\|EXACTLY this form\\|Mind the tests' | sed 's/^/lines: /'; echo "max $SESSIONS_MAX_TOKENS"`
  const { exit, stdout, stderr } = await cli(
    "compact",
    "talk",
    "--summarizer",
    program,
    "--keep-recent-tokens",
    "1",
    "--instructions",
    "Mind the tests.",
  )
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  expect(stdout).toMatch(
    /^compacted talk: about [\d,.]+ tokens before, \d+ after \(entry \S+\)\nthe summary lacks ## Goal, /,
  )
  expect(await count()).toBe(4)
  const { messages } = (await cli.json("context", "talk")) as {
    messages: { message: { content: { text: string }[] } }[]
  }
  const texts = messages.map(({ message }) => message.content[0]?.text ?? "")
  expect(texts[0]).toContain("lines: 3\nmax 13107")
  expect(texts.slice(1)).toEqual(["last"])
})

test("compact --json says what was done", async () => {
  const { cli } = await withTalk()
  const done = await cli.json(
    "compact",
    "talk",
    "--summarizer",
    "echo done",
    "--preset",
    "threshold-100k",
    "--window",
    "9000",
  )
  expect(done).toMatchObject({
    id: "talk",
    summary: "done",
    fits: true,
    window: 9000,
    missingHeadings: expect.any(Array) as never,
  })
})

test("a program that fails, prints nothing, takes too long or is not there is a clear failure, and nothing is written", async () => {
  const { cli, count } = await withTalk()
  const failures: readonly (readonly [program: string, says: RegExp])[] = [
    ["echo overloaded >&2; exit 3", /the summarizer failed: it ended with status 3: overloaded/],
    ["true", /gave no text/],
    ["echo half an answer; sleep 60", /no answer within 1000 ms/],
    ["there-is-no-such-program-here", /ended with status 127/],
    ["yes", /printed more than 4000000 characters/],
    ["kill -9 $$", /was ended by SIGKILL/],
  ]
  for (const [program, says] of failures) {
    const { exit, stdout, stderr } = await cli(
      "compact",
      "talk",
      "--summarizer",
      program,
      "--keep-recent-tokens",
      "1",
      "--timeout",
      "1",
    )
    expect({ exit, stdout }, program).toEqual({ exit: 1, stdout: "" })
    expect(stderr).toMatch(says)
    expect(stderr).toMatch(/Nothing was written/)
  }
  expect(await count()).toBe(3)
})

test("a program that does not read its input may still answer", async () => {
  const { cli, count } = await withTalk()
  const { exit } = await cli("compact", "talk", "--summarizer", "exec 0<&-; echo short", "--keep-recent-tokens", "0")
  expect(exit).toBe(0)
  expect(await count()).toBe(4)
})

test("compact without a program, or with values that are none, is wrong use; where nothing can be cut it says so", async () => {
  const { cli } = await withTalk()
  for (const wrong of [
    [],
    ["--summarizer", " "],
    ["--summarizer", "cat", "--preset", "best"],
    ["--summarizer", "cat", "--keep-recent-tokens", "-1"],
    ["--summarizer", "cat", "--timeout", "0"],
  ]) {
    expect((await cli("compact", "talk", ...wrong)).exit).toBe(2)
  }
  const { exit, stderr } = await cli("compact", "talk", "--summarizer", "cat")
  expect(exit).toBe(1)
  expect(stderr).toMatch(/nothing to cut: keepRecentTokens \(20000\) keeps all of it/)
})
