/**
 * Checks a history in which the session was deleted, created again or its log replaced: it has several logs, one after the other, each with
 * an identity. Only the last one can be read at the end; the others are put together from what was acknowledged and read. Then
 * - each log is checked by itself: no acknowledged append is missing in it, and its appends, reads and heads have an order;
 * - no read shows lines of two logs;
 * - one log ends before the next one begins, and each ends by a delete or a replace that can have ended it;
 * - after an acknowledged delete the log is gone; a replace loses no line behind the head that it expected.
 */
import {
  type Append,
  type Failed,
  type Interval,
  isFailed,
  isUnknown,
  type Log,
  type LogOperation,
  nameOf,
  rejectionOf,
  type Read,
  type Replace,
  type Reset,
} from "./history.ts"
import { APPEND_CODES, checkLog, LOOK_CODES } from "./log.ts"

export interface LogsHistory {
  readonly atomicBatch: "all" | "prefix"
  /** The log at the end; without an identity if there is none. */
  readonly log: Log
  readonly operations: readonly LogOperation[]
  readonly resets: readonly Reset[]
}

/** What is known of one log. */
interface Life {
  readonly identity: string
  /** The calls that wrote to it or tried to, a creation and a replace as appends behind 0. */
  readonly appends: Append[]
  /** Answered calls that show it. */
  readonly sights: LogOperation[]
  /** It was there at some time before `by`, and at some time after `until`. */
  by: number
  until: number
}

/** One sentence for each violation. */
export function checkLogs({ atomicBatch, log, operations, resets }: LogsHistory): readonly string[] {
  const found: string[] = []
  const writes: Append[] = operations.filter((operation) => operation.kind === "append")
  writes.push(...resets.flatMap((reset) => (reset.kind === "replace" ? [creationOf(reset)] : [])))
  const identities = identitiesOf(writes, operations, log)
  const lives = new Map<string, Life>()
  const absences: LogOperation[] = []

  for (const append of writes) {
    const identity = identities.get(append.lines[0] as string)
    if (identity === undefined) continue
    const life = lifeOf(identity)
    life.appends.push(append)
    if (append.answer !== undefined && !isFailed(append.answer)) showsIt(life, append)
  }
  for (const operation of operations) {
    if (operation.kind === "append" || operation.answer === undefined) continue
    if (isFailed(operation.answer)) {
      // A read is `conflict` if its log ends meanwhile.
      const isGone = operation.kind === "read" && operation.answer.code === "conflict"
      if (!isGone) found.push(...wrongCode(operation, LOOK_CODES))
      continue
    }
    const shown = logOf(operation)
    if (shown === undefined) continue
    if (shown === "") absences.push(operation)
    else {
      const life = lifeOf(shown)
      life.sights.push(operation)
      showsIt(life, operation)
    }
  }
  for (const reset of resets) if (isFailed(reset.answer)) found.push(...wrongCode(reset, APPEND_CODES))
  if (log.identity !== "") lifeOf(log.identity).until = Number.POSITIVE_INFINITY

  const ordered = [...lives.values()].sort((a, b) => a.by - b.by)
  for (const life of ordered) {
    // A delete or a replace can have ended the log by then.
    const isExcused = ({ expect, end }: Append): boolean =>
      expect === 0 ||
      resets.some((reset) => canEnd(reset, life) && endOf(reset) >= Math.min(life.by, life.until) && reset.start <= end)
    // If so, an append that was applied before may be `conflict`: none of its lines is in the log any more.
    const appends = life.appends.map((append): Append => {
      const isConflict = isFailed(append.answer) && append.answer.code === "conflict"
      const isOpen = isConflict && life.identity !== log.identity && isExcused(append)
      return isOpen ? { ...append, answer: { code: "indeterminate" } } : append
    })
    const own = life.identity === log.identity ? log : putTogether({ ...life, appends }, atomicBatch)
    const calls = [...appends, ...gapsOf(own, life), ...life.sights]
    for (const violation of checkLog({ atomicBatch, log: own, operations: calls, isExcused }))
      found.push(`log ${life.identity}: ${violation}`)
    for (const replace of resets) {
      if (replace.kind !== "replace" || replace.log !== life.identity || isFailed(replace.answer)) continue
      if (replace.answer === undefined || own.lines.length <= replace.expect) continue
      found.push(`${nameOf(replace)} was acknowledged, and its log has ${own.lines.length} lines`)
    }
  }
  return [...found, ...wrongTurns(ordered, absences, resets, log)]

  function lifeOf(identity: string): Life {
    let life = lives.get(identity)
    if (life === undefined) {
      life = { identity, appends: [], sights: [], by: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY }
      lives.set(identity, life)
    }
    return life
  }

  /** The identity of the log that a call shows, "" if it shows none; undefined if that is not known. */
  function logOf(operation: LogOperation): string | undefined {
    if (operation.kind !== "read") {
      const { next, log: identity } = operation.answer as { next: number; log?: string }
      return next === 0 ? "" : identity
    }
    const { lines } = operation.answer as { lines: readonly string[] }
    const shown = new Set(lines.map((id) => identities.get(id)))
    shown.delete(undefined)
    if (operation.log !== undefined && lines.length > 0) shown.add(operation.log)
    if (shown.size > 1) found.push(`${nameOf(operation)} shows lines of two logs, ${[...shown].join(" and ")}`)
    return shown.size === 1 ? [...shown][0] : undefined
  }
}

function creationOf({ by, start, end, lines, answer }: Replace): Append {
  return { kind: "append", by, start, end, expect: 0, lines, ...(answer !== undefined && { answer }) }
}

/** The log of each line. That of a creation without an answer is known only if a read or the end shows it. */
function identitiesOf(
  writes: readonly Append[],
  operations: readonly LogOperation[],
  log: Log,
): ReadonlyMap<string, string> {
  const identities = new Map<string, string>()
  const batches = new Map<string, readonly string[]>()
  for (const { expect, lines, log: expected, answer } of writes) {
    const done = answer !== undefined && !isFailed(answer) ? answer.log : undefined
    const identity = done ?? (expect > 0 ? expected : undefined)
    for (const id of lines) {
      batches.set(id, lines)
      if (identity !== undefined) identities.set(id, identity)
    }
  }
  const learn = (id: string, identity: string): void => {
    for (const one of batches.get(id) ?? [id]) if (!identities.has(one)) identities.set(one, identity)
  }
  for (const { id } of log.lines) learn(id, log.identity)
  for (const operation of operations) {
    if (operation.kind !== "read" || operation.answer === undefined || isFailed(operation.answer)) continue
    const { lines } = operation.answer
    const identity = operation.log ?? lines.map((id) => identities.get(id)).find((known) => known !== undefined)
    if (identity !== undefined) for (const id of lines) learn(id, identity)
  }
  return identities
}

function showsIt(life: Life, { start, end }: Interval): void {
  life.by = Math.min(life.by, end)
  life.until = Math.max(life.until, start)
}

/** The lines of a log that is gone. A line that only heads have counted has an id of its own. */
function putTogether({ identity, appends, sights }: Life, atomicBatch: LogsHistory["atomicBatch"]): Log {
  const ids: (string | undefined)[] = []
  const place = (seq: number, lines: readonly string[]): void => {
    for (const [index, id] of lines.entries()) ids[seq + index] ??= id
  }
  for (const { expect, lines, answer } of appends) {
    if (answer !== undefined && !isFailed(answer)) place(expect, lines)
  }
  // With `prefix`, a read may show lines of an append that fails.
  const failed = new Set(
    atomicBatch === "all" ? [] : appends.flatMap(({ lines, answer }) => (isFailed(answer) ? lines : [])),
  )
  for (const sight of sights) {
    if (sight.kind !== "read") continue
    const { from, lines } = sight.answer as Exclude<Read["answer"], undefined> & { from: number; lines: string[] }
    const torn = lines.findIndex((id) => failed.has(id))
    place(from, torn < 0 ? lines : lines.slice(0, torn))
  }
  // A read may show some lines of an append only: those before them are there too, and all others if it is whole or absent.
  for (const { expect, lines } of appends) {
    const seen = lines.findLastIndex((id, index) => ids[expect + index] === id) + 1
    if (seen > 0) place(expect, atomicBatch === "all" || expect === 0 ? lines : lines.slice(0, seen))
  }
  const counted = sights.map(({ answer }) => (answer as { next?: number }).next ?? 0)
  const length = Math.max(ids.length, ...counted)
  for (let seq = 0; seq < length; seq++) {
    if (ids[seq] !== undefined) continue
    const free = ids.findIndex((id, index) => index > seq && id !== undefined)
    const open = (free < 0 ? length : free) - seq
    const able = seq > 0 ? ableAt(seq) : []
    const lines = able.length === 1 && isState(seq) ? (able[0] as Append).lines : [unknownLine(identity, seq)]
    place(seq, atomicBatch === "all" ? lines : lines.slice(0, open))
  }
  // A conflict at the last head that anybody saw, after it was seen, tells of an append that nobody saw.
  for (let end = ids.length; end > 0 && appends.some(isLeft(end)); end = ids.length) {
    const able = ableAt(end)
    if (able.length === 0 || !isState(end)) break
    const [{ lines }] = able as readonly [Append]
    place(end, able.length > 1 ? [unknownLine(identity, end)] : atomicBatch === "all" ? lines : lines.slice(0, 1))
  }
  return { identity, lines: ids.map((id) => ({ id: id as string })) }

  /** Every append behind a head names it, so of these one may have been applied; if it is the only one, it was. */
  function ableAt(state: number): readonly Append[] {
    return appends.filter(({ expect, answer }) => expect === state && isUnknown(answer))
  }

  /** Whether the call found that the log had left the state. */
  function isLeft(state: number): (call: Append) => boolean {
    const isShown = ({ answer, end }: LogOperation, before: number): boolean =>
      end < before && answer !== undefined && !isFailed(answer) && stateIn(answer) === state
    return ({ expect, answer, start }) =>
      expect === state &&
      isFailed(answer) &&
      answer.code === "conflict" &&
      [...sights, ...appends].some((call) => isShown(call, start))
  }

  /** Whether an append that expects this head can have been applied. Behind a line of an unknown append only heads tell. */
  function isState(seq: number): boolean {
    return ids[seq - 1] !== unknownLine(identity, seq - 1) || counted.includes(seq)
  }
}

/** The number of lines that an answer shows. */
function stateIn(
  answer: { readonly next: number } | { readonly from: number; readonly lines: readonly string[] },
): number {
  return "next" in answer ? answer.next : answer.from + answer.lines.length
}

function unknownLine(identity: string, seq: number): string {
  return `line ${seq} of ${identity}`
}

/** An append for each line that no known call has written. */
function gapsOf({ lines }: Log, { identity }: Life): readonly Append[] {
  return lines.flatMap(({ id }, seq): Append[] => {
    if (id !== unknownLine(identity, seq)) return []
    const always = { start: Number.NEGATIVE_INFINITY, end: Number.POSITIVE_INFINITY }
    return [{ kind: "append", by: "nobody known", ...always, expect: seq, lines: [id] }]
  })
}

/**
 * The log whose end is missing; undefined if the logs can follow each other, each beginning after a delete or a replace that can have ended
 * the one before it. In each order the logs begin and end as early as the calls allow, which leaves the most time to those behind.
 */
function unendedLog(ordered: readonly Life[], resets: readonly Reset[], last: string): string | undefined {
  let furthest = { placed: -1, identity: "" }
  /** By the logs that are left, the earliest time after which they cannot follow each other. */
  const impossible = new Map<string, number>()
  return canFollow(ordered, Number.NEGATIVE_INFINITY) ? undefined : furthest.identity

  function canFollow(left: readonly Life[], now: number): boolean {
    if (left.length === 0) return true
    const key = left.map(({ identity }) => identity).join()
    if (now >= (impossible.get(key) ?? Number.POSITIVE_INFINITY)) return false
    const placed = ordered.length - left.length
    for (const life of left) {
      const isLast = life.identity === last
      if (isLast && left.length > 1) continue
      const rest = left.filter((other) => other !== life)
      const end = isLast ? now : earliestEnd(life, Math.max(now, beginOf(life), life.until), resets)
      if (end < Number.POSITIVE_INFINITY && rest.every(({ by }) => end <= by) && canFollow(rest, end)) return true
      if (placed > furthest.placed) furthest = { placed, identity: life.identity }
    }
    impossible.set(key, now)
    return false
  }
}

/** No log begins before the call that may have created it. A replace is such a call; a creation may be unknown. */
function beginOf({ appends }: Life): number {
  const creations = appends.filter(({ expect }) => expect === 0)
  return creations.length === 0 ? Number.NEGATIVE_INFINITY : Math.min(...creations.map(({ start }) => start))
}

/** The first time from `from` on at which a call can have ended the log. */
function earliestEnd(life: Life, from: number, resets: readonly Reset[]): number {
  const times = resets.flatMap((reset) =>
    canEnd(reset, life) && endOf(reset) >= from ? [Math.max(from, reset.start)] : [],
  )
  return Math.min(Number.POSITIVE_INFINITY, ...times)
}

/** Whether the log may have ended by this call, by its kind and answer. A failed call may have been applied. */
function canEnd(reset: Reset, { identity }: Life): boolean {
  return reset.kind === "delete" || (reset.log === identity && (isUnknown(reset.answer) || !isFailed(reset.answer)))
}

function endOf(reset: Reset): number {
  return reset.answer === undefined || isFailed(reset.answer) ? Number.POSITIVE_INFINITY : reset.end
}

/** What contradicts that one log ended before the next began, by a delete or a replace. */
function wrongTurns(
  ordered: readonly Life[],
  absences: readonly LogOperation[],
  resets: readonly Reset[],
  log: Log,
): readonly string[] {
  const unended = unendedLog(ordered, resets, log.identity)
  return ordered.flatMap(({ identity, by, until }, index) => {
    const found: string[] = []
    const later = ordered.slice(index + 1)
    for (const other of later) {
      const isAfter = until <= other.by || other.until <= by
      if (!isAfter) found.push(`log ${identity} was there before and after log ${other.identity}`)
    }
    for (const absence of absences) {
      if (by < absence.start && absence.end < until) found.push(`${nameOf(absence)} does not show log ${identity}`)
    }
    for (const reset of resets) {
      if (reset.kind !== "delete" || reset.answer === undefined || isFailed(reset.answer)) continue
      if (by < reset.start && reset.end < until) found.push(`log ${identity} was there after the ${nameOf(reset)}`)
    }
    if (identity === unended) found.push(`log ${identity} is gone, and no delete or replace ended it`)
    return found
  })
}

function wrongCode(operation: LogOperation | Reset, allowed: ReadonlySet<string>): readonly string[] {
  const failed = operation.answer as Failed
  return allowed.has(failed.code) ? [] : [rejectionOf(operation, failed)]
}
