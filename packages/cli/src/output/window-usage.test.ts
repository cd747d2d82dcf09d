import { compact } from "@sessions/core/compaction"
import { expect, test } from "vitest"
import { type Cli, createCli } from "../../test/harness.ts"
import type { WindowUsage } from "./window-usage.ts"

interface Context {
  readonly fits: boolean
  readonly tokens: number
  readonly pruned?: readonly unknown[]
  readonly fill: WindowUsage
}

/** A system prompt of 1,000 tokens, a summary, a question, 14 tool calls with results of 2,250 tokens each, and an answer. */
async function createSession(o: { readonly rounds?: number } = {}): Promise<Cli> {
  const cli = createCli()
  await cli.use(async (sessions) => {
    const session = await sessions.create({ id: "s", systemPromptOverride: "p".repeat(4_000) })
    await session.append([
      { type: "message", message: { role: "user", content: "x".repeat(8_000) } },
      { type: "message", message: { role: "assistant", content: "x".repeat(8_000) } },
    ])
    await compact(session, { summarize: async () => "## Goal", keepRecentTokens: 0 })
    await session.append({ type: "message", message: { role: "user", content: "go on" } })
    for (let n = 0; n < (o.rounds ?? 14); n++) {
      const call = { type: "toolCall" as const, id: `c${n}`, name: "read", arguments: { n } }
      const content = "r".repeat(9_000)
      await session.append([
        { type: "message", message: { role: "assistant", content: [call] } },
        { type: "message", message: { role: "toolResult", toolCallId: `c${n}`, isError: false, content } },
      ])
    }
    await session.append({ type: "message", message: { role: "assistant", content: "done" } })
    await session.close()
  })
  return cli
}

test("--json: the parts add up to the window, and compaction and pruning are previewed", async () => {
  const cli = await createSession()
  const { fill, tokens } = (await cli.json("context", "s", "--window", "64000")) as Context
  const { parts } = fill
  expect(parts).toMatchObject({ prompt: 1_000, toolResults: 14 * 2_250, reserve: 16_384 })
  expect(parts.prompt + parts.summary + parts.messages + parts.toolResults).toBe(tokens)
  expect(tokens + parts.free + parts.reserve).toBe(64_000)
  expect(fill.compaction).toMatchObject({ due: false, messagesSummarized: 13, messagesKept: 17 })
  expect((fill.compaction?.tokensKept ?? 0) + (fill.compaction?.tokensSummarized ?? 0)).toBe(
    tokens - parts.prompt - parts.summary,
  )
  // After so few answers a step would cost more than it saves.
  expect(fill.pruning).toEqual({ trimmed: 0, cleared: 0, tokensFreed: 0, fits: true })
  const smaller = (await cli.json("context", "s", "--window", "40000", "--prune")) as Context
  expect(smaller.fill.pruning).toMatchObject({ trimmed: 2, cleared: 8, fits: true })
  expect(smaller.fill.pruning.tokensFreed).toBe(tokens - smaller.tokens)
})

test("--keep-recent-tokens and --reserve-tokens change the preview", async () => {
  const cli = await createSession()
  const options = ["--window", "64000", "--keep-recent-tokens", "5000", "--reserve-tokens", "40000"]
  const { fill, tokens } = (await cli.json("context", "s", ...options)) as Context
  expect(fill.compaction).toMatchObject({ due: true, messagesKept: 5 })
  expect(fill.parts).toMatchObject({ free: 0, reserve: 64_000 - tokens })
})

test("--prune shows the pruned context and its usage", async () => {
  const cli = await createSession()
  const whole = (await cli.json("context", "s", "--window", "32000")) as Context
  const pruned = (await cli.json("context", "s", "--window", "32000", "--prune")) as Context
  expect([whole.fits, pruned.fits]).toEqual([false, true])
  expect(whole.pruned).toBeUndefined()
  const { trimmed, cleared, tokensFreed } = whole.fill.pruning
  expect(pruned.pruned).toHaveLength(trimmed + cleared)
  expect(pruned.tokens).toBe(whole.tokens - tokensFreed)
  expect(pruned.fill.pruning).toEqual(whole.fill.pruning)
  expect(pruned.fill.parts.toolResults).toBe(whole.fill.parts.toolResults - tokensFreed)
  expect((await cli("context", "s", "--window", "32000")).stdout).toMatch(/would trim \d+ and clear \d+ tool results/)
  expect((await cli("context", "s", "--window", "32000", "--prune")).stdout).toMatch(/pruning: trimmed \d+ and cleared/)
})

test("the bar has one character for each part and is as wide as the terminal, at most 80 columns", async () => {
  const cli = await createSession()
  for (const [columns, width] of [
    [undefined, 80],
    [200, 80],
    [40, 40],
    [10, 10],
  ] as const) {
    const view = columns === undefined ? {} : { terminal: columns, env: { NO_COLOR: "1" } }
    const { stdout } = await cli.with(view, "context", "s", "--window", "64000")
    const lines = stdout.split("\n")
    const bar = lines.find((line) => line.startsWith("[")) ?? ""
    expect(bar).toMatch(/^\[%+S+=+#+\.+~+\]$/)
    expect(bar).toHaveLength(width)
    const usage = lines.slice(lines.indexOf(bar), lines.findIndex((line) => line.startsWith("pruning")) + 1)
    expect(usage.length).toBeGreaterThan(8)
    for (const line of usage) expect(line.length).toBeLessThanOrEqual(columns ?? Number.POSITIVE_INFINITY)
  }
  const { stdout } = await cli("context", "s", "--window", "64000")
  expect(stdout).toMatch(/\n {2}# {2}tool results +31,500 +49 %\n/)
  expect(stdout).toMatch(
    /\n {2}would summarize 13 messages, [\d,]+ tokens\n {2}would keep 17 messages, [\d,]+ tokens\n/,
  )
})

test("a context larger than the window fills the bar, with a mark at the end of the window", async () => {
  const cli = await createSession()
  const { stdout } = await cli("context", "s", "--window", "17000")
  const bar = stdout.split("\n").find((line) => line.startsWith("[")) ?? ""
  expect(bar).toMatch(/^\[[%S=#]+\|#+\]$/)
  expect(bar.indexOf("|") / 80).toBeCloseTo(17_000 / 33_000, 1)
  expect(stdout).toMatch(/does_not_fit/)
})

test("a short context has nothing to compact or prune", async () => {
  const cli = await createSession({ rounds: 1 })
  const { fill } = (await cli.json("context", "s", "--window", "64000")) as Context
  expect(fill).not.toHaveProperty("compaction")
  expect(fill.pruning).toEqual({ trimmed: 0, cleared: 0, tokensFreed: 0, fits: true })
  const { stdout } = await cli("context", "s", "--window", "64000")
  expect(stdout).toMatch(/compaction: nothing to summarize.*\npruning: nothing to prune\n/)
})

test("options that require --window are refused without it", async () => {
  const cli = await createSession({ rounds: 1 })
  for (const option of [["--prune"], ["--reserve-tokens", "1"], ["--keep-recent-tokens", "1"]]) {
    const { exit, stderr } = await cli("context", "s", ...option)
    expect([exit, stderr]).toEqual([2, expect.stringContaining(`${option[0]} requires --window N`)])
  }
  expect(await cli.json("context", "s")).not.toHaveProperty("fill")
})
