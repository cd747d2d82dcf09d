/** How open tips are reported: the diagnostic `diverged`, and the same in the result of an append and in an event. See `tips.ts`. */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Seq } from "../storage/contract.ts"
import type { EntryLog } from "./entry-log.ts"
import { anchorOf } from "./anchors.ts"
import { openTips, type OpenTip, type OpenTips, type Tips } from "./projected-tips.ts"
import { tipsOfLog } from "./tips-of-log.ts"

/** The log has branches that end off the path of the session's leaf, and that were not left knowingly. */
export interface Divergence {
  /** This session's leaf; null after `resetLeaf`. */
  readonly leaf: string | null
  /** The last message of the newest of these branches. */
  readonly otherLeaf: string
  /** The last messages of these branches, newest first. */
  readonly tips: readonly OpenTip[]
  /** Up to so many more, older ones are not named. */
  readonly more?: number
}

/** The tips that are open to a session with this leaf. If the tips are not known, those among the loaded lines. `settled`: see `settledLines`. */
export function openAt(log: EntryLog, tips: Tips | undefined, leaf: Seq | null, settled: number): OpenTips {
  // An import that is not complete: the branches of the other system are settled at its end.
  if (log.end < settled) return { tips: [] }
  const known = tips ?? tipsOfLog(log, settled)
  // The anchor of the last entry is known, although the id of its parent may not be kept.
  const at = leaf === log.entryBefore(log.end) ? known.current : anchorOf(log, known, leaf)
  return openTips(known, at)
}

/** Undefined if no tip is named. */
export function divergenceAt(leaf: string | null, open: OpenTips): Divergence | undefined {
  const [newest] = open.tips
  return newest === undefined ? undefined : { leaf, otherLeaf: newest.id, ...open }
}

export function toDiagnostic(divergence: Divergence): Diagnostic {
  const { leaf, tips, more } = divergence
  const named = tips.length === 1 ? "one more branch" : `${tips.length} more branches`
  const also = more === undefined ? "" : `, and up to ${more} older ones`
  const here = leaf === null ? "the beginning" : `that of ${leaf}`
  const message = `The session has ${named} beside ${here}${also}: several writers continued it. Branch to the one to continue from, or settle them: ${tips.map(({ id }) => id).join(", ")}.`
  return { code: "diverged", seq: (tips[0] as OpenTip).seq, ...divergence, message }
}
