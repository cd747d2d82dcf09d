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

test("as JSON: every message with its entry and kind, the model, the tokens", async () => {
  const cli = createCli()
  const { id, entries } = await cli.use((sessions) => makeSample(sessions))
  const found = (await cli.json("context", id)) as Context
  expect(found).toMatchObject({ id, leafId: entries[3], model: { provider: "anthropic", model: "claude-opus-4-5" } })
  expect(found.messages.map(({ entryId, kind, message }) => [entryId, kind, message.role])).toEqual(
    ["user", "assistant", "toolResult", "assistant"].map((role, i) => [entries[i], "message", role]),
  )
  expect(found.tokens).toBeGreaterThan(10)
  expect(found.fits).toBeUndefined()
})

test("with a window it says whether the context fits", async () => {
  const cli = createCli()
  await cli.use((sessions) => makeSample(sessions))
  const fits = async (window: string): Promise<boolean | undefined> =>
    ((await cli.json("context", "@last", "--window", window)) as Context).fits
  expect([await fits("5"), await fits("100000")]).toEqual([false, true])
  expect((await cli("context", "@last", "--window", "5")).stdout).toContain("does not fit into 5")
})

test("a call without a result is completed, dropped or left as it is", async () => {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "cut-off" })
    const call = { type: "toolCall", id: "c", name: "bash", arguments: {} }
    await session.append([
      { type: "message", message: { role: "user", content: "go" } },
      { type: "message", message: { role: "assistant", content: [call] } },
    ])
    await session.close()
  })
  const kinds = async (...argv: string[]): Promise<string[]> =>
    ((await cli.json("context", "cut-off", ...argv)) as Context).messages.map(({ kind }) => kind)
  expect(await kinds()).toEqual(["message", "message", "repair"])
  expect(await kinds("--repair", "none")).toEqual(["message", "message"])
  expect((await kinds("--repair", "drop")).length).toBeLessThan(3)
  expect((await cli("context", "cut-off")).stdout).toMatch(/repaired/)
})

test("as text: a line of facts, then a line for each message; --full has all of it", async () => {
  const cli = createCli()
  const { entries } = await cli.use((sessions) => makeSample(sessions))
  const { stdout } = await cli("context", "@last")
  expect(stdout).toMatch(/^4 messages · about \d+ tokens · anthropic\/claude-opus-4-5\n/)
  expect(stdout).toMatch(/ 1 {2}user {2}fix the tests\n +2 {2}assistant {2}I look\. → bash/)
  expect((await cli("context", "@last", "--full")).stdout).toContain(`toolResult  ${entries[2]}\n  1 failed\n`)
})
