/** Sessions with rounds of messages, memory in a storage, a model that answers as told, and a clock that stands still. */
import { createSessions, type NewEntry, type Session, type Sessions } from "@sessions/core"
import type { SummarizeRequest } from "@sessions/core/compaction"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import {
  createDocumentMemory,
  createRecall,
  type Fact,
  type MemoryFiles,
  type Recall,
  type RecallOptions,
} from "../src/index.ts"

export const NOW = Date.parse("2026-11-22T12:00:00.000Z")
export const SCOPE = "/project"

export interface World {
  readonly storage: SessionStorage
  readonly sessions: Sessions
  readonly session: Session
  readonly files: MemoryFiles
  readonly recall: Recall
  /** The requests that the model has got. */
  readonly asked: SummarizeRequest[]
}

export interface WorldOptions extends Partial<Omit<RecallOptions, "ask">> {
  /** The model's answer to each request; the last one is repeated. */
  readonly answers?: readonly unknown[]
}

export async function createWorld({ answers = ["[]"], ...options }: WorldOptions = {}): Promise<World> {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ cwd: SCOPE })
  const asked: SummarizeRequest[] = []
  const files = options.files ?? createDocumentMemory(storage)
  const recall = createRecall({
    files,
    scope: SCOPE,
    now: () => NOW,
    minToolCalls: 0,
    ask: async (request) => {
      asked.push(request)
      const answer = answers[Math.min(asked.length, answers.length) - 1]
      if (answer instanceof Error) throw answer
      return answer as string
    },
    ...options,
  })
  return { storage, sessions, session, files: files.of(options.scope ?? SCOPE), recall, asked }
}

export function user(text: string): NewEntry {
  return { type: "message", message: { role: "user", content: text } }
}

export function assistant(text: string): NewEntry {
  return { type: "message", message: { role: "assistant", content: text } }
}

export function call(id: string): NewEntry {
  const content = [{ type: "toolCall", id, name: "read", arguments: { path: "a.ts" } }] as const
  return { type: "message", message: { role: "assistant", content } }
}

export function result(id: string, text = "ok"): NewEntry {
  const content = [{ type: "text", text }] as const
  return { type: "message", message: { role: "toolResult", toolCallId: id, content, isError: false } }
}

/** Questions and answers, without tool calls. */
export async function talk(session: Session, messages: number): Promise<void> {
  const entries = Array.from({ length: messages }, (_, i) =>
    i % 2 === 0 ? user(`question ${i}`) : assistant(`answer ${i}`),
  )
  await session.append(entries)
}

/** Finished tool calls, and an answer. */
export async function work(session: Session, calls: number): Promise<void> {
  const entries = Array.from({ length: calls }, (_, i) => [call(`call-${i}`), result(`call-${i}`)]).flat()
  await session.append([user("go on"), ...entries, assistant("done")])
}

export function fact(text: string, category: Fact["category"] = "UserPreference"): Fact {
  return { category, fact: text, confidence: 0.9 }
}

export function answerOf(...facts: readonly unknown[]): string {
  return JSON.stringify(facts)
}

export function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code
}
