/** How many times as much work four times as much of something is, in CPU time. */
import { cpuTime } from "./cpu-time.ts"

/** Between what is linear, 4, and the square, 16. */
export const MOST_GROWTH = 8
/** Milliseconds: what takes less is as good as nothing. */
const LEAST_MS = 5
/** The least of some counts: collections of garbage are in the others. Of the large ones the first that is small enough will do. */
const TRIES = 3
/** On a busy machine one growth may be wrong; the square is there each time. */
const ATTEMPTS = 3

/** `make` is not measured. */
export async function growthOf<T>(
  count: number,
  make: (count: number) => T,
  run: (made: T) => unknown,
): Promise<number> {
  const cost = async (n: number): Promise<number> => {
    const made = make(n)
    const began = cpuTime()
    await run(made)
    return cpuTime() - began
  }
  let growth = Number.POSITIVE_INFINITY
  for (let i = 0; i < ATTEMPTS && growth >= MOST_GROWTH; i++) {
    let few = Number.POSITIVE_INFINITY
    for (let j = 0; j < TRIES; j++) few = Math.min(few, await cost(count))
    for (let j = 0; j < TRIES && growth >= MOST_GROWTH; j++)
      growth = Math.min(growth, (await cost(4 * count)) / Math.max(few, LEAST_MS))
  }
  return growth
}

export function times<T>(count: number, one: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => one(n))
}

/** Gives one after the other as it is asked for them. */
export function streamOf<T>(pieces: readonly T[]): ReadableStream<T> {
  let next = 0
  return new ReadableStream<T>({
    pull(controller) {
      if (next === pieces.length) controller.close()
      else controller.enqueue(pieces[next++] as T)
    },
  })
}

/** The pieces that a network may make of a text. */
export function piecesOf(text: string, size: number): string[] {
  return times(Math.ceil(text.length / size), (n) => text.slice(n * size, (n + 1) * size))
}
