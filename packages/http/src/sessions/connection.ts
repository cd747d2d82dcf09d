/** One connection to the events of a session: a stream, or one page without a stream. */
import { invalid } from "../refusal.ts"
import type { StreamedEvent } from "../event-stream.ts"
import type { Head, Seq } from "@sessions/core/storage"
import { type Attached, type FeedEvent, type SessionFeed, turnEnd } from "./events.ts"
import type { EndedTurn, EventPage, SessionEvent } from "./types.ts"

/** UTF-16 units after which a page is full. */
const PAGE_UNITS = 1_048_576

/** What a client knows: the log up to a place, and how far the turns had ended. */
export interface Cursor {
  readonly log: string
  /** Of the entry before the place, see `markOf`. Missing: it is not compared. */
  readonly mark?: string
  readonly next: Seq
  /** The last turn whose end is known, or `NO_TURN`. Missing: only what ends from now on is told. */
  readonly turn?: string
}

/** No turn had ended. */
const NO_TURN = "-"

/** `<log>~<mark>.<next>.<turn>`, also without the mark or the turn; 400 for anything else. */
export function parseCursor(text: string): Cursor {
  const [, log, mark, next, turn] = /^(.+?)(?:~([0-9a-z]{1,7}))?\.(\d{1,15})(?:\.([0-9A-Z]{26}|-))?$/.exec(text) ?? []
  if (log === undefined || next === undefined) throw invalid("The place to continue from must be the id of an event.")
  return { log, next: Number(next), ...(mark !== undefined && { mark }), ...(turn !== undefined && { turn }) }
}

/** An older server takes a log with a mark for another one, so that its clients load the session again. */
export function cursorText({ log, mark, next, turn }: Cursor): string {
  const place = mark === undefined ? `${log}.${next}` : `${log}~${mark}.${next}`
  return turn === undefined ? place : `${place}.${turn}`
}

/** The turn of a cursor behind all of these. */
export function lastTurn(ended: readonly EndedTurn[]): string {
  return ended.at(-1)?.messageId ?? NO_TURN
}

/** The turns that a client with this cursor has not seen end: all, if the last that it knows is too long ago, and none of another log. */
function endedSince(ended: readonly EndedTurn[], turn: string | undefined, isOther: boolean): readonly EndedTurn[] {
  const at = ended.findLastIndex(({ messageId }) => messageId === turn)
  return at < 0 && (turn === undefined || isOther) ? [] : ended.slice(at + 1)
}

/** An event with its place in the log. */
interface PlacedEvent extends FeedEvent {
  readonly cursor: string
}

/** The state, then the log and the ends of turns from the cursor on, then what happens; ends when the session is deleted or the server closes. */
export async function* connect(
  feed: SessionFeed,
  { state, at: start }: Attached,
  after: Cursor | undefined,
  signal: AbortSignal,
): AsyncGenerator<PlacedEvent, void, undefined> {
  const { head, ended } = state
  let { log } = head
  const isBehind = after !== undefined && after.log === log && after.next <= head.next
  let mark = isBehind ? await feed.markAt(after.next) : await feed.markAt(head.next)
  const isOther = after !== undefined && (!isBehind || (after.mark ?? mark) !== mark)
  if (isOther) mark = await feed.markAt(head.next)
  let next = after === undefined || isOther ? head.next : after.next
  const missed = endedSince(ended, after?.turn, isOther)
  let turn = missed.length === 0 ? lastTurn(ended) : after?.turn
  const placed = (event: FeedEvent): PlacedEvent => {
    next = event.next ?? next
    mark = event.mark ?? mark
    turn = event.turn ?? turn
    return { ...event, cursor: cursorText({ log, mark, next, ...(turn !== undefined && { turn }) }) }
  }
  yield placed({ event: "state", data: JSON.stringify(state) })
  if (isOther) yield placed({ event: "reset", data: JSON.stringify({ head }) })
  if (next < head.next) {
    for await (const page of feed.replay(next, head)) yield placed(page)
  }
  // After the entries of these turns.
  for (const one of missed) yield placed(turnEnd(one))
  for (let at = start; !signal.aborted; ) {
    const events = feed.since(at)
    if (events === undefined) return
    for (const event of events) {
      if (event.event === "reset") ({ log, next } = (JSON.parse(event.data) as { head: Head }).head)
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
