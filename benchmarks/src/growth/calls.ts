/** The calls whose growth is measured: on a log with many entries of a kind, and on a storage with many sessions. */
import type { Session, Sessions } from "@sessions/core"
import { deleteOldSessions, sessionBranches, sessionTree, verifySession } from "@sessions/core/transfer"
import { message } from "../data.ts"
import { verify } from "../rounds.ts"

type Call = (sessions: Sessions, id: string, count: number) => Promise<unknown>

/** How many appends, creations and deletions are one call. */
const SOME = 50

const on =
  (use: (session: Session) => Promise<unknown>): Call =>
  async (sessions, id) =>
    use(await sessions.open(id))

const last: Call = on(async (session) => {
  const { messages } = await session.messages({ limit: 50 })
  verify(messages.length > 0, "there are no messages")
})

const OF_LOG: Readonly<Record<string, Call>> = {
  last,
  context: on((session) => session.context()),
  tree: on((session) => sessionTree(session)),
  branches: on((session) => sessionBranches(session)),
  append: on(async (session) => {
    for (let n = 0; n < SOME; n++) await session.append(message(n))
  }),
  verify: (sessions, id) => verifySession(sessions, id),
}

const OF_SESSIONS: Readonly<Record<string, Call>> = {
  async list(sessions) {
    const { sessions: found } = await sessions.list({ limit: 50 })
    verify(found.length === 50, `${found.length} sessions`)
  },
  /** As an application shows them. */
  async pages(sessions, _, count) {
    let found = 0
    let cursor: string | undefined
    do {
      const page = await sessions.list({ limit: 200, ...(cursor === undefined ? {} : { cursor }) })
      found += page.sessions.length
      cursor = page.next
    } while (cursor !== undefined)
    verify(found >= 0.9 * count, `${found} of ${count} sessions`)
  },
  last,
  async old(sessions) {
    const { removed } = await deleteOldSessions(sessions, { olderThan: 86_400_000, dryRun: true })
    verify(removed.length === 0, `${removed.length} old sessions`)
  },
  async create(sessions) {
    for (let n = 0; n < SOME; n++) await (await sessions.create({ entries: [message(n)] })).close()
  },
  async delete(sessions, first) {
    const { sessions: found } = await sessions.list({ limit: SOME })
    for (const { id } of found) if (id !== first) await sessions.delete(id)
  },
}

/** What a store has many of: entries of a log, or sessions. */
export type Of = "log" | "sessions"

export const CALLS: Readonly<Record<Of, Readonly<Record<string, Call>>>> = { log: OF_LOG, sessions: OF_SESSIONS }
