/** The tree and the branches of an open session. Both need the whole log. */
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import { type Branch, branchesOf } from "../log/branches.ts"
import { buildTree } from "../log/nodes.ts"
import { parentsOf } from "../log/whole-path.ts"
import type { ReadableSession } from "../session/live.ts"
import type { SessionTree } from "../session/types.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"

/** The tree of all entries. Their blobs are not read. */
export async function readTree(
  live: ReadableSession & { readonly diagnostics: readonly Diagnostic[] },
  o: CallOptions,
): Promise<SessionTree> {
  await holdWholeLog(live, o)
  const { state, diagnostics } = live
  const { log, leafId } = state
  const leaf = leafId === null ? undefined : log.find(leafId)
  const parents = parentsOf(log)
  const path: string[] = []
  for (let seq = leaf ?? -1; seq >= 0; seq = parents[seq] as Seq) path.push((log.at(seq) as Entry).id)
  path.reverse()
  return { roots: buildTree(log, parents), leafId, path, diagnostics: cloneJson(diagnostics) }
}

export async function readBranches(live: ReadableSession, o: CallOptions): Promise<readonly Branch[]> {
  await holdWholeLog(live, o)
  const { log, leafId, settled: lines, reported } = live.state
  const branches = branchesOf(log, lines, leafId === null ? null : (log.find(leafId) ?? null))
  // The caller knows them now, so a later choice between them settles the others.
  for (const { id, seq, settled, current } of branches) if (!settled && !current) reported.set(seq, { id, seq })
  return branches
}

/** Until the whole log is in memory. The caller then takes the log and the leaf together: both change with each append. */
async function holdWholeLog({ state, store }: ReadableSession, o: CallOptions): Promise<void> {
  const ask = (): object => (state.log.complete ? {} : { older: true, hint: 0 })
  await store.untilKnown(() => state.log, ask, o)
}
