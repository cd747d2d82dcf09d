/**
 * Checks the operations on one log against the log as it is at the end, which fixes the order of the appends:
 * - an acknowledged append is in the log once, where its answer says; a refused one is not; an unknown one is there whole (with
 *   `atomicBatch: "prefix"`, its first lines), or not at all; nothing else is there;
 * - every read, `head` and row of `list` shows the log as it was at some instant of the call, and an append that ended before another one
 *   began is before it;
 * - an append is `conflict` only if the expected head was not the head at some instant of the call.
 */
import {
  type Append,
  isFailed,
  isUnknown,
  type Log,
  type LogOperation,
  type Look,
  nameOf,
  rejectionOf,
  type Read,
} from "./history.ts"
import { contradictions, type Denial, type Sight, type Step } from "./order.ts"

export interface LogHistory {
  readonly atomicBatch: "all" | "prefix"
  readonly log: Log
  readonly operations: readonly LogOperation[]
  /** Whether a conflict is right whatever the log has, e.g. because the log was deleted. */
  readonly isExcused?: (append: Append) => boolean
}

/** The codes that a correct storage may reject with in a history. */
export const APPEND_CODES: ReadonlySet<string> = new Set([
  "conflict",
  "indeterminate",
  "unavailable",
  "quota",
  "aborted",
])
export const LOOK_CODES: ReadonlySet<string> = new Set(["unavailable", "aborted"])

/** One sentence for each violation. */
export function checkLog({ atomicBatch, log, operations, isExcused }: LogHistory): readonly string[] {
  const found: string[] = []
  const { lines } = log
  const places = new Map<string, number>()
  for (const [seq, { id }] of lines.entries()) {
    const first = places.get(id)
    if (first === undefined) places.set(id, seq)
    else found.push(`line ${id} is in the log twice, at ${first} and ${seq}`)
  }
  const appends = operations.filter((operation) => operation.kind === "append")
  for (const append of appends) found.push(...misplaced(append, log, places, atomicBatch))
  const authors = authorsOf(appends, lines, places)
  for (const [seq, author] of authors.entries()) {
    if (author === undefined) found.push(`line ${lines[seq]?.id} at ${seq} was appended by no client`)
  }

  /** With `prefix`, appends that failed, by each state that a reader may have seen of them while they were being written. */
  const torn = atomicBatch === "prefix" ? tornStates(appends, places) : new Map<number, readonly Append[]>()
  const sizes = sizesOf(lines)
  const sights: Sight[] = []
  const denials: Denial[] = []
  for (const operation of operations) {
    const { answer } = operation
    if (isFailed(answer)) {
      const allowed = operation.kind === "append" ? APPEND_CODES : LOOK_CODES
      if (!allowed.has(answer.code)) found.push(rejectionOf(operation, answer))
    }
    if (operation.kind === "append") {
      const isDenied = isFailed(answer) && answer.code === "conflict"
      if (isDenied && isExcused?.(operation) !== true) denials.push(denialOf(operation))
      continue
    }
    if (answer === undefined || isFailed(answer)) continue
    const sight = operation.kind === "read" ? sightOfRead(operation) : sightOfLook(operation)
    if (typeof sight === "string") found.push(sight)
    else sights.push(sight)
  }
  // With `all`, the lines of an append arrive in one step; with `prefix`, one after the other.
  const begins = (seq: number): boolean => atomicBatch === "prefix" || !isWithin(seq)
  const steps = authors.flatMap((author, seq) => (begins(seq) ? [stepOf(author, seq)] : []))
  /** The number of steps that lead to each number of lines. */
  const taken = [0]
  for (const seq of authors.keys()) taken.push((taken[seq] as number) + (begins(seq) ? 1 : 0))
  const stepsTo = (state: number): number => taken[state] ?? steps.length + 1
  const wholeStepsTo = (state: number): number =>
    state < lines.length && !begins(state) ? stepsTo(state) - 1 : stepsTo(state)
  return [
    ...found,
    ...contradictions(
      steps,
      sights.map((sight) => ({ ...sight, least: stepsTo(sight.least), most: wholeStepsTo(sight.most) })),
      // A head that never was is always a conflict.
      denials.flatMap((denial) =>
        denial.state < lines.length && !begins(denial.state) ? [] : [{ ...denial, state: stepsTo(denial.state) }],
      ),
    ),
  ]

  /** Whether the line is not the first one of its append. */
  function isWithin(seq: number): boolean {
    return seq > 0 && authors[seq] !== undefined && authors[seq] === authors[seq - 1]
  }

  function sightOfRead(read: Read): Sight | string {
    const { from, lines: shown } = read.answer as Exclude<Read["answer"], undefined> & { from: number; lines: string[] }
    if (shown.length === 0)
      return { ...read, name: () => `an empty ${nameOf(read)} from ${from}`, least: 0, most: from }
    const wrong = shown.findIndex((id, index) => lines[from + index]?.id !== id)
    const state = from + (wrong < 0 ? shown.length : wrong)
    if (wrong >= 0 && !(torn.get(state + 1) ?? []).some((append) => isOverlapping(append, read) && isTornEnd(append))) {
      return `${nameOf(read)} shows ${shown[wrong]} at ${state}, where the log has ${lines[state]?.id ?? "nothing"}`
    }
    return exactly(read, state)

    function isTornEnd({ expect, lines: written }: Append): boolean {
      return shown.slice(wrong).every((id, index) => written[state + index - expect] === id)
    }
  }

  function sightOfLook(look: Look): Sight | string {
    const { next, log: identity, bytes } = look.answer as { next: number; log?: string; bytes?: number }
    if (identity !== undefined && identity !== log.identity) return `${nameOf(look)} shows another log, ${identity}`
    const writing = (torn.get(next) ?? []).filter((append) => isOverlapping(append, look))
    const [first] = writing
    if (first !== undefined) return { ...exactly(look, next), least: first.expect }
    if (next > lines.length) return `${nameOf(look)} shows ${next} lines, and the log has ${lines.length}`
    if (bytes !== undefined && !Number.isNaN(sizes[next]) && bytes !== sizes[next]) {
      return `${nameOf(look)} shows ${bytes} bytes for ${next} lines, which have ${sizes[next]}`
    }
    return exactly(look, next)
  }

  /** A state within a batch exists only while the batch is being written, and only with `prefix`. */
  function exactly(operation: Look | Read, state: number): Sight {
    const author = authors[state]
    if (author !== undefined && isWithin(state) && (atomicBatch === "all" || author.expect === 0)) {
      found.push(`${nameOf(operation)} shows ${state} lines, in the middle of the ${nameOf(author)}`)
    }
    return { ...operation, name: () => `${nameOf(operation)} of ${state} lines`, least: state, most: state }
  }
}

function misplaced(
  append: Append,
  log: Log,
  places: ReadonlyMap<string, number>,
  atomicBatch: LogHistory["atomicBatch"],
): readonly string[] {
  const { expect, lines, answer } = append
  const at = lines.map((id) => places.get(id))
  const there = at.filter((place) => place !== undefined).length
  const inPlace = at.findIndex((place, index) => place !== expect + index)
  const firstInPlace = inPlace < 0 ? lines.length : inPlace
  const where = `${nameOf(append)}, whose lines are at ${at.map((place) => place ?? "no place").join(", ")}`
  if (isUnknown(answer)) {
    const isPart = there === firstInPlace && atomicBatch === "prefix" && expect > 0
    return there === 0 || firstInPlace === lines.length || isPart ? [] : [`${where}, is neither whole nor absent`]
  }
  if (isFailed(answer)) return there === 0 ? [] : [`${where}, was refused with ${answer.code}`]
  const { next, log: identity } = answer as { next: number; log: string }
  return [
    ...(firstInPlace === lines.length ? [] : [`${where}, was acknowledged`]),
    ...(next === expect + lines.length ? [] : [`${where}, was acknowledged with the head ${next}`]),
    ...(identity === log.identity ? [] : [`${where}, was acknowledged with another log, ${identity}`]),
  ]
}

/** The append of each line of the log. */
function authorsOf(
  appends: readonly Append[],
  lines: Log["lines"],
  places: ReadonlyMap<string, number>,
): (Append | undefined)[] {
  const authors = new Array<Append | undefined>(lines.length).fill(undefined)
  for (const append of appends) {
    for (const id of append.lines) {
      const place = places.get(id)
      if (place !== undefined) authors[place] = append
    }
  }
  // The second place of a doubled line has the same author.
  for (const [seq, { id }] of lines.entries()) authors[seq] ??= authors[places.get(id) ?? -1]
  return authors
}

function tornStates(
  appends: readonly Append[],
  places: ReadonlyMap<string, number>,
): ReadonlyMap<number, readonly Append[]> {
  const torn = new Map<number, Append[]>()
  for (const append of appends) {
    const { expect, lines, answer } = append
    const isDone = answer !== undefined && !isFailed(answer)
    if (expect === 0 || isDone || lines.every((id) => places.has(id))) continue
    for (const index of lines.keys()) {
      const state = expect + index + 1
      const others = torn.get(state)
      if (others === undefined) torn.set(state, [append])
      else others.push(append)
    }
  }
  return torn
}

/** The bytes of the first n lines, by n; NaN if they are not known. */
function sizesOf(lines: Log["lines"]): readonly number[] {
  const sizes = [0]
  for (const { bytes } of lines) sizes.push((sizes.at(-1) ?? 0) + (bytes ?? Number.NaN))
  return sizes
}

/** A write with an unknown outcome may still take effect after its call has ended. */
function stepOf(append: Append | undefined, seq: number): Step {
  if (append === undefined) {
    return { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY, name: () => `line ${seq}` }
  }
  const end = isUnknown(append.answer) ? Number.POSITIVE_INFINITY : append.end
  return { start: append.start, end, name: () => nameOf(append) }
}

function denialOf(append: Append): Denial {
  return { ...append, name: () => `${nameOf(append)} was refused with conflict`, state: append.expect }
}

function isOverlapping(a: { start: number; end: number }, b: { start: number; end: number }): boolean {
  return a.start <= b.end && b.start <= a.end
}
