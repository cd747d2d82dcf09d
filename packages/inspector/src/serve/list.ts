/** Lists sessions, newest message first; with words, those whose title, first prompt, folder or id has them. */
import type { SessionInfo, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"

export interface Listed {
  readonly sessions: readonly Pick<
    SessionInfo,
    "id" | "title" | "firstPrompt" | "lastMessageAt" | "messageCount" | "cwd" | "kind" | "bytes"
  >[]
  readonly next?: string
  readonly unreadable: readonly { readonly id: string; readonly message: string }[]
}

const PAGE = 50
/** Looked at for one answer; the next page goes on. */
const MAX_PAGES = 40

export async function listSessions(
  sessions: Sessions,
  words: string,
  start: string | undefined,
  o: CallOptions,
): Promise<Listed> {
  const wanted = words.trim().toLowerCase()
  const found: SessionInfo[] = []
  const unreadable: { id: string; message: string }[] = []
  let cursor = start
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await sessions.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }), ...o })
    for (const info of page.sessions) if (matches(info, wanted)) found.push(info)
    for (const { id, error } of page.unreadable)
      unreadable.push({ id, message: error instanceof Error ? error.message : String(error) })
    cursor = page.next
    if (cursor === undefined || found.length >= PAGE || wanted === "") break
  }
  return {
    sessions: found.map(({ id, title, firstPrompt, lastMessageAt, messageCount, cwd, kind, bytes }) => ({
      id,
      lastMessageAt,
      messageCount,
      bytes,
      ...(title === undefined ? {} : { title }),
      ...(firstPrompt === undefined ? {} : { firstPrompt }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(kind === undefined ? {} : { kind }),
    })),
    ...(cursor === undefined ? {} : { next: cursor }),
    unreadable,
  }
}

function matches({ id, title, firstPrompt, cwd }: SessionInfo, words: string): boolean {
  return words === "" || [id, title, firstPrompt, cwd].some((text) => text?.toLowerCase().includes(words))
}
