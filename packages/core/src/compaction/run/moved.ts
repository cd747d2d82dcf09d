/** What has become of the session while its summary was made. */
import { selectContext } from "../../context/select.ts"
import type { SelectedEntry, Selection } from "../../context/select.ts"
import type { Seq } from "../../storage/contract.ts"
import { parentOf } from "../../log/path.ts"
import type { CompactableSession } from "../../session/live.ts"
import { moved } from "./failure.ts"

/**
 * What was appended meanwhile is part of what is kept. Another branch or another compaction makes this one void, and so does
 * whatever took something out of what was summarized: its summary must not bring it back.
 */
export function checkNotMoved(shared: CompactableSession, leafId: string | null, made: Selection): void {
  const { log, leafId: now } = shared.state
  const target = leafId === null ? undefined : log.find(leafId)
  let seq = now === null ? -1 : (log.find(now) as Seq)
  while (target !== undefined && seq > target) seq = parentOf(log, seq)
  if (target === undefined || seq !== target) throw moved(shared.id)
  const current = selectContext(log, log.find(now as string) as Seq, shared.state.header)
  if ("older" in current || current.compaction !== made.compaction) throw moved(shared.id)
  const still = new Map(current.entries.map(({ seq: place, edit }) => [place, edit?.id]))
  const same = ({ seq: place, edit }: SelectedEntry): boolean => still.has(place) && still.get(place) === edit?.id
  if (!made.entries.every(same)) throw moved(shared.id)
}

/** Where nothing was to be kept, what was appended meanwhile is. */
export function firstAfter({ state }: CompactableSession, leafId: string | null): string | undefined {
  const { log, leafId: now } = state
  const made = leafId === null ? undefined : log.find(leafId)
  let first: string | undefined
  for (let seq = now === null ? -1 : (log.find(now) as Seq); seq >= 0 && seq !== made; seq = parentOf(log, seq))
    first = log.at(seq)?.id
  return first
}
