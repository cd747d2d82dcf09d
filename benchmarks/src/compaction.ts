/**
 * Plans a compaction (rendering, counting, cut point, range of the summary) over messages of 200 bytes in turns with tool calls. The
 * raw loop only adds up the lengths of the texts. The plan is linear if ten times the messages take ten times as long.
 */
import { EntryLog } from "@sessions/core/context"
import type { ContentBlock, Entry, Message } from "@sessions/core"
import { prepareCompaction } from "@sessions/core/compaction"
import { type Result, type Scenario, timed } from "./report.ts"
import { inTurns, milliseconds, verify } from "./rounds.ts"

/** Enough for the median to be of compiled code. */
const ROUNDS = 25
const TEXT = "-".repeat(200)

export function compactionScenarios(quick: boolean): readonly Scenario[] {
  const small = { id: "compaction.10k", run: () => measure("compaction.10k", 10_000) }
  return quick ? [small] : [small, { id: "compaction.100k", run: () => measure("compaction.100k", 100_000) }]
}

async function measure(id: string, messages: number): Promise<Result> {
  const slots = makeEntries(messages)
  const log = EntryLog.of([undefined, ...slots])
  const entries = slots.map((entry) => ({ seq: entry.seq, entry }))
  let summarized = 0
  let units = 0
  const plan = (): void => {
    summarized = prepareCompaction(log, entries, { keep: { kind: "tokens", count: 20_000 } }).cut?.first ?? 0
  }
  const add = (): void => {
    units = addUp(slots)
  }
  const times = await inTurns({ ours: () => milliseconds(plan), raw: () => milliseconds(add) }, ROUNDS)
  verify(summarized > messages - 1_000 && units === messages * TEXT.length, "the plan does not cover all messages")
  return { ...timed(id, "ms", times), work: { messages, summarized } }
}

function addUp(entries: readonly Entry[]): number {
  let units = 0
  for (const entry of entries) {
    const { content } = entry["message"] as { readonly content: readonly { readonly text?: string }[] }
    for (const { text = "" } of content) units += text.length
  }
  return units
}

/** Turns of a prompt, a call, its result and an answer. */
function makeEntries(count: number): Entry[] {
  return Array.from({ length: count }, (_, index): Entry => {
    const id = `e${index + 1}`
    const parentId = index === 0 ? null : `e${index}`
    const position = { id, parentId, seq: index + 1, timestamp: "2026-01-31T09:30:00.000Z" }
    return { type: "message", ...position, message: messageAt(index) }
  })
}

function messageAt(index: number): Message {
  const content: readonly ContentBlock[] = [{ type: "text", text: TEXT }]
  const path = `src/file-${index % 50}.ts`
  const call: ContentBlock = { type: "toolCall", id: `c${index}`, name: "read", arguments: { path } }
  switch (index % 4) {
    case 0:
      return { role: "user", content }
    case 1:
      return { role: "assistant", content: [...content, call] }
    case 2:
      return { role: "toolResult", toolCallId: `c${index - 1}`, isError: false, content }
    default:
      return { role: "assistant", content }
  }
}
