/** Calls and results of chat messages: each call has one result, directly behind the message that has the calls. */
import { type Fields, fieldsIn, type Report } from "./shapes.ts"

/** The sentences of an API for what does not match. */
export interface PairSentences {
  readonly unanswered: (ids: readonly string[], at: number) => string
  readonly orphan: (id: string, at: number) => string
  readonly repeated: (id: string, at: number) => string
}

export const callsOf = (message: Fields): readonly Fields[] => fieldsIn(message["tool_calls"])
export const idOf = (call: Fields): string => (typeof call["id"] === "string" ? call["id"] : "")

/** Rules: `unanswered`, `orphan`, `repeated_result`, `repeated_call`. */
export function checkPairs(messages: readonly Fields[], report: Report, sentences: PairSentences): void {
  let open: string[] = []
  let known: readonly string[] = []
  const close = (at: number) => {
    if (open.length > 0) report.refuse("unanswered", sentences.unanswered(open, at))
    open = []
  }
  for (const [i, message] of messages.entries()) {
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"])
      if (open.includes(id)) open.splice(open.indexOf(id), 1)
      else if (known.includes(id)) report.refuse("repeated_result", sentences.repeated(id, i))
      else report.refuse("orphan", sentences.orphan(id, i))
      continue
    }
    close(i)
    known = callsOf(message).map(idOf)
    open = [...known]
    const repeated = known.find((id, j) => known.indexOf(id) !== j)
    if (repeated !== undefined) report.refuse("repeated_call", sentences.repeated(repeated, i))
  }
  close(messages.length)
}
