/**
 * Remembers appends with an unknown outcome. If the same lines are appended again after the same head, they reuse the token, so
 * that a late arrival of the first attempt is recognized as the same append.
 */
import { hasStorageCode, type StorageAppendOptions } from "@sessions/core/storage"
import { createToken, type Time } from "../base/time.ts"

export interface UnknownAppends {
  /** Runs `write` with the append's token. `sentBefore`: the same append was sent earlier, with an unknown outcome. */
  run<T>(
    session: string,
    expect: StorageAppendOptions["expect"],
    lines: readonly string[],
    write: (token: string, sentBefore: boolean) => Promise<T>,
  ): Promise<T>
}

/** Limit of remembered sessions. For others `@sessions/core` finds its entries by their ids. */
const SESSIONS = 1_000

interface UnknownAppend {
  readonly expect: string
  readonly lines: readonly string[]
  readonly token: string
}

export function createUnknownAppends(time: Time): UnknownAppends {
  const appends = new Map<string, UnknownAppend>()
  return {
    async run(session, expect, lines, write) {
      const after = expect === 0 ? "0" : `${expect.next} ${expect.log}`
      const earlier = appends.get(session)
      const same = earlier?.expect === after && isEqual(earlier.lines, lines) ? earlier : undefined
      const token = same?.token ?? createToken(time)
      try {
        const result = await write(token, same !== undefined)
        appends.delete(session)
        return result
      } catch (error) {
        if (hasStorageCode(error, "indeterminate")) {
          appends.set(session, { expect: after, lines, token })
          for (const oldest of appends.keys()) if (appends.size > SESSIONS) appends.delete(oldest)
        } else if (hasStorageCode(error, "conflict")) appends.delete(session)
        throw error
      }
    },
  }
}

function isEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, n) => line === b[n])
}
