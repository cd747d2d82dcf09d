/** The calls that results name by their ids. Pure, and small: every context is looked through for them. */
import type { Entry } from "../format/entry.ts"

/** `<message>.<call>.result`: the entry of the message, and the place of the call in it. */
const RESULT_ID = /\.(\d+)\.result$/

/** The place of the call in its message that the id of its result names. NaN: it names none of this message. */
export function namedCall(result: string, target: string): number {
  return namedTarget(result) === target ? Number(RESULT_ID.exec(result)?.[1]) : Number.NaN
}

/** The entry of the message that the id of a result names. */
export function namedTarget(result: string): string | undefined {
  const named = RESULT_ID.exec(result)
  return named === null ? undefined : result.slice(0, named.index)
}

/**
 * Whether an entry is a result that `@sessions/tool-calls` has given to a call of another message than this one. It may be late, and behind a message with
 * a call of the same id, as local models make them. Such results have their run; ids of other programs may have this form and name no message.
 */
export function isOfOtherMessage({ id, run }: Entry, target: string | undefined): boolean {
  const named = typeof run === "string" ? namedTarget(id) : undefined
  return named !== undefined && named !== target
}
