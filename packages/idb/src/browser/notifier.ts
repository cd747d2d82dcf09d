/** Notifies watchers of changed sessions, within this storage object and, by BroadcastChannel, in other tabs and workers. */

export interface Notifier {
  /** Whether other tabs can be reached; otherwise watchers must poll more often. */
  readonly reachesOtherTabs: boolean
  /** Reports that the session was written to or deleted. */
  emit(session: string): void
  /** Calls the listener after each change, here or in another tab, until the returned function is called. */
  subscribe(session: string, listener: () => void): () => void
  close(): void
}

export function createNotifier(database: string): Notifier {
  const listeners = new Map<string, Set<() => void>>()
  const channel = openChannel(`@sessions/idb:${database}`)
  const outgoing = createOutgoing((session) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel has no target, it reaches its own origin only.
    channel?.postMessage(session)
  })
  const notify = (session: string): void => {
    for (const listener of listeners.get(session) ?? []) listener()
  }
  channel?.addEventListener("message", ({ data }) => {
    if (typeof data === "string") notify(data)
  })

  return {
    reachesOtherTabs: channel !== undefined,
    emit(session) {
      notify(session)
      outgoing.add(session)
    },
    subscribe(session, listener) {
      const set = listeners.get(session) ?? new Set()
      listeners.set(session, set.add(listener))
      return () => {
        set.delete(listener)
        if (set.size === 0 && listeners.get(session) === set) listeners.delete(session)
      }
    },
    close() {
      outgoing.close()
      channel?.close()
    },
  }
}

/** A message costs a seventh of an append in Chromium; a watcher in another tab can wait this long. */
const SPACING_MS = 20

interface Outgoing {
  /** Posts at once, or together with all sessions that are added within the spacing. */
  add(session: string): void
  /** Posts what is pending and accepts no more. */
  close(): void
}

function createOutgoing(post: (session: string) => void): Outgoing {
  const pending = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false
  const flush = (): void => {
    timer = pending.size > 0 ? setTimeout(flush, SPACING_MS) : undefined
    for (const session of pending) post(session)
    pending.clear()
  }
  return {
    add(session) {
      if (closed) return
      pending.add(session)
      if (timer === undefined) flush()
    },
    close() {
      clearTimeout(timer)
      flush()
      clearTimeout(timer)
      closed = true
    },
  }
}

/** Undefined in environments without BroadcastChannel, and in frames with an opaque origin, which refuse it. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name)
  } catch {
    return undefined
  }
}
