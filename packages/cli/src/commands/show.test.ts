import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample } from "../../test/sample.ts"

interface Shown {
  readonly info: { id: string; messageCount: number; cwd: string }
  readonly messages: readonly { entryId: string; seq: number; timestamp: string; message: { role: string } }[]
}

test("the information about the session precedes its newest messages", async () => {
  const cli = createCli()
  const { id, entries } = await cli.use((sessions) => makeSample(sessions))
  const { stdout } = await cli("show", "@last", "--last", "2")
  expect(stdout.split("\n")[0]).toBe(id)
  for (const fact of [
    "first prompt  fix the tests",
    "folder        /project",
    "messages      4",
    "anthropic/claude-opus-4-5",
  ]) {
    expect(stdout).toContain(fact)
  }
  expect(stdout).toMatch(/usage +2,400 tokens in, 68 out, 2 calls/)
  expect(stdout).toContain(`toolResult  2026-01-02 03:04  ${entries[2]}\n  1 failed\n`)
  expect(stdout).toContain(`assistant  2026-01-02 03:04  ${entries[3]}\n  One test fails.\n`)
  expect(stdout).not.toContain(`${entries[1]}`)
})

test("usage that no call reported is unknown, not 0", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create()
    await session.append({ type: "message", message: { role: "assistant", content: "done" } })
  })
  expect((await cli("show", "@last")).stdout).toMatch(/^usage +unknown tokens, 1 call$/m)
})

test("a tool call is shown with its arguments", async () => {
  const cli = createCli()
  await cli.use((sessions) => makeSample(sessions))
  expect((await cli("show", "@last")).stdout).toContain('  I look.\n  → bash {"command":"npm test"}\n')
})

test("--json prints the information and the requested number of messages", async () => {
  const cli = createCli()
  const { id, entries } = await cli.use((sessions) => makeSample(sessions))
  const all = (await cli.json("show", id)) as Shown
  expect(all.info).toMatchObject({ id, messageCount: 4, cwd: "/project" })
  expect(all.messages.map(({ entryId }) => entryId)).toEqual(entries)
  expect(all.messages[0]).toMatchObject({ seq: 1, timestamp: "2026-01-02T03:04:05.000Z", message: { role: "user" } })
  expect(((await cli.json("show", id, "--last", "0")) as Shown).messages).toEqual([])
  expect(((await cli.json("show", id, "--last", "3")) as Shown).messages.length).toBe(3)
})

test("messages of several pages are printed in order", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "long" })
    await session.append(
      Array.from(
        { length: 2500 },
        (_, i) => ({ type: "message", message: { role: "user", content: String(i) } }) as const,
      ),
    )
    await session.close()
  })
  const { messages } = (await cli.json("show", "long", "--last", "2400")) as unknown as {
    messages: { message: { content: { text: string }[] } }[]
  }
  expect(messages.map(({ message }) => Number(message.content[0]?.text))).toEqual(
    Array.from({ length: 2400 }, (_, i) => i + 100),
  )
})

test("a long message is cut after its first lines, and --full prints all of it", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "a" })
    const content = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n")
    await session.append({ type: "message", message: { role: "user", content } })
    await session.close()
  })
  expect((await cli("show", "a")).stdout).toMatch(/line 7\n {2}… 12 more lines\n$/)
  expect((await cli("show", "a", "--full")).stdout).toMatch(/line 19\n$/)
})

test("--parts lists the parts with their first line and size", async () => {
  const cli = createCli()
  await cli.use((sessions) => makeSample(sessions))
  expect((await cli("show", "@last", "--parts", "--last", "0")).stdout).toMatch(
    /PART +FIRST LINE +SIZE +LOCATION\n +1 +0 +1\.\d kB/,
  )
})
