/** Hints that a log changed, within this storage object and between tabs. */

export interface Bells {
  /** Whether other tabs can be heard; where they cannot, watchers look more often. */
  readonly reachesOthers: boolean
  /** The session was written to or deleted. */
  ring(session: string): void
  /** Calls at each ring, here or elsewhere, until the function that comes back is called. */
  add(session: string, listener: () => void): () => void
  close(): void
}

export function createBells(database: string): Bells {
  const listeners = new Map<string, Set<() => void>>()
  const channel = openChannel(`@sessions/idb:${database}`)
  const outgoing = createOutgoing((session) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel takes none; it reaches its own origin only.
    channel?.postMessage(session)
  })
  const tell = (session: string): void => {
    for (const listener of listeners.get(session) ?? []) listener()
  }
  channel?.addEventListener("message", ({ data }) => {
    if (typeof data === "string") tell(data)
  })

  return {
    reachesOthers: channel !== undefined,
    ring(session) {
      tell(session)
      outgoing.add(session)
    },
    add(session, listener) {
      const set = listeners.get(session) ?? new Set()
      listeners.set(session, set.add(listener))
      return () => {
        set.delete(listener)
        if (set.size === 0 && listeners.get(session) === set) listeners.delete(session)
      }
    },
    close() {
      outgoing.end()
      channel?.close()
    },
  }
}

/** A message costs a seventh of an append in Chromium. So often is soon enough for whoever watches. */
const SPACING_MS = 20

interface Outgoing {
  /** Posts at once, or with all that come within the spacing. */
  add(session: string): void
  /** Posts what waits, and takes no more. */
  end(): void
}

function createOutgoing(post: (session: string) => void): Outgoing {
  const waiting = new Set<string>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let ended = false
  const flush = (): void => {
    timer = waiting.size > 0 ? setTimeout(flush, SPACING_MS) : undefined
    for (const session of waiting) post(session)
    waiting.clear()
  }
  return {
    add(session) {
      if (ended) return
      waiting.add(session)
      if (timer === undefined) flush()
    },
    end() {
      clearTimeout(timer)
      flush()
      clearTimeout(timer)
      ended = true
    },
  }
}

/** Some places have none, and frames with an origin of their own refuse it. */
function openChannel(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(name)
  } catch {
    return undefined
  }
}
