/** Resumes one waiting call at a time, in random order. */
import type { Dice } from "./dice.ts"

export interface Scheduler {
  /** Resolves when its turn is drawn. */
  readonly pause: () => Promise<void>
  /** Resumes one of the paused calls, and waits for everything that follows from it. */
  step(): Promise<void>
  /** Steps until the condition holds; false if nothing is left to resume. */
  until(holds: () => boolean): Promise<boolean>
  finish<T>(promise: Promise<T>): Promise<T>
  /** Later calls no longer wait. */
  free(): void
}

/** Hashing and a first `import()` take real time, however few ticks pass; even on a busy machine nothing takes this long. */
const STUCK_MS = 60_000

export function createScheduler(dice: Dice): Scheduler {
  const paused: (() => void)[] = []
  let isFree = false
  const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
  const step = async (): Promise<void> => {
    if (paused.length > 0) paused.splice(dice.below(paused.length), 1)[0]?.()
    await settle()
  }
  const until = async (holds: () => boolean): Promise<boolean> => {
    let moved = performance.now()
    while (!holds()) {
      if (paused.length > 0) moved = performance.now()
      else if (performance.now() - moved > STUCK_MS) return false
      await step()
    }
    return true
  }
  return {
    pause: () => (isFree ? Promise.resolve() : new Promise((resolve) => void paused.push(resolve))),
    step,
    until,
    async finish(promise) {
      let ended = false
      const end = (): void => void (ended = true)
      promise.then(end, end)
      if (!(await until(() => ended))) throw new Error("A promise hangs.")
      return promise
    },
    free() {
      isFree = true
      for (const go of paused.splice(0)) go()
    },
  }
}
