/** The tree and the branches of an open session. Both read the whole log, but no blobs. */
import { cloneJson } from "../format/clone.ts"
import type { AnyOwnEntry, Entry, OwnEntry } from "../format/entry.ts"
import { checkCallOptions } from "../format/options.ts"
import { type Branch, branchesOf } from "../log/branches.ts"
import { buildTree, type TreeNode } from "../log/nodes.ts"
import { parentsOf } from "../log/walk.ts"
import { CALL } from "../session/arguments.ts"
import { insideOf, type SessionInside } from "../session/inside.ts"
import type { Session } from "../session/types.ts"
import type { CallOptions, Seq } from "../storage/contract.ts"
import type { SessionTree } from "./types.ts"

/** The tree of all entries. Large contents may be references to blobs, which `entry` of the session resolves. */
export async function sessionTree<Own extends OwnEntry = AnyOwnEntry>(
  session: Session<Own>,
  o: CallOptions = {},
): Promise<SessionTree<Own>> {
  const { state, diagnostics } = await wholeOf("sessionTree", session, o)
  const { log, leafId } = state
  const leaf = leafId === null ? undefined : log.find(leafId)
  const parents = parentsOf(log)
  const path: string[] = []
  for (let seq = leaf ?? -1; seq >= 0; seq = parents[seq] as Seq) path.push((log.at(seq) as Entry).id)
  path.reverse()
  const roots = buildTree(log, parents) as unknown as readonly TreeNode<Own>[]
  return { roots, leafId, path, diagnostics: cloneJson(diagnostics) }
}

/**
 * The branches of the log, newest first, settled ones included. The open ones count as reported: the next choice between them, such as a
 * `branch` to the end of one, settles the others.
 */
export async function sessionBranches(session: Session, o: CallOptions = {}): Promise<readonly Branch[]> {
  const { log, leafId, settled: lines, reported } = (await wholeOf("sessionBranches", session, o)).state
  const branches = branchesOf(log, lines, leafId === null ? null : (log.find(leafId) ?? null))
  // The caller knows them now, so a later choice between them settles the others.
  for (const { id, seq, settled, current } of branches) if (!settled && !current) reported.set(seq, { id, seq })
  return branches
}

/** The session when its whole log is in memory. The caller then takes the log and the leaf together: both change with each append. */
async function wholeOf(call: string, session: object, o: CallOptions): Promise<SessionInside["live"]> {
  const { live, checkOpen } = insideOf(call, session)
  checkCallOptions(call, o, CALL, { session: live.id })
  checkOpen(o)
  const ask = (): object => (live.state.log.complete ? {} : { older: true, hint: 0 })
  await live.store.untilKnown(() => live.state.log, ask, o)
  return live
}
