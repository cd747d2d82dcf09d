/** Keeps what has arrived of an answer in a document beside the log, so that a kill in the middle of a stream does not lose it. */
import type { SessionStorage } from "@sessions/core/storage"
import { fieldsOf } from "@sessions/formats/messages/values"
import { checkAppendable, checkArgument, checkCall, type Checks, hasMethod, kind } from "./check.ts"
import type { AnswerKeeper, StreamedEntry } from "./types.ts"

/** What is read of a document. */
interface Kept {
  readonly leaf: string | null
  readonly entries: readonly StreamedEntry[]
}

const EVERY_MS = 3_000

const OPTIONS: Checks<{ readonly every?: number }> = {
  every: kind("a number of milliseconds above 0", (value) => typeof value === "number" && value > 0),
}

/**
 * A keeper for the answers of one session: pass it as `keep` to the function that reads the stream. It writes the document every `every` milliseconds (default
 * 3,000) while an answer arrives, and deletes it when the answer is in the log; deleting the session deletes it too. A write that fails is tried again with the
 * next one, and never fails the answer: a kill then leaves an older text, or none. If the log does not take the answer, the document stays for the next turn. Throws `invalid` for a wrong interval.
 *
 * ```ts
 * import { createSessions } from "@sessions/core"
 * import { createMemoryStorage } from "@sessions/memory"
 * import { keepAnswers } from "@sessions/providers"
 *
 * const sessions = createSessions({ storage: createMemoryStorage() })
 * const session = await sessions.create()
 * const keep = keepAnswers(sessions.storage, session.id)
 * await session.turn(async (turn) => {
 *   await keep.restore(turn)
 *   // appendAnthropicStream(turn, stream, { keep })
 * })
 * ```
 */
export function keepAnswers(
  storage: Pick<SessionStorage, "docs">,
  session: string,
  o: { readonly every?: number } = {},
): AnswerKeeper {
  const { docs } = fieldsOf(storage) as { docs: SessionStorage["docs"] }
  checkArgument("keepAnswers", hasMethod(docs, "get"), "the storage first, `sessions.storage`", storage)
  checkArgument("keepAnswers", typeof session === "string", "the id of the session second, `session.id`", session)
  checkCall("keepAnswers", o, OPTIONS)
  const { every = EVERY_MS } = o
  const key = `sessions/${session}/answer`
  return {
    async restore(to) {
      checkAppendable("restore", to)
      const found = await docs.get(key)
      if (found === undefined) return false
      await new Promise((resolve) => setTimeout(resolve, 2 * every))
      const doc = await docs.get(key)
      if (doc === undefined || doc.version !== found.version) return false
      const { leaf, entries } = JSON.parse(doc.text) as Kept
      const isBehind = leaf === to.leafId
      if (isBehind && entries.length > 0) await to.append(entries)
      await docs.delete(key, { expect: doc.version })
      return isBehind && entries.length > 0
    },
    begin(to, entries) {
      checkAppendable("begin", to)
      checkArgument("begin", typeof entries === "function", "a function second, which gives what has arrived", entries)
      let version: string | null | undefined
      let writing: Promise<void> = Promise.resolve()
      let isWriting = false
      const write = async (): Promise<void> => {
        // One that is there is of an answer that was not restored.
        if (version === undefined) version = (await docs.get(key))?.version ?? null
        // The time makes each text another one: who waits in `restore` sees that this process lives.
        const text = JSON.stringify({ leaf: to.leafId ?? null, entries: entries(), at: Date.now() })
        version = await docs.put(key, text, { expect: version })
      }
      const timer = setInterval(() => {
        if (isWriting) return
        isWriting = true
        writing = write()
          .catch(() => (version = undefined))
          .then(() => void (isWriting = false))
      }, every)
      return {
        async end(deletes = true) {
          clearInterval(timer)
          await writing
          if (!deletes) return write().catch(() => undefined)
          // What stays is deleted by `restore`: the leaf has moved on.
          if (typeof version === "string") await docs.delete(key, { expect: version }).catch(() => undefined)
        },
      }
    },
  }
}
