/** One batch of a log that nobody else should be writing to, until its fate is known. */
import { SessionError } from "../format/errors.ts"
import type { Head, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { backoff } from "../storage/clock.ts"
import { readLines } from "../log/loaded-log.ts"

/** How often a storage that is out of reach, or does not know, is asked again. */
const TRIES = 3

export interface BatchOptions {
  readonly expect: 0 | Head
  readonly info: string | undefined
  readonly signal: AbortSignal | undefined
}

/** Asks again where the storage was out of reach; where it cannot say, or refuses, looks for the lines. */
export async function appendBatch(
  storage: SessionStorage,
  id: string,
  lines: readonly string[],
  { expect, info, signal }: BatchOptions,
): Promise<Head> {
  const options = { ...(info === undefined ? {} : { info }), ...(signal === undefined ? {} : { signal }) }
  let left = lines
  let head = expect
  for (let attempt = 1; ; attempt++) {
    try {
      return await storage.append(id, left, { ...options, expect: head })
    } catch (error) {
      const unsure = hasCode(error, "indeterminate") || hasCode(error, "conflict")
      if (!unsure && !(hasCode(error, "unavailable") && attempt < TRIES)) throw error
      if (unsure) {
        const arrived = await lookFor(storage, id, left, head)
        if (arrived === undefined) throw otherWriter(storage, id, expect === 0, error)
        left = left.slice(arrived.lines)
        head = arrived.head
        if (left.length === 0 && head !== 0) return head
      }
      if (attempt === TRIES) throw error
      await backoff(attempt)
    }
  }
}

/** How many of the lines stand directly after the head, and nothing else; undefined where something else does. */
async function lookFor(
  storage: SessionStorage,
  id: string,
  lines: readonly string[],
  expect: 0 | Head,
): Promise<{ readonly lines: number; readonly head: 0 | Head } | undefined> {
  const now = await storage.head(id)
  if (now === undefined) return expect === 0 ? { lines: 0, head: 0 } : undefined
  if (expect !== 0 && now.log !== expect.log) return undefined
  const from = expect === 0 ? 0 : expect.next
  const found = await readLines(storage, id, { from, to: now.next })
  const ours = found.length <= lines.length && found.every((line, index) => line === lines[index])
  return ours ? { lines: found.length, head: { next: now.next, log: now.log } } : undefined
}

function otherWriter(storage: SessionStorage, id: string, creating: boolean, cause: unknown): SessionError {
  const about = { session: id, storage: storage.description, cause }
  if (creating) {
    const message = `There is another session ${id} in ${storage.description} already; it was left as it is. Choose another id.`
    return new SessionError("exists", message, about)
  }
  const message = `Somebody else writes to ${id} in ${storage.description}, which is not complete yet. Delete it, and run the same again.`
  return new SessionError("conflict", message, about)
}
