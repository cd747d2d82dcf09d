import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createClaudeStore } from "@sessions/claude-agent"
import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"

const sessionId = "11111111-1111-4111-8111-111111111111"
const base = { sessionId, cwd: tmpdir(), version: "2.1.330", isSidechain: false, userType: "external" }
const LINES = [
  {
    ...base,
    type: "user",
    uuid: "00000000-0000-4000-8000-000000000001",
    parentUuid: null,
    timestamp: "2026-01-31T09:30:00.000Z",
    message: { role: "user", content: "fix the tests" },
  },
  {
    ...base,
    type: "assistant",
    uuid: "00000000-0000-4000-8000-000000000002",
    parentUuid: "00000000-0000-4000-8000-000000000001",
    timestamp: "2026-01-31T09:30:01.000Z",
    message: { id: "msg_1", role: "assistant", model: "claude-x", content: [{ type: "text", text: "They pass now." }] },
  },
]

async function makeCli(): Promise<ReturnType<typeof createCli>> {
  const cli = createCli()
  await cli.use(async (sessions) => {
    await createClaudeStore({ sessions }).append({ projectKey: "-work", sessionId }, LINES)
  })
  return cli
}

test("list shows the kind of a session of the Claude Agent SDK, show its messages", async () => {
  const cli = await makeCli()
  expect((await cli("list")).stdout).toContain("claude-agent")
  const { stdout } = await cli("show", "claude.")
  for (const fact of ["kind          claude-agent", "messages      2", "fix the tests", "They pass now."]) {
    expect(stdout).toContain(fact)
  }
})

test("export writes its stored log, its conversation, and its own lines", async () => {
  const cli = await makeCli()
  expect((await cli("export", "claude.")).stdout).toContain('"kind":"claude-agent"')
  expect((await cli("export", "claude.", "--format", "markdown")).stdout).toContain("They pass now.")
  const { stdout } = await cli("export", "claude.", "--format", "claude-code")
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(LINES)
})

test("handoff writes its conversation for another agent, once for the same lines", async () => {
  const cli = await makeCli()
  const folder = mkdtempSync(join(tmpdir(), "sessions-handoff-"))
  const run = () => cli("handoff", "claude.", "--to", "codex", "--cwd", folder, "--dry-run")
  const { stdout, exit } = await run()
  expect(exit).toBe(0)
  expect(stdout).toContain("would write")
  expect((await run()).stdout).toBe(stdout)
})

test("grep finds its messages, the results of its tools, and lines whose text is in the blob store", async () => {
  const cli = await makeCli()
  const result = {
    type: "tool_result",
    tool_use_id: "t",
    content: [{ type: "text", text: `exit 0 ${"x ".repeat(1_000_000)}` }],
  }
  const uuid = "00000000-0000-4000-8000-000000000003"
  const line = { ...base, type: "user", uuid, parentUuid: null, timestamp: "2026-01-31T09:30:02.000Z" }
  await cli.use(async (sessions) => {
    const lines = [{ ...line, message: { role: "user", content: [result] } }]
    await createClaudeStore({ sessions }).append({ projectKey: "-work", sessionId }, lines)
  })
  const hits = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { hits } = JSON.parse((await cli("grep", "--no-index", ...args, "--json")).stdout) as {
      hits: { role: string; entryId: string }[]
    }
    return hits.map(({ role, entryId }) => `${role} ${entryId.slice(-1)}`)
  }
  expect(await hits("fix")).toEqual(["user 1"])
  expect(await hits("pass", "--role", "assistant")).toEqual(["assistant 2"])
  expect(await hits("exit")).toEqual(["toolResult 3"])
  expect(await hits("external")).toEqual([])
})
