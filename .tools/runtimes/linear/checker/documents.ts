/**
 * Checks the operations on documents. Each put has a value of its own and names the value that it replaces, so the last value fixes the
 * order of all puts before it: that is a log whose lines are the values, and it is checked as one.
 */
import { type DocumentOperation, isFailed, type LogOperation, nameOf, type Put } from "./history.ts"
import { checkLog } from "./log.ts"

/** One sentence for each violation. `last` has the value of every document at the end. */
export function checkDocuments(
  operations: readonly DocumentOperation[],
  last: Readonly<Record<string, string | null>>,
): readonly string[] {
  const keys = new Set(operations.map(({ key }) => key))
  return [...keys].flatMap((key) => {
    const own = operations.filter((operation) => operation.key === key)
    return checkDocument(own, last[key] ?? null).map((violation) => `document ${key}: ${violation}`)
  })
}

function checkDocument(operations: readonly DocumentOperation[], last: string | null): readonly string[] {
  const puts = new Map(operations.filter(({ kind }) => kind === "put").map((put) => [(put as Put).value, put as Put]))
  const chain = new Set<string>()
  for (let value = last; value !== null; value = puts.get(value)?.expect ?? null) {
    if (chain.has(value)) return [`the value ${value} has replaced itself`]
    chain.add(value)
  }
  const values = [...chain].reverse()
  const states = new Map<string | null, number>([[null, 0], ...values.map((value, n) => [value, n + 1] as const)])
  const found: string[] = []
  const calls = operations.flatMap((operation): LogOperation[] => {
    const { by, start, end, answer } = operation
    const failed = isFailed(answer) ? { answer } : {}
    if (operation.kind === "get") {
      if (answer === undefined || isFailed(answer)) return [{ kind: "head", by, start, end, ...failed }]
      const { value } = answer as { value: string | null }
      const next = states.get(value)
      if (next !== undefined) return [{ kind: "head", by, start, end, answer: { next } }]
      found.push(`${nameOf(operation)} shows ${value}, which is not among the values that led to ${last}`)
      return []
    }
    const expect = states.get(operation.expect)
    const isDone = answer !== undefined && !isFailed(answer)
    // A put that expects a value which was never stored can only be refused.
    if (expect === undefined) {
      if (isDone) found.push(`${nameOf(operation)} was acknowledged, and replaced a value that is lost`)
      return []
    }
    const done = isDone ? { answer: { next: expect + 1, log: "" } } : failed
    return [{ kind: "append", by, start, end, expect, lines: [operation.value], ...done }]
  })
  const log = { identity: "", lines: values.map((id) => ({ id, bytes: 0 })) }
  return [...found, ...checkLog({ atomicBatch: "all", log, operations: calls })]
}
