import { expect, test } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"

const LONG = "a long message ".repeat(400)

async function withConversation(): Promise<{ readonly cli: Cli; readonly count: () => Promise<number> }> {
  const cli = createCli({ env: { PATH: process.env["PATH"] ?? "" }, cwd: process.cwd() })
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "conversation" })
    const entry = (role: "user" | "assistant", content: string) => ({
      type: "message" as const,
      message: { role, content },
    })
    await session.append([entry("user", `first ${LONG}`), entry("assistant", LONG), entry("user", "last")])
  })
  const count = (): Promise<number> =>
    cli.use(async (sessions) => {
      let entries = 0
      for await (const _ of (await sessions.open("conversation")).entries()) entries++
      return entries
    })
  return { cli, count }
}

test("compact sends the prompt to a shell command and stores its output as the summary", async () => {
  const { cli, count } = await withConversation()
  // The output of this command shows the prompt and the environment that it got.
  const program = `grep -c 'first a long message\\|EXACTLY this form\\|Mind the tests' | sed 's/^/lines: /'; echo "max $SESSIONS_MAX_TOKENS"`
  const { exit, stdout, stderr } = await cli(
    "compact",
    "conversation",
    "--summarizer",
    program,
    "--keep-recent-tokens",
    "1",
    "--instructions",
    "Mind the tests.",
  )
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  expect(stdout).toMatch(
    /^compacted conversation: about [\d,.]+ tokens before, \d+ after \(entry \S+\)\nheadings missing from the summary: ## Goal, /,
  )
  expect(await count()).toBe(4)
  const { messages } = (await cli.json("context", "conversation")) as {
    messages: { message: { content: { text: string }[] } }[]
  }
  const texts = messages.map(({ message }) => message.content[0]?.text ?? "")
  expect(texts[0]).toContain("lines: 3\nmax 13107")
  expect(texts.slice(1)).toEqual(["last"])
})

test("compact --anew makes the summary again, without what was deleted since", async () => {
  const { cli } = await withConversation()
  const summarizer = ["--summarizer", "grep -o 'User.: [a-z]*'"]
  await cli("compact", "conversation", ...summarizer, "--keep-recent-tokens", "1")
  await cli.use(async (sessions) => {
    const session = await sessions.open("conversation")
    const { messages } = await session.messages()
    await session.tombstone(messages[0]?.entryId as string)
    expect((await session.context()).diagnostics.map(({ code }) => code)).toContain("summarized")
  })
  const { exit, stderr } = await cli("compact", "conversation", "--anew", "--summarizer", "echo made anew")
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
  await cli.use(async (sessions) => {
    const { messages, diagnostics } = await (await sessions.open("conversation")).context()
    expect(diagnostics).toEqual([])
    expect(JSON.stringify(messages)).toContain("made anew")
    expect(JSON.stringify(messages)).not.toContain("first")
    expect(JSON.stringify(messages.at(-1))).toContain("last")
  })
})

test("compact --json prints the result", async () => {
  const { cli } = await withConversation()
  const result = await cli.json(
    "compact",
    "conversation",
    "--summarizer",
    "echo done",
    "--preset",
    "threshold-100k",
    "--window",
    "9000",
  )
  expect(result).toMatchObject({
    id: "conversation",
    summary: "done",
    fits: true,
    window: 9000,
    missingHeadings: expect.any(Array) as never,
  })
})

test("a summarizer that fails, prints nothing, takes too long or is missing is an error, and nothing is written", async () => {
  const { cli, count } = await withConversation()
  const failures: readonly (readonly [command: string, error: RegExp, ...options: string[]])[] = [
    ["echo overloaded >&2; exit 3", /the summarizer failed: it exited with status 3: overloaded/],
    ["true", /gave no text/],
    ["echo half an answer; sleep 600", /no answer within 1000 ms/, "--timeout", "1"],
    ["there-is-no-such-program-here", /exited with status 127/],
    ["yes", /printed more than 4000000 characters/],
    ["kill -9 $$", /was killed by SIGKILL/],
  ]
  for (const [command, error, ...options] of failures) {
    const { exit, stdout, stderr } = await cli(
      "compact",
      "conversation",
      "--summarizer",
      command,
      "--keep-recent-tokens",
      "1",
      ...options,
    )
    expect({ exit, stdout }, command).toEqual({ exit: 1, stdout: "" })
    expect(stderr).toMatch(error)
    expect(stderr).toMatch(/Nothing was written/)
  }
  expect(await count()).toBe(3)
})

test("--model is the same as --summarizer", async () => {
  const { cli } = await withConversation()
  expect((await cli("compact", "conversation", "--model", "echo short", "--keep-recent-tokens", "1")).exit).toBe(0)
})

test("a summarizer may answer without reading its input", async () => {
  const { cli, count } = await withConversation()
  const { exit } = await cli(
    "compact",
    "conversation",
    "--summarizer",
    "exec 0<&-; echo short",
    "--keep-recent-tokens",
    "0",
  )
  expect(exit).toBe(0)
  expect(await count()).toBe(4)
})

test("a missing summarizer or an invalid value is a usage error, and a context that is too short is an error", async () => {
  const { cli } = await withConversation()
  for (const wrong of [
    [],
    ["--summarizer", " "],
    ["--summarizer", "cat", "--preset", "best"],
    ["--summarizer", "cat", "--keep-recent-tokens", "-1"],
    ["--summarizer", "cat", "--timeout", "0"],
    ["--summarizer", "cat", "--model", "cat"],
  ]) {
    expect((await cli("compact", "conversation", ...wrong)).exit).toBe(2)
  }
  const { exit, stderr } = await cli("compact", "conversation", "--summarizer", "cat")
  expect(exit).toBe(1)
  expect(stderr).toMatch(/nothing to cut: keepRecentTokens \(20000\) keeps the whole context/)
})
