/** What compacts by itself, before and after a turn: whatever comes of it stops no turn. */
import type { CallOptions } from "../../storage/contract.ts"
import { compaction } from "../../session/rooms.ts"
import type { SharedSession } from "../../session/shared-session.ts"
import type { Compacting } from "./run.ts"

/** Never rejects: whoever heard of a failure after the turn would do again what was done and written. */
export async function compactBetween(shared: SharedSession, by: Compacting, { signal }: CallOptions): Promise<void> {
  const loaded = await compaction.load().catch((error: unknown) => tellClosed(shared, error))
  // It has been told of. What is left is that the turn was aborted, which it says itself, or that its session was closed.
  await loaded?.compactIfDue(shared, by, signal === undefined ? {} : { signal }).catch(() => undefined)
}

/** No failure that counts: nothing was tried, and the next turn asks again. */
function tellClosed(shared: SharedSession, error: unknown): undefined {
  const { failures } = shared.compaction
  shared.events.emit("compact_failed", { error, kind: "failed", failures, breakerOpen: false })
  shared.note({ code: "compaction_failed", message: (error as Error).message })
}
