/** Removes from a storage what nothing refers to: blobs, and what deletions, replacements and interrupted writes left. */
import { invalidError } from "../../storage/errors.ts"
import type { SessionStorage, Swept } from "../../storage/contract.ts"
import {
  checkCollectOptions,
  type CollectedBlobs,
  collectBlobs,
  type CollectOptions,
  MENTIONED_WITHIN_MS,
} from "../../storage/collect-blobs.ts"
import { signalOf } from "../../storage/signals.ts"

const NOTHING: Swept = { removed: 0, bytes: 0, left: 0 }

/** Sweeps first, because a session that cannot be read ends the collection of blobs. A crash leaves the rest to the next call. */
export async function collectStorage(
  storage: SessionStorage,
  o: CollectOptions = {},
): Promise<CollectedBlobs & { readonly swept: Swept }> {
  checkCollectOptions("collect", o)
  const { olderThan, dryRun = false } = o
  if (olderThan !== undefined && olderThan < MENTIONED_WITHIN_MS) {
    throw invalidError(
      `\`olderThan\` of collect() is at least ${MENTIONED_WITHIN_MS} milliseconds, 2 hours, not ${olderThan}: writers may be about to name younger blobs. If there are none, collectBlobs() takes less.`,
    )
  }
  const swept = (await storage.sweep?.({ ...signalOf(o), dryRun })) ?? NOTHING
  return { ...(await collectBlobs(storage, o)), swept }
}
