/** Collects the reports of all clients of a round as operations on one clock. */
import type { Operation } from "./checker/history.ts"
import type { Answer, Call } from "./client/plan.ts"

/** Where a client's clock is, in milliseconds to add to its times: at least `least`, at most `most`. */
export interface Offset {
  readonly least: number
  readonly most: number
}

export const SAME_CLOCK: Offset = { least: 0, most: 0 }

export interface Recording {
  begin(by: string, n: number, call: Call, at: number, offset?: Offset): void
  end(by: string, n: number, answer: Answer, at: number, offset?: Offset): void
  readonly operations: readonly Operation[]
}

/** Unknown offsets widen the intervals, never narrow them. A call that does not end has no answer. */
export function createRecording(): Recording {
  const operations: Operation[] = []
  const indexes = new Map<string, number>()
  return {
    operations,
    begin(by, n, call, at, { least } = SAME_CLOCK) {
      indexes.set(`${by} ${n}`, operations.length)
      operations.push({ ...call, by, start: at + least, end: Number.POSITIVE_INFINITY })
    },
    end(by, n, answer, at, { most } = SAME_CLOCK) {
      const index = indexes.get(`${by} ${n}`)
      const begun = index === undefined ? undefined : operations[index]
      if (index === undefined || begun === undefined) throw new Error(`The call ${n} of ${by} ended before it began.`)
      operations[index] = { ...begun, answer, end: at + most } as Operation
    },
  }
}

/** The offset of another clock, from readings of it between two readings of this one: `[before, other, after]`. */
export function offsetFrom(readings: readonly (readonly [number, number, number])[]): Offset {
  return {
    least: Math.max(...readings.map(([before, other]) => before - other)),
    most: Math.min(...readings.map(([, other, after]) => after - other)),
  }
}
