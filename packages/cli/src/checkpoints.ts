/** The checkpoints of a session, for the commands that show and use them. The package is loaded by these commands only. */
import { isAbsolute, resolve } from "node:path"
import type { Session, Sessions } from "@sessions/core"
import type { Checkpoints } from "@sessions/checkpoints"
import type { Io } from "./io.ts"

/** They are in the store of the session. */
export async function checkpointsOf(sessions: Sessions, session: Session, root: string): Promise<Checkpoints> {
  const { createCheckpoints } = await import("@sessions/checkpoints")
  const { createWorkFiles } = await import("@sessions/checkpoints/node")
  // How many snapshots are kept is up to the agent's program, whose number is not known here: nothing may be evicted.
  const options = { storage: sessions.storage, files: createWorkFiles(root), maxSnapshots: Number.MAX_SAFE_INTEGER }
  return createCheckpoints(options).of(session)
}

/** The folder that the agent worked in: the one that is given, else that of the session, else the current one. */
export async function rootOf(session: Session, { cwd }: Io, given: string | undefined): Promise<string> {
  const root = given ?? (await session.info()).cwd ?? cwd
  return isAbsolute(root) ? root : resolve(cwd, root)
}
