/** Reads which summaries of a context are outdated. The log is read back as far as the deleted and edited entries are. */
import type { Selection } from "../context/select.ts"
import type { NeedsOlder } from "../log/path.ts"
import type { ReadableSession } from "./live-types.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import { type OutdatedSummary, outdatedSummaries } from "../context/outdated.ts"

export function readOutdated(
  live: ReadableSession,
  { entries }: Pick<Selection, "entries">,
  { signal }: CallOptions,
): Promise<readonly OutdatedSummary[]> {
  const { leafId } = live.state
  if (leafId === null) return Promise.resolve([])
  const ask = (): readonly OutdatedSummary[] | NeedsOlder => {
    const { log } = live.state
    return outdatedSummaries(log, log.find(leafId) as Seq, entries)
  }
  return live.store.untilKnown(() => live.state.log, ask, signal === undefined ? {} : { signal })
}
