/** Each mutation makes one call of a legal history, or its log, wrong; undefined if the history has no place for it. */
import type { Dice } from "../../../../packages/core/test/dice.ts"
import { type Append, type History, isFailed, type LogOperation } from "./history.ts"

export type Mutation = (history: History, dice: Dice) => History | undefined

export const mutations: Readonly<Record<string, Mutation>> = {
  "a stale answer": (history, dice) =>
    change(history, dice, ({ look, done }) => {
      const missed = done.find(({ expect, end }) => end < look.start && expect < stateOf(look))
      return missed === undefined ? undefined : { replace: [[look, shows(look, history, missed.expect)]] }
    }),
  "an answer from the future": (history, dice) =>
    change(history, dice, ({ look, done }) => {
      const coming = done.find(({ start }) => look.end < start)
      if (coming === undefined) return undefined
      return { replace: [[look, shows(look, history, coming.expect + coming.lines.length)]] }
    }),
  "a lost append": (history, dice) =>
    change(history, dice, ({ append }) => ({ log: idsOf(history).filter((id) => !append.lines.includes(id)) })),
  "an append that is overwritten by the next one": (history, dice) =>
    change(history, dice, ({ append, done }) => {
      const next = done.find(({ expect, lines }) => expect === append.expect + append.lines.length && lines.length > 0)
      if (next === undefined) return undefined
      const answer = { next: append.expect + next.lines.length, log: history.log.identity }
      const log = idsOf(history).filter((id) => !append.lines.includes(id))
      return { replace: [[next, { ...next, expect: append.expect, answer }]], log }
    }),
  "a doubled append": (history, dice) =>
    change(history, dice, ({ append }) => ({ log: [...idsOf(history), ...append.lines] })),
  "two appends in the order against their times": (history, dice) =>
    change(history, dice, ({ append: first, done }) => {
      const second = done.find(({ expect, start }) => expect === first.expect + first.lines.length && start > first.end)
      if (second === undefined) return undefined
      const { identity } = history.log
      const middle = first.expect + second.lines.length
      const log = idsOf(history)
      log.splice(first.expect, first.lines.length + second.lines.length, ...second.lines, ...first.lines)
      return {
        replace: [
          [second, { ...second, expect: first.expect, answer: { next: middle, log: identity } }],
          [first, { ...first, expect: middle, answer: { next: middle + first.lines.length, log: identity } }],
        ],
        log,
      }
    }),
  "a refused append in the log": (history, dice) => {
    const refused = history.operations.filter(
      (call): call is Append => call.kind === "append" && isFailed(call.answer) && call.answer.code === "conflict",
    )
    if (refused.length === 0) return undefined
    return withLog(history, [...idsOf(history), ...dice.pick(refused).lines])
  },
  "a conflict with the head that was expected": (history, dice) =>
    change(history, dice, ({ append, done }) => {
      const head = append.expect + append.lines.length
      const rivals = history.operations.filter((call) => call.kind === "append" && call.expect === head)
      const next = Math.min(Number.POSITIVE_INFINITY, ...rivals.map(({ start }) => start))
      if (!(append.end + 1 < next) || done.length === 0) return undefined
      const time = { start: append.end + 0.2, end: append.end + 0.8 }
      const call = { kind: "append", by: "x", ...time, expect: head, lines: ["x.0"], answer: { code: "conflict" } }
      return {
        replace: [
          [append, append],
          [undefined, call as Append],
        ],
      }
    }),
}

interface Parts {
  /** An acknowledged append, and all of them. */
  readonly append: Append
  readonly done: readonly Append[]
  /** An answered `head` or read. */
  readonly look: LogOperation
}

interface Change {
  readonly replace?: readonly (readonly [old: LogOperation | undefined, now: LogOperation])[]
  readonly log?: readonly string[]
}

function change(history: History, dice: Dice, work: (parts: Parts) => Change | undefined): History | undefined {
  const calls = history.operations as readonly LogOperation[]
  const answered = calls.filter(({ answer }) => answer !== undefined && !isFailed(answer))
  const done = answered.filter((call) => call.kind === "append")
  const looks = answered.filter(({ kind }) => kind !== "append")
  if (done.length === 0 || looks.length === 0) return undefined
  const changed = work({ append: dice.pick(done), done, look: dice.pick(looks) })
  if (changed === undefined) return undefined
  const replaced = new Map(changed.replace)
  const added = replaced.get(undefined)
  const operations = [...calls.map((call) => replaced.get(call) ?? call), ...(added === undefined ? [] : [added])]
  return withLog({ ...history, operations }, changed.log ?? idsOf(history))
}

function stateOf({ answer }: LogOperation): number {
  const { next, from = 0, lines = [] } = answer as { next?: number; from?: number; lines?: readonly string[] }
  return next ?? from + lines.length
}

/** The call with the answer that it would have in another state. */
function shows(call: LogOperation, history: History, state: number): LogOperation {
  const ids = idsOf(history).slice(0, state)
  if (call.kind === "read") return { ...call, answer: { from: 0, lines: ids } }
  return { ...call, kind: "head", answer: { next: state, log: history.log.identity, bytes: ids.join("").length } }
}

function idsOf({ log }: History): string[] {
  return log.lines.map(({ id }) => id)
}

function withLog(history: History, ids: readonly string[]): History {
  return { ...history, log: { ...history.log, lines: ids.map((id) => ({ id, bytes: id.length })) } }
}
