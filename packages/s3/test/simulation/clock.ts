/** Simulated time, which advances to the next event when all actors wait. */
import type { Time } from "../../src/index.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface Clock {
  now(): number
  /** Runs `action` in `ms`; the returned function cancels it. */
  at(ms: number, action: () => void): () => void
  /** The clock and random source of one machine. */
  machine(dice: Dice, skew: number): Time
  /** Advances until the condition is true or no event is left; resolves to whether it is true. */
  until(condition: () => boolean): Promise<boolean>
}

interface Event {
  readonly time: number
  readonly order: number
  readonly action: () => void
}

export function createClock(): Clock {
  const events: Event[] = []
  let now = 0
  let order = 0

  function at(ms: number, action: () => void): () => void {
    const event = { time: now + Math.max(0, ms), order: order++, action }
    let index = events.length
    while (index > 0 && isAfter(events[index - 1] as Event, event)) index--
    events.splice(index, 0, event)
    return () => {
      const found = events.indexOf(event)
      if (found !== -1) events.splice(found, 1)
    }
  }

  return {
    now: () => now,
    at,
    machine: (dice, skew) => ({
      now: () => now + skew,
      random: () => dice.next(),
      sleep: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted === true) return resolve()
          const end = (): void => {
            cancel()
            signal?.removeEventListener("abort", end)
            resolve()
          }
          const cancel = at(ms, end)
          signal?.addEventListener("abort", end)
        }),
    }),
    async until(condition) {
      for (;;) {
        // Runs all promise callbacks that follow from the last event.
        await new Promise<void>((resolve) => void setImmediate(resolve))
        if (condition()) return true
        const event = events.shift()
        if (event === undefined) return false
        now = event.time
        event.action()
      }
    },
  }
}

function isAfter(a: Event, b: Event): boolean {
  return a.time > b.time || (a.time === b.time && a.order > b.order)
}
