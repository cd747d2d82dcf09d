/** What people typed, from the sessions of a store: their messages on the current branch of each session. */
import { hasCode, type Sessions } from "@sessions/core"
import { textOf } from "@sessions/core/format"
import type { CallOptions } from "@sessions/core/storage"
import { conversationOf } from "./conversation.ts"

export interface TypedPrompt {
  readonly session: string
  readonly entryId: string
  readonly at: string
  readonly cwd?: string
  readonly prompt: string
}

export interface PromptFilter extends CallOptions {
  readonly words: string
  readonly limit: number
  readonly cwd?: string
  /** Called with the number of sessions that were read. */
  readonly onProgress?: (read: number) => void
}

/**
 * The newest prompts with all words; undefined if the store has no session. Sessions are read from the newest message on, until none that
 * follows can have a newer prompt than those that were found.
 */
export async function typedPrompts(sessions: Sessions, o: PromptFilter): Promise<readonly TypedPrompt[] | undefined> {
  const { words, limit, cwd, onProgress, ...call } = o
  const wanted = wordsOf(words)
  let found: TypedPrompt[] = []
  let [read, seen, cursor]: [number, number, string | undefined] = [0, 0, undefined]
  do {
    const page = await sessions.list({ ...call, limit: 200, ...(cursor !== undefined && { cursor }) })
    seen += page.sessions.length + page.unreadable.length
    cursor = page.next
    for (const info of page.sessions) {
      const last = found[limit - 1]
      if (last !== undefined && time(info.lastMessageAt) < time(last.at)) return found
      if (info.source === "cron" || (cwd !== undefined && info.cwd !== cwd)) continue
      const place = info.cwd === undefined ? {} : { cwd: info.cwd }
      for (const one of await promptsOf(sessions, info.id, call)) {
        if (has(one.prompt, wanted)) found.push({ session: info.id, ...one, ...place })
      }
      found = found.toSorted((a, b) => time(b.at) - time(a.at)).slice(0, limit)
      onProgress?.(++read)
    }
  } while (cursor !== undefined)
  return seen === 0 ? undefined : found
}

type Prompt = Pick<TypedPrompt, "entryId" | "at" | "prompt">

/** A session that cannot be read, or is deleted meanwhile, has none. */
async function promptsOf(sessions: Sessions, id: string, o: CallOptions): Promise<readonly Prompt[]> {
  try {
    const session = await (await conversationOf(sessions, id, o)).open(id, o)
    try {
      const prompts: Prompt[] = []
      let before: string | undefined
      do {
        const page = await session.messages({ ...o, limit: 1_000, ...(before !== undefined && { before }) })
        for (const { entryId, timestamp, message } of page.messages) {
          const { role, synthetic, summary } = message as { role: string; synthetic?: unknown; summary?: unknown }
          const prompt = role === "user" && synthetic !== true && summary !== true ? textOf(message) : ""
          if (prompt !== "") prompts.push({ entryId, at: timestamp, prompt })
        }
        before = page.before
      } while (before !== undefined)
      return prompts
    } finally {
      await session.close()
    }
  } catch (error) {
    if (["corrupt", "not_found", "not_a_session", "unsupported"].some((code) => hasCode(error, code as never)))
      return []
    throw error
  }
}

function time(timestamp: string): number {
  return Date.parse(timestamp) || 0
}

/** In lower case and without accents. */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFD")
      .replaceAll(/\p{M}/gu, "")
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  )
}

/** Whether each word begins some word of the text. */
function has(text: string, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  const words = wordsOf(text)
  return wanted.every((one) => words.some((word) => word.startsWith(one)))
}
