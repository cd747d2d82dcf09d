/** Sessions that are compacted, and the events they emit. */
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { SUMMARY_HEADINGS } from "../src/compaction/summary/prompts.ts"
import type { SessionEvents } from "../src/session/events.ts"
import { createSessions } from "../src/session/repository.ts"
import type { Session } from "../src/session/types.ts"
import type { SessionsOptions, Sessions } from "../src/session/repository-types.ts"

export const SUMMARY = SUMMARY_HEADINGS.join("\nwhat was done\n")
/** A thousand tokens. */
export const FILLER = "-".repeat(4_000)

export type Told = readonly [keyof SessionEvents, unknown]

export async function startCompacting(o: Omit<SessionsOptions, "storage"> = {}): Promise<{
  readonly session: Session
  readonly sessions: Sessions
  readonly location: MemoryLocation
  readonly told: readonly Told[]
  readonly reopen: () => Promise<Session>
}> {
  const location: MemoryLocation = createMemoryLocation()
  const sessions = createSessions({ ...o, storage: createMemoryStorage({ location }) })
  const session = await sessions.create({ id: "s" })
  const told: Told[] = []
  for (const name of ["compact_start", "compact_complete", "compact_failed", "hook_failed"] as const)
    session.on(name, (event) => told.push([name, event]))
  const reopen = (): Promise<Session> => createSessions({ storage: createMemoryStorage({ location }) }).open("s")
  return { session, sessions, location, told, reopen }
}
