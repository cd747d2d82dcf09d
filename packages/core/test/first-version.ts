/**
 * A long log of version 1, as pi wrote it: no ids, compactions that name the index of the first record that they keep, calls that were cut
 * off in the middle of their JSON, commands that the user ran. It is the same each time.
 */
import { createDice, type Dice } from "./dice.ts"

type Fields = Readonly<Record<string, unknown>>

/** Lines of the log, the header counted as 0: its two compactions, and the first kept entry of each, a user's and an assistant's message. */
export const COMPACTIONS = [
  { at: 138, firstKept: 102 },
  { at: 276, firstKept: 223 },
] as const

export const LINES = 554
/** Lines with a field of a stream in progress. */
export const CUT_OFF = 3
/** Messages of the context: the summary of the second compaction, what it keeps, and what follows. */
export const CONTEXT_MESSAGES = 328
export const LEFT = "/home/dev/.pi/agent/sessions/--home-dev-shop--/2025-12-08T20-00-00-000Z_first.jsonl"

const START = Date.UTC(2025, 11, 8, 22, 45)
const TURNS = 60
const HEADER = {
  type: "session",
  id: "b1b1b1b1-0000-4000-8000-000000000011",
  cwd: "/home/dev/shop",
  provider: "anthropic",
  modelId: "claude-haiku-4-5",
  thinkingLevel: "off",
  branchedFrom: LEFT,
}
const ASSISTANT = {
  role: "assistant",
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude-opus-4-5",
  usage: { input: 5, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 7, cost: { input: 0.1, total: 0.1 } },
}
const WORDS = ["parser", "reads", "line", "é", "日本", "🙂", "\u2028", "{", '"quoted"', "\\n", "\t", "\n", "<summary>"]

/** The lines, without line feeds. */
export function firstVersionLines(): readonly string[] {
  const dice = createDice(1)
  const records: Fields[] = []
  const add = (record: Fields): void => {
    // A second each, so that the time tells the records apart.
    records.push({ ...record, timestamp: new Date(START + records.length * 1000).toISOString() })
  }
  const say = (message: Fields): void => add({ type: "message", message: { ...message, timestamp: START } })

  add(HEADER)
  for (const thinkingLevel of ["minimal", "high"]) add({ type: "thinking_level_change", thinkingLevel })
  for (let turn = 1; turn <= TURNS; turn++) {
    for (const message of messagesOf(turn, dice)) say(message)
    for (const [number, { firstKept: firstKeptEntryIndex }] of COMPACTIONS.entries()) {
      const summary = `# Checkpoint ${number}\n\n${textOf(dice, 60)}`
      if (turn === 15 * (number + 1)) add({ type: "compaction", summary, firstKeptEntryIndex, tokensBefore: 9 })
    }
    if (turn !== 40) continue
    for (const modelId of ["claude-sonnet-4-5", "claude-opus-4-5"])
      add({ type: "model_change", provider: "anthropic", modelId })
  }
  add({ type: "thinking_level_change", thinkingLevel: "off" })
  return records.map((record) => JSON.stringify(record))
}

/** A prompt, three answers with calls and their results, an answer; in some turns a command of the user and an answer that was cut off. */
function messagesOf(turn: number, dice: Dice): readonly Fields[] {
  const text = (length: number) => ({ type: "text", text: textOf(dice, length) })
  const thinking = { type: "thinking", thinking: textOf(dice, 20), thinkingSignature: "c2ln" }
  const steps = [1, 2, 3].flatMap((step) => {
    const ids = step === 3 ? [`t${turn}-a`, `t${turn}-b`] : [`t${turn}-${step}`]
    const calls = ids.map((id) => ({
      type: "toolCall",
      id,
      name: "read",
      arguments: { path: `/p/${id}.ts`, limit: 200 },
    }))
    const content = [...(step === 1 ? [thinking] : []), ...(step === 2 ? [text(20)] : []), ...calls]
    return [
      { ...ASSISTANT, content, stopReason: "toolUse" },
      ...ids.map((toolCallId) => ({
        role: "toolResult",
        toolCallId,
        toolName: "read",
        content: [text(dice.below(500))],
        ...(step === 1 ? { details: { lines: [1, 200] } } : {}),
        isError: dice.chance(0.1),
      })),
    ]
  })
  const command = { command: "npm test", output: textOf(dice, 40), exitCode: 1, cancelled: false, truncated: false }
  const torn = {
    type: "toolCall",
    id: `t${turn}-torn`,
    name: "bash",
    arguments: { command: "ls" },
    partialJson: '{"command": "l',
  }
  return [
    { role: "user", content: [text(30)] },
    ...steps,
    ...(turn % 20 === 0 ? [{ role: "bashExecution", ...command }] : []),
    ...(turn % 18 === 0
      ? [{ ...ASSISTANT, content: [torn], stopReason: "aborted", errorMessage: "Request was aborted." }]
      : []),
    { ...ASSISTANT, content: [text(80)], stopReason: "stop" },
  ]
}

function textOf(dice: Dice, words: number): string {
  return Array.from({ length: words }, () => dice.pick(WORDS)).join(" ")
}
