/** What the killed processes append: batches that follow from the writer and a number, so that a writer can repeat one. */
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createSqliteStorage } from "@sessions/sqlite"
import type { SessionStoreEntry } from "@sessions/claude-agent"
import { join } from "node:path"

export const KEY = { projectKey: "-work", sessionId: "11111111-1111-4111-8111-111111111111" }
export const WRITERS = 2

export const STORES = ["files", "sqlite"] as const
export type Store = (typeof STORES)[number]

export function openSessions(store: Store, folder: string): Sessions {
  const storage =
    store === "files"
      ? createFileStorage({ root: folder })
      : createSqliteStorage({ path: join(folder, "s.db"), durability: "os" })
  // With the million bytes that core keeps free for annotations, a transcript takes several sessions.
  return createSessions({ storage, maxSessionBytes: 4_000 })
}

/** Lines of the writer alone, one that all writers have, and one without a uuid. */
export function batch(writer: number, n: number): SessionStoreEntry[] {
  const own = Array.from({ length: 1 + (n % 7) }, (_, i) => ({
    type: "user",
    uuid: `own-${writer}-${n}-${i}`,
    message: { role: "user", content: "x".repeat((n * 997) % 20_000) },
  }))
  return [...own, { type: "user", uuid: `all-${n}` }, { type: "tag", tag: `${writer}-${n}` }]
}
