/** The connections on which a server reports changes of logs: one for each session, whatever the number of its watchers. */
import type { WatchSource } from "@sessions/core/storage"
import { pauseFor } from "../pause.ts"
import { readEvents } from "../read-events.ts"
import { WATCH_EVENTS } from "./protocol.ts"
import type { Requests } from "./requests.ts"

interface Subscription {
  readonly listeners: Set<Listener>
  readonly stop: () => void
}

interface Listener {
  readonly changed: () => void
  readonly deleted: () => void
}

/** Pauses between two connections: they double up to the longest one. */
const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 30_000
/** One that ends sooner, with nothing but its first event, is followed by a longer pause. */
const LASTED_MS = 5_000

/** The `subscribe` of `watchHeads`. A connection that breaks is made again, and its watchers read the head. */
export function createSubscriptions(requests: Requests): WatchSource["subscribe"] {
  const open = new Map<string, Subscription>()

  return (session, changed, deleted) => {
    const listener = { changed, deleted }
    let subscription = open.get(session)
    if (subscription === undefined) {
      subscription = subscribe(requests, session)
      open.set(session, subscription)
    }
    // Until the connection is made, a change can already be in the head that is read meanwhile, so that head is reported.
    changed()
    const { listeners, stop } = subscription
    listeners.add(listener)
    return () => {
      // `watchHeads` ends a subscription just before it begins the next one, which takes over the connection.
      setTimeout(() => {
        if (!listeners.delete(listener) || listeners.size > 0) return
        open.delete(session)
        stop()
      }, 0)
    }
  }
}

function subscribe(requests: Requests, session: string): Subscription {
  const listeners = new Set<Listener>()
  const stopped = new AbortController()
  const { signal } = stopped
  void listen(requests, session, listeners, signal)
  return { listeners, stop: () => stopped.abort() }
}

async function listen(
  requests: Requests,
  session: string,
  listeners: ReadonlySet<Listener>,
  signal: AbortSignal,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    let events = 0
    const began = Date.now()
    try {
      const { body } = await requests.stream({ path: `/sessions/${session}/watch`, signal })
      for await (const { event } of readEvents(body as ReadableStream<Uint8Array>, signal)) {
        events++
        for (const { changed, deleted } of listeners) {
          if (event === WATCH_EVENTS.deleted) deleted()
          else changed()
        }
      }
    } catch {
      // The watchers ask for the head, and reject with what the server answers then.
    }
    if (signal.aborted) return
    if (events > 1 || (events > 0 && Date.now() - began >= LASTED_MS)) pause = FIRST_PAUSE_MS / 2
    for (const { changed } of listeners) changed()
    await pauseFor(pause * (0.5 + Math.random()), signal)
  }
}
