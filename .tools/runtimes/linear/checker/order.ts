/**
 * Decides in linear time whether a register that only moves forward can have answered as it did. The register goes through the states 0,
 * 1, 2 … in steps. The order of the steps is known, so only times can contradict it: a step or an answer that ended before another one
 * began cannot need a later state than that one allows. If no two events contradict each other in this way, each step can happen as soon
 * as everything before it has begun, and each answer between its steps.
 */
import type { Interval } from "./history.ts"

/** An event that takes effect at one instant within its interval. */
interface Event extends Interval {
  /** For messages; called only for a contradiction. */
  readonly name: () => string
}

/** The step from state p to state p + 1, where p is its index. */
export type Step = Event

/** At some instant within the interval the state was from `least` to `most`. */
export interface Sight extends Event {
  readonly least: number
  readonly most: number
}

/** At some instant within the interval the state was not `state`. */
export interface Denial extends Event {
  readonly state: number
}

/** Every contradiction; empty if all events can have happened in the order of the steps. `steps` has no holes. */
export function contradictions(
  steps: readonly Step[],
  sights: readonly Sight[],
  denials: readonly Denial[],
): readonly string[] {
  let events = eventsOf(steps, sights)
  let last = lastToBegin(events, steps.length)
  // Denials would only repeat it.
  const found = against(events, last)
  if (found.length > 0) return found
  let open = denials.filter(({ state }) => state <= steps.length)
  // A denial means an earlier or a later state. If the later one comes too late for it, that leaves the earlier one, which may delay a
  // step, and so decide other denials. Those that stay open are true once each step happens as soon as it can.
  for (;;) {
    const decided = open.filter(isBeforeState)
    if (decided.length === 0) return against(events, last)
    open = open.filter((denial) => !isBeforeState(denial))
    const earlier = decided.map((denial) => ({ ...denial, least: 0, most: denial.state - 1 }))
    events = [...events, ...eventsOf([], earlier)]
    last = lastToBegin(events, steps.length)
  }

  function isBeforeState({ state, end }: Denial): boolean {
    return state === steps.length || (last[2 * state + 1]?.start ?? Number.NEGATIVE_INFINITY) > end
  }
}

/** State n has rank 2n, the step from n to n + 1 has rank 2n + 1. An event happens at a rank from `low` to `high`. */
interface Ranked {
  readonly event: Event
  readonly low: number
  readonly high: number
}

function eventsOf(steps: readonly Step[], sights: readonly Sight[]): readonly Ranked[] {
  return [
    ...steps.map((event, p) => ({ event, low: 2 * p + 1, high: 2 * p + 1 })),
    ...sights.map((event) => ({ event, low: 2 * event.least, high: 2 * event.most })),
  ]
}

/** For each rank, of the events that cannot happen above it the one that begins last: before it, nothing above that rank happens. */
function lastToBegin(events: readonly Ranked[], steps: number): readonly (Event | undefined)[] {
  const last = new Array<Event | undefined>(2 * steps + 1).fill(undefined)
  for (const { event, high } of events) {
    const rank = Math.min(Math.max(high, 0), 2 * steps)
    last[rank] = later(last[rank], event)
  }
  for (let rank = 1; rank < last.length; rank++) last[rank] = later(last[rank - 1], last[rank])
  return last
}

function later(a: Event | undefined, b: Event | undefined): Event | undefined {
  return a === undefined || (b !== undefined && b.start > a.start) ? b : a
}

/** The events that ended before one began that comes before them. */
function against(events: readonly Ranked[], last: readonly (Event | undefined)[]): readonly string[] {
  return events.flatMap(({ event, low, high }) => {
    if (high < 0) return [`${event.name()}, although nothing had happened yet`]
    const before = low === 0 ? undefined : last[low - 1]
    if (before === undefined || before.start <= event.end) return []
    return [`${before.name()} comes before ${event.name()}, which had ended when it began`]
  })
}
