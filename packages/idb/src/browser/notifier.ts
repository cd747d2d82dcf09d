/** Notifies watchers of changed sessions, within this storage object and, by BroadcastChannel, in other tabs and workers. */

export interface Notifier {
  /** Whether other tabs can be reached; otherwise watchers must poll more often. */
  readonly reachesOtherTabs: () => boolean
  /** Reports that the session was written to or deleted. */
  emit(session: string): void
  /** Calls the listener after each change, here or in another tab, until the returned function is called. */
  subscribe(session: string, listener: () => void): () => void
  close(): void
}

export function createNotifier(database: string): Notifier {
  const subscriptions = new Set<{ readonly session: string; readonly listener: () => void }>()
  const notify = (changed: unknown): void => {
    for (const { session, listener } of subscriptions) if (session === changed) listener()
  }
  /** Opened at first use, since it keeps a server alive on which a page is rendered; null: there is none. */
  let opened: BroadcastChannel | null | undefined
  const channel = (): BroadcastChannel | null => {
    if (opened === undefined) {
      opened = openChannel(`@sessions/idb:${database}`)
      opened?.addEventListener("message", ({ data }) => notify(data))
    }
    return opened
  }

  /** Sessions to report to other tabs, together, when the spacing is over. */
  const pending = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const post = (): void => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no target, it reaches its own origin only.
    for (const session of pending) channel()?.postMessage(session)
    pending.clear()
  }
  const postInTurn = (): void => {
    timer = pending.size > 0 ? setTimeout(postInTurn, SPACING_MS) : undefined
    post()
  }

  return {
    reachesOtherTabs: () => channel() !== null,
    emit(session) {
      notify(session)
      pending.add(session)
      if (timer === undefined) postInTurn()
    },
    subscribe(session, listener) {
      channel()
      const subscription = { session, listener }
      subscriptions.add(subscription)
      return () => void subscriptions.delete(subscription)
    },
    close() {
      clearTimeout(timer)
      post()
      opened?.close()
    },
  }
}

/** Milliseconds. A message costs a seventh of an append in Chromium; a watcher in another tab can wait this long. */
const SPACING_MS = 20

/** Null in environments without BroadcastChannel, and in frames with an opaque origin, which refuse it. */
function openChannel(name: string): BroadcastChannel | null {
  try {
    return new BroadcastChannel(name)
  } catch {
    return null
  }
}
