/** Opens the shown session, selects its branch, and follows changes by other tabs. */
import { hasCode, type Session } from "@sessions/core"
import type { CompactionSettings } from "@sessions/core/compaction"
import { openFollowed, type Opened } from "../sessions/open.ts"
import { readConversation } from "../sessions/conversation.ts"
import type { Context } from "./context.ts"
import { noticeOf } from "./notices.ts"

export interface ShownSession {
  /** Undefined shows a new session. */
  readonly show: (id: string | undefined) => Promise<void>
  /** Shows another branch. Writes nothing; the next message continues that branch. */
  readonly view: (leaf: string) => Promise<void>
  /** Makes another branch the session's own, for all tabs that open it. Branches that were shown as others are settled by that. */
  readonly goTo: (id: string) => Promise<void>
  /** Settles another branch: it stays in the outline, and is not pointed out any more. */
  readonly settle: (id: string) => Promise<void>
  readonly current: () => Opened | undefined
  /** Makes the view follow the session's leaf. The returned function makes it stay at the leaf of that moment. */
  readonly followLeaf: (id: string) => (session: Session) => void
}

/** @param onListChanged called when the session's row in the list may have changed */
export function createShownSession(
  { sessions, store, attempt, model }: Context,
  onListChanged: () => void,
): ShownSession {
  let opened: Opened | undefined
  let viewed: string | null | undefined
  let latest = 0

  async function read(session: Session): Promise<void> {
    const current = ++latest
    try {
      const conversation = await readConversation(session, viewed, model().window)
      if (current === latest && store.get().openId === session.id) store.set({ conversation })
    } catch (error) {
      // `closed`: another session is shown by now.
      if (current === latest && !hasCode(error, "closed")) store.set({ notice: noticeOf(error, "read the session") })
    }
  }

  async function show(id: string | undefined): Promise<void> {
    opened?.close()
    opened = undefined
    viewed = undefined
    latest++
    store.set({ openId: id, conversation: undefined, runsElsewhere: false, compacting: false })
    if (id === undefined) return
    const isShown = (): boolean => store.get().openId === id
    const session = await attempt("open the session", () =>
      openFollowed(sessions, id, compactionOf(), {
        changed: (session) => {
          if (!isShown()) return
          void read(session)
          onListChanged()
        },
        gone() {
          void show(undefined)
          store.set({ notice: { kind: "done", text: "The session was deleted in another tab or on another device." } })
          onListChanged()
        },
        outdated: () => isShown() && void show(id),
        turnElsewhere: (running) => isShown() && store.set({ runsElsewhere: running }),
        compacting: (running) => isShown() && store.set({ compacting: running }),
        failed: (error) => isShown() && store.set({ notice: noticeOf(error, "follow the session") }),
      }),
    )
    if (session === undefined || !isShown()) session?.close()
    else opened = session
    if (session === undefined && isShown()) store.set({ openId: undefined })
  }

  /** With these settings each turn compacts the session when the window is nearly full. */
  function compactionOf(): CompactionSettings {
    const { window } = model()
    return {
      summarize: (request) => model().summarize(request),
      contextWindow: window,
      thresholdShare: COMPACTION_THRESHOLD,
      keepRecentTokens: Math.floor(window * KEPT_SHARE),
      maxSummaryTokens: Math.floor(window / 4),
    }
  }

  return {
    show,
    async view(leaf) {
      viewed = leaf
      await opened?.run(read)
      viewed = store.get().conversation?.leaf
    },
    async goTo(id) {
      const session = opened
      if (session === undefined) return
      viewed = undefined
      await attempt("go to the branch", () => session.run((session) => session.branch(id)))
    },
    async settle(id) {
      await attempt("settle the branch", async () => opened?.run((session) => session.settle([id])))
    },
    current: () => opened,
    followLeaf(id) {
      if (store.get().openId === id) viewed = undefined
      return (session) => {
        if (store.get().openId === id && viewed === undefined) viewed = session.leafId
      }
    },
  }
}

/** As shares of the context window. */
export const COMPACTION_THRESHOLD = 0.8
const KEPT_SHARE = 0.1
