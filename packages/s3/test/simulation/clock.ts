/** Time that passes only when everybody waits. */
import type { Time } from "../../src/index.ts"
import type { Dice } from "../../../core/test/dice.ts"

export interface Clock {
  now(): number
  /** Does it then; the function takes it back. */
  at(ms: number, what: () => void): () => void
  /** A machine's own clock and dice. */
  machine(dice: Dice, skew: number): Time
  /** Lets time pass until it holds, or nothing is left to happen; says whether it holds. */
  until(holds: () => boolean): Promise<boolean>
}

interface Event {
  readonly time: number
  readonly order: number
  readonly what: () => void
}

export function createClock(): Clock {
  const events: Event[] = []
  let now = 0
  let order = 0

  function at(ms: number, what: () => void): () => void {
    const event = { time: now + Math.max(0, ms), order: order++, what }
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
          const cancel = at(ms, resolve)
          signal?.addEventListener("abort", () => {
            cancel()
            resolve()
          })
        }),
    }),
    async until(holds) {
      for (;;) {
        // Everything that follows from the last event has happened when the next turn begins.
        await new Promise<void>((resolve) => void setImmediate(resolve))
        if (holds()) return true
        const event = events.shift()
        if (event === undefined) return false
        now = event.time
        event.what()
      }
    },
  }
}

function isAfter(a: Event, b: Event): boolean {
  return a.time > b.time || (a.time === b.time && a.order > b.order)
}
