/**
 * The conversation of a session that another SDK has stored in its own lines: reads them into a session in memory, so that commands show
 * and write them like any other.
 */
import { createSessions, type Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { importSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"

/** A repository in which the session with this id is a conversation: the given one, unless the session has lines of an SDK. */
export async function conversationOf(sessions: Sessions, id: string, o: CallOptions): Promise<Sessions> {
  const { kind } = await sessions.info(id, o)
  if (kind !== "claude-agent") return sessions
  const [{ transcriptText }, { claudeCode }] = await Promise.all([
    import("@sessions/claude-agent"),
    import("@sessions/formats/claude-code"),
  ])
  const session = await sessions.open(id, o)
  const memory = createSessions({ storage: createMemoryStorage() })
  try {
    await importSession(memory, () => transcriptText(session, sessions), { id, from: claudeCode, ...o })
  } finally {
    await session.close()
  }
  return memory
}
