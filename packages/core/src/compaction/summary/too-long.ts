/** Detects that a model rejected a request as too long. Providers have no common code for it, so the error text is matched. */

import type { Fields } from "../../format/shape.ts"

const WORDS =
  /context[_ -]?(?:length|window)|maximum context|(?:prompt|input|request|conversation) (?:is )?too (?:long|large)|too many (?:input |total )?tokens|(?:exceed|surpass)\w* .{0,60}(?:token|context)|token (?:limit|count) exceed/i
/** "Payload too large". */
const STATUS = 413
/** Errors wrap their causes; a longer chain is taken for a loop. */
const LAYERS = 8

/** Looks at an error's message, code and status, and at those of its causes. */
export function isTooLong(error: unknown): boolean {
  let current = error
  for (let layer = 0; layer < LAYERS && current !== undefined && current !== null; layer++) {
    if (typeof current === "string") return WORDS.test(current)
    const { message, code, status, statusCode, cause } = current as Fields
    if (status === STATUS || statusCode === STATUS) return true
    if ([message, code].some((text) => typeof text === "string" && WORDS.test(text))) return true
    current = cause
  }
  return false
}
