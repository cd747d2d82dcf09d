import { expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { makeSample } from "../../test/sample.ts"

interface Context {
  readonly id: string
  readonly leafId: string
  readonly messages: readonly { entryId: string; kind: string; message: { role: string } }[]
  readonly model: unknown
  readonly tokens: number
  readonly fits?: boolean
}

test("--json prints every message with its entry and kind, the model and the tokens", async () => {
  const cli = createCli()
  const { id, entries } = await cli.use((sessions) => makeSample(sessions))
  const context = (await cli.json("context", id)) as Context
  expect(context).toMatchObject({ id, leafId: entries[3], model: { provider: "anthropic", model: "claude-opus-4-5" } })
  expect(context.messages.map(({ entryId, kind, message }) => [entryId, kind, message.role])).toEqual(
    ["user", "assistant", "toolResult", "assistant"].map((role, i) => [entries[i], "message", role]),
  )
  expect(context.tokens).toBeGreaterThan(10)
  expect(context.fits).toBeUndefined()
})

test("--window reports whether the context fits", async () => {
  const cli = createCli()
  await cli.use((sessions) => makeSample(sessions))
  const fits = async (window: string): Promise<boolean | undefined> =>
    ((await cli.json("context", "@last", "--window", window)) as Context).fits
  expect([await fits("5"), await fits("100000")]).toEqual([false, true])
  expect((await cli("context", "@last", "--window", "5")).stdout).toContain("does not fit into 5")
})

test("--repair completes, drops or keeps a tool call without a result", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "interrupted" })
    const call = { type: "toolCall" as const, id: "c", name: "bash", arguments: {} }
    await session.append([
      { type: "message", message: { role: "user", content: "go" } },
      { type: "message", message: { role: "assistant", content: [call] } },
    ])
    await session.close()
  })
  const kinds = async (...argv: string[]): Promise<string[]> =>
    ((await cli.json("context", "interrupted", ...argv)) as Context).messages.map(({ kind }) => kind)
  expect(await kinds()).toEqual(["message", "message", "repair"])
  expect(await kinds("--repair", "none")).toEqual(["message", "message"])
  expect((await kinds("--repair", "drop")).length).toBeLessThan(3)
  expect((await cli("context", "interrupted")).stdout).toMatch(/repaired/)
})

test("the text has a summary line and a line for each message; --full prints whole messages", async () => {
  const cli = createCli()
  const { entries } = await cli.use((sessions) => makeSample(sessions))
  const { stdout } = await cli("context", "@last")
  expect(stdout).toMatch(/^4 messages · about [\d,]+ tokens · anthropic\/claude-opus-4-5\n/)
  expect(stdout).toMatch(/ 1 {2}user {2}fix the tests\n +2 {2}assistant {2}I look\. → bash/)
  expect((await cli("context", "@last", "--full")).stdout).toContain(`toolResult  ${entries[2]}\n  1 failed\n`)
})
