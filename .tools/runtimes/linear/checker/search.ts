/** Whether a short history is linearizable, by trying every order of its calls: the definition, against which the checker is tested. */
import { type Append, type History, isFailed, isUnknown, type LogOperation } from "./history.ts"

export function hasOrder({ log, operations }: History): boolean {
  const wanted = log.lines.map(({ id }) => id)
  const calls = (operations as readonly LogOperation[]).map((call) => ({
    call,
    end: isUnknown(call.answer) ? Number.POSITIVE_INFINITY : call.end,
  }))
  return search(calls, [])

  function search(left: readonly { call: LogOperation; end: number }[], state: readonly string[]): boolean {
    if (left.length === 0) return state.join() === wanted.join()
    const firstEnd = Math.min(...left.map(({ end }) => end))
    return left.some(({ call }, index) => {
      if (call.start > firstEnd) return false
      const rest = left.filter((_, other) => other !== index)
      return after(call, state).some((next) => search(rest, next))
    })
  }
}

/** The states that the call can leave if it takes effect now. */
function after(call: LogOperation, state: readonly string[]): readonly (readonly string[])[] {
  const { answer } = call
  if (call.kind === "append") return afterAppend(call, state)
  if (answer === undefined || isFailed(answer)) return [state]
  const fits =
    call.kind === "read"
      ? "from" in answer && state.slice(answer.from).join() === answer.lines.join()
      : "next" in answer && answer.next === state.length
  return fits ? [state] : []
}

function afterAppend({ expect, lines, answer }: Append, state: readonly string[]): readonly (readonly string[])[] {
  const fits = expect === state.length
  const written = [...state, ...lines]
  if (isUnknown(answer)) return fits ? [state, written] : [state]
  if (isFailed(answer)) return answer.code === "conflict" && fits ? [] : [state]
  return fits && answer !== undefined && answer.next === written.length ? [written] : []
}
