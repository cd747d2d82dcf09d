/** The sessions that subagents of a session ran in: those of the kind `subagent` that name it as their parent. */
import type { Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import type { Subagent } from "../model/types.ts"

/** Oldest first. */
export async function subagentsOf(sessions: Sessions, parent: string, o: CallOptions): Promise<readonly Subagent[]> {
  const found: Subagent[] = []
  let cursor: string | undefined
  do {
    const page = await sessions.list({
      parent,
      kind: "subagent",
      limit: 200,
      ...(cursor === undefined ? {} : { cursor }),
      ...o,
    })
    for (const { id, title, createdAt, parentSession } of page.sessions) {
      const entryId = parentSession !== undefined && "id" in parentSession ? parentSession.entryId : undefined
      found.push({ id, title: title ?? "", createdAt, ...(entryId === undefined ? {} : { entryId }) })
    }
    cursor = page.next
  } while (cursor !== undefined)
  return found.sort((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0))
}
