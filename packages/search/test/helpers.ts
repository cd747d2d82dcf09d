/** A storage with sessions, a search over it, and the hits as short texts. */
import { createSessions, type Session, type Sessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { createMemoryIndex, createSearch, type FindOptions, type Search, type SearchIndex } from "../src/index.ts"

export interface World {
  readonly storage: SessionStorage
  readonly sessions: Sessions
  readonly search: Search
  /** The entry ids of all hits, in order. */
  readonly find: (text: string, o?: FindOptions) => Promise<string[]>
}

export function createWorld({
  storage = createMemoryStorage(),
  index = createMemoryIndex(),
}: {
  readonly storage?: SessionStorage
  readonly index?: SearchIndex
} = {}): World {
  const search = createSearch({ storage, index })
  const sessions = createSessions({ storage, hooks: search.hooks })
  const find = async (text: string, o?: FindOptions): Promise<string[]> =>
    (await search.search(text, o)).hits.map(({ entryId }) => entryId)
  return { storage, sessions, search, find }
}

export async function say(session: Session, content: string, role: "user" | "assistant" = "user"): Promise<string> {
  const { ids } = await session.append({ type: "message", message: { role, content } })
  return ids[0] as string
}

/** The snippet as text, with the matches in brackets. */
export function marked(snippet: readonly { readonly text: string; readonly match: boolean }[]): string {
  return snippet.map(({ text, match }) => (match ? `[${text}]` : text)).join("")
}
