/**
 * Results that do not follow the message of their call, as of agents that have a message for each of several calls, or let a person speak while
 * a tool runs. pi takes a call for unanswered when another message comes, and sends the result too where it is, which every API refuses.
 */
import type { Entry } from "@sessions/core"
import type { SessionToWrite } from "../base/format.ts"
import { isConversation, type LogIndex } from "../base/written-path.ts"

export interface Answers {
  /** The results that come later than right behind the message at `seq`, which has their calls. Held in memory. */
  behind(seq: number): readonly Entry[]
  /** Whether the result at `seq` is written behind the message of its call. */
  isMoved(seq: number): boolean
  /** Whether the call of the result at `seq` has another one before it. */
  isRepeated(seq: number): boolean
}

/** Those of the current path. */
export async function answersOf(session: SessionToWrite, index: LogIndex): Promise<Answers> {
  const behind = new Map<number, Entry[]>()
  const [moved, repeated] = [new Set<number>(), new Set<number>()]
  /** For the id of each call: the messages that have it, as often as it has no result yet. Empty: all have one. */
  const open = new Map<string, number[]>()
  let last: number | undefined
  for await (const entry of session.entries()) {
    const { seq } = entry
    const edit = index.editOf(seq)
    if (!index.isWritten(seq) || !isConversation(entry) || edit?.content === null) continue
    if (entry.type !== "message" || entry.message.role !== "toolResult") {
      last = seq
      const content = entry.type === "message" ? (edit?.content ?? entry.message.content ?? []) : []
      const calls = content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
      for (const id of calls) open.delete(id)
      for (const id of calls) open.set(id, [...(open.get(id) ?? []), seq])
      continue
    }
    const waiting = open.get(entry.message.toolCallId)
    const call = waiting?.shift()
    if (call === undefined && waiting !== undefined) repeated.add(seq)
    if (call === undefined || call === last) continue
    moved.add(seq)
    behind.set(call, [...(behind.get(call) ?? []), entry])
  }
  return {
    behind: (seq) => behind.get(seq) ?? [],
    isMoved: (seq) => moved.has(seq),
    isRepeated: (seq) => repeated.has(seq),
  }
}

/** Where all branches are in a file, each result stays in its place. */
export const NO_ANSWERS: Answers = { behind: () => [], isMoved: () => false, isRepeated: () => false }
