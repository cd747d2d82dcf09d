/** A draft: keeps entries in memory until the first message creates a session with all of them. */
import type { NewEntry, NewMessage } from "../format/new-entry.ts"
import type { CallOptions } from "../storage/contract.ts"
import { checkSessionCall } from "./arguments.ts"
import type { CompactionLayers } from "./compaction.ts"
import { readContext } from "./context.ts"
import type { NewSession } from "./create.ts"
import { copyEntries } from "./hooks.ts"
import type { Draft, DraftOptions } from "./repository-types.ts"
import type { Session } from "./types.ts"

/** `create` writes the session of `made` with these entries at its end, and opens it. `layers` are the compaction settings. */
export function startDraft(
  made: NewSession,
  create: (entries: readonly NewEntry[], o: CallOptions) => Promise<Session>,
  until: DraftOptions["until"],
  layers: CompactionLayers,
): Draft {
  const { live } = made
  let session: Session | undefined
  /** The appends so far. One that is made during the creation goes behind it. */
  let last: Promise<unknown> = Promise.resolve()
  /** The entry is not checked yet. */
  const begins = (entry: NewEntry): boolean => {
    const role = entry?.type === "message" ? (entry.message as NewMessage | undefined)?.role : undefined
    return role === "assistant" || (role === "user" && until !== "assistant")
  }
  const append = async (entries: readonly NewEntry[], o: CallOptions): Promise<Session | undefined> => {
    if (made.isUncertain) session = await create([], o)
    if (session !== undefined) await session.append(entries, o)
    else if (entries.some(begins)) session = await create(entries, o)
    else await made.add(entries, o)
    return session
  }
  return {
    id: live.id,

    async append(entries, o = {}) {
      checkSessionCall("draft.append", o, live.id)
      const copies = copyEntries(Array.isArray(entries) ? entries : [entries])
      const result = last.then(() => append(copies, o))
      last = result.catch(() => undefined)
      return result
    },

    async context(o = {}) {
      checkSessionCall("context", o, live.id)
      await last
      return session?.context(o) ?? readContext(live, o, layers)
    },
  }
}
