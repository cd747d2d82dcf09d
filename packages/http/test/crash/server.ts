/** What the killed servers and the process that looks afterwards share. */
import { createSessions, type Session, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { join } from "node:path"

export function openSessions(folder: string): Sessions {
  return createSessions({ storage: createFileStorage({ root: join(folder, "sessions") }) })
}

export async function say(session: Session, text: string): Promise<void> {
  await session.append({ type: "message", message: { role: "assistant", content: text } })
}
