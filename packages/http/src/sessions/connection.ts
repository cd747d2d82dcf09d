/** One connection to the events of a session: a stream, or one page without a stream. */
import { invalid } from "../refusal.ts"
import type { StreamedEvent } from "../event-stream.ts"
import type { Head, Seq } from "@sessions/core/storage"
import type { Attached, FeedEvent, SessionFeed } from "./events.ts"
import type { EventPage, SessionEvent } from "./types.ts"

/** UTF-16 units after which a page is full. */
const PAGE_UNITS = 1_048_576

export interface Cursor {
  readonly log: string
  readonly next: Seq
}

/** `<log>.<next>`; 400 for anything else. */
export function parseCursor(text: string): Cursor {
  const dot = text.lastIndexOf(".")
  const digits = text.slice(dot + 1)
  if (dot < 1 || !/^\d{1,15}$/.test(digits)) throw invalid("The place to continue from must be the id of an event.")
  return { log: text.slice(0, dot), next: Number(digits) }
}

export function cursorText({ log, next }: Head): string {
  return `${log}.${next}`
}

/** An event with its place in the log. */
interface PlacedEvent extends FeedEvent {
  readonly cursor: string
}

/** The state, then the log from the cursor on, then what happens; ends when the session is deleted or the server closes. */
export async function* connect(
  feed: SessionFeed,
  { state, at: start }: Attached,
  after: Cursor | undefined,
  signal: AbortSignal,
): AsyncGenerator<PlacedEvent, void, undefined> {
  const { head } = state
  let { log } = head
  const isOther = after !== undefined && (after.log !== log || after.next > head.next)
  let next = after === undefined || isOther ? head.next : after.next
  const placed = (event: FeedEvent): PlacedEvent => ({ ...event, cursor: cursorText({ log, next }) })
  yield placed({ event: "state", data: JSON.stringify(state) })
  if (isOther) yield placed({ event: "reset", data: JSON.stringify({ head }) })
  if (next < head.next) {
    for await (const page of feed.replay(next, head)) {
      next = page.next as Seq
      yield placed(page)
    }
  }
  for (let at = start; !signal.aborted; ) {
    const events = feed.since(at)
    if (events === undefined) return
    for (const event of events) {
      if (event.event === "reset") ({ log, next } = (JSON.parse(event.data) as { head: Head }).head)
      next = event.next ?? next
      yield placed(event)
    }
    at += events.length
    if (events.length > 0) continue
    if (feed.ended) return
    await feed.next(signal)
  }
}

export async function* toStream(events: AsyncIterable<PlacedEvent>): AsyncGenerator<StreamedEvent, void, undefined> {
  for await (const { event, data, cursor } of events) yield { event, data, id: cursor }
}

/**
 * The events so far; waits for the first after the state, unless the client wants it at once or has not `seen` this state of the queue.
 * `stop` ends the connection, and fires when the time is over.
 */
export async function toPage(
  events: AsyncIterable<PlacedEvent>,
  o: { readonly seen: string | undefined; readonly atOnce: boolean; readonly stop: AbortController },
): Promise<EventPage> {
  const page: SessionEvent[] = []
  let units = 0
  let cursor = ""
  for await (const placed of events) {
    ;({ cursor } = placed)
    const data = JSON.parse(placed.data) as { readonly queue?: string }
    page.push({ event: placed.event, cursor, data } as unknown as SessionEvent)
    units += placed.data.length
    const isNews = o.atOnce || placed.event !== "state" || (o.seen !== undefined && data.queue !== o.seen)
    // What is there already still comes; nothing more is waited for.
    if (isNews) queueMicrotask(() => o.stop.abort())
    if (units > PAGE_UNITS) break
  }
  return { events: page, cursor }
}
