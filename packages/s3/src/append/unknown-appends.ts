/**
 * Appends whose fate is unknown. When the same lines come again after the same head, they go out under the token they had: one
 * that arrives late then meets itself instead of somebody else.
 */
import type { AppendOptions } from "@sessions/core/storage"
import { hasCode } from "@sessions/core/storage"
import type { Time } from "../base/time.ts"
import { createToken } from "../base/time.ts"

export interface Unsettled {
  /** `before`: the lines were sent earlier. */
  settle<T>(
    session: string,
    expect: AppendOptions["expect"],
    lines: readonly string[],
    write: (token: string, before: boolean) => Promise<T>,
  ): Promise<T>
}

/** So many sessions are remembered; of one that is not, core finds its entries by their ids. */
const SESSIONS = 1_000

interface Attempted {
  readonly expect: string
  readonly lines: readonly string[]
  readonly token: string
}

export function createUnsettled(time: Time): Unsettled {
  const attempted = new Map<string, Attempted>()
  return {
    async settle(session, expect, lines, write) {
      const place = expect === 0 ? "0" : `${expect.next} ${expect.log}`
      const earlier = attempted.get(session)
      const same =
        earlier !== undefined && earlier.expect === place && isEqual(earlier.lines, lines) ? earlier : undefined
      const token = same?.token ?? createToken(time)
      try {
        const result = await write(token, same !== undefined)
        attempted.delete(session)
        return result
      } catch (error) {
        if (hasCode(error, "indeterminate")) {
          attempted.set(session, { expect: place, lines, token })
          for (const oldest of attempted.keys()) if (attempted.size > SESSIONS) attempted.delete(oldest)
        } else if (hasCode(error, "conflict")) attempted.delete(session)
        throw error
      }
    },
  }
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, n) => line === b[n])
}
