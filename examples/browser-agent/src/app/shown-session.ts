/** The session that is shown, and the branch of it. */
import type { CompactionSettings, Session } from "@sessions/core"
import { hasCode } from "@sessions/core"
import { openFollowed, type Opened } from "../sessions/open.ts"
import { readConversation } from "../sessions/conversation.ts"
import type { Context } from "./context.ts"
import { noticeOf } from "./notices.ts"

export interface Showing {
  /** Undefined: a new session. */
  readonly show: (id: string | undefined) => Promise<void>
  /** Looks at another branch. Nothing is written until something is said there. */
  readonly view: (leaf: string) => Promise<void>
  readonly current: () => Opened | undefined
  /** From now on the view goes where the session's own leaf goes; what comes back makes it stay where that is then. */
  readonly followLeaf: (id: string) => (session: Session) => void
}

/** Another tab's appends are in the list, too. */
export function createShowing({ sessions, store, attempt, model }: Context, listed: () => void): Showing {
  let opened: Opened | undefined
  let viewed: string | null | undefined
  let latest = 0

  async function read(session: Session): Promise<void> {
    const turn = ++latest
    try {
      const conversation = await readConversation(session, viewed, model().window)
      if (turn === latest && store.get().openId === session.id) store.set({ conversation })
    } catch (error) {
      // Closed for being opened anew: that is read next.
      if (turn === latest && !hasCode(error, "closed")) store.set({ notice: noticeOf(error, "read the session") })
    }
  }

  async function show(id: string | undefined): Promise<void> {
    opened?.close()
    opened = undefined
    viewed = undefined
    latest++
    store.set({ openId: id, conversation: undefined, elsewhere: false, compacting: false })
    if (id === undefined) return
    const isShown = (): boolean => store.get().openId === id
    const session = await attempt("open the session", () =>
      openFollowed(sessions, id, compactionOf(), {
        changed: (session) => {
          if (!isShown()) return
          void read(session)
          listed()
        },
        gone() {
          void show(undefined)
          store.set({ notice: { kind: "done", text: "The session was deleted in another tab." } })
          listed()
        },
        elsewhere: (running) => isShown() && store.set({ elsewhere: running }),
        compacting: (running) => isShown() && store.set({ compacting: running }),
        failed: (error) => isShown() && store.set({ notice: noticeOf(error, "follow the session") }),
      }),
    )
    if (session === undefined || !isShown()) session?.close()
    else opened = session
    if (session === undefined && isShown()) store.set({ openId: undefined })
  }

  /** With a summarizer, every turn compacts when it is time. */
  function compactionOf(): CompactionSettings {
    const { window } = model()
    return {
      summarize: (request) => model().summarize(request),
      contextWindow: window,
      thresholdShare: COMPACTS_AT,
      keepRecentTokens: Math.floor(window * KEEPS),
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
    current: () => opened,
    followLeaf(id) {
      if (store.get().openId === id) viewed = undefined
      return (session) => {
        if (store.get().openId === id && viewed === undefined) viewed = session.leafId
      }
    },
  }
}

/** Shares of the window. */
export const COMPACTS_AT = 0.8
const KEEPS = 0.1
