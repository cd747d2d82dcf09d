/** The calls of compaction, which take an open session first. */
import { SessionError } from "../../format/errors.ts"
import type { Session } from "../../session/types.ts"
import { insideOf, type SessionInside } from "../../session/inside.ts"
import { settingsOf } from "../../session/compaction.ts"
import type { CompactionCaller } from "../../session/live-types.ts"
import type { AppendResult } from "../../write/types.ts"
import { MAX_FAILURES, settingOf } from "../../compaction-settings/layers.ts"
import type {
  AutoCompactOptions,
  BranchSummaryOptions,
  CompactionResult,
  CompactionStatus,
  CompactOptions,
  MakeRoomOptions,
  RoomResult,
} from "../../compaction-settings/types.ts"
import { type BranchingOptions, summarizeBranch } from "./branch.ts"
import { roomFor } from "./make-room.ts"
import { checkAutoCompact, checkBranchWithSummary, checkMakeRoom } from "./options.ts"
import { compactByHand, compactIfDue } from "./run.ts"

/**
 * Summarizes the older part of the context and appends one `compaction` entry; nothing is removed from the log. Entries appended
 * meanwhile stay in the context. Also allowed within a turn. Rejects with `compaction_failed`, and writes nothing, if there is
 * nothing to summarize, if the summarizer fails or does not answer completely in time, if the context would not become shorter, if
 * the leaf moved to another branch meanwhile, or while another compaction of the session runs. With `anew`, the summary that the context
 * begins with is made again from what is left in the log, see {@link CompactOptions.anew}. Other errors: `invalid`, `aborted`,
 * `closed`, and those of the storage.
 */
export async function compact(session: Session, o: CompactOptions = {}): Promise<CompactionResult> {
  const { live, by, told } = opened("compact", session)
  return compactByHand(live, by, o).catch(telling(told))
}

/**
 * Compacts if due, after the running turn has ended. Resolves with undefined if compaction is not due or not enabled, while the
 * breaker is open, and after a failure, which is reported as a `compact_failed` event and a diagnostic. Rejects only with `invalid`
 * (also within a turn), `aborted` and `closed`.
 */
export async function autoCompact(session: Session, o: AutoCompactOptions = {}): Promise<CompactionResult | undefined> {
  const { live, by, isOfTurn } = opened("autoCompact", session)
  if (isOfTurn || live.turns.isInside) throw notInTurnError(live.id)
  checkAutoCompact(live.id, o)
  const act = (): Promise<CompactionResult | undefined> => {
    by.checkOpen()
    return compactIfDue(live, by, o)
  }
  return live.turns.run(act, o.signal)
}

/**
 * Makes room in a context that is too large for the model: before a request, without `error`, and after a provider has refused one, with
 * its error. Until the context fits, old results are trimmed, old images give way to texts, and the rest is compacted, further each time. At
 * most three summaries are asked for until the model answers, and one more for each new message. After a refusal also unread images give way,
 * messages are cut, and older ones are left out. All but the summaries change only what contexts show, in every process, as long as the
 * window does not grow. Also allowed within a turn; the breaker does not matter.
 *
 * With `error`: rejects with that very error if it is not a refusal for the length (`isTooLong`). A refusal is stored, and teaches every
 * process the limit of the model. Rejects with `no_room` if nothing is left to do; the message has the figures, the cause and the way out.
 * Without `error` it resolves in any case: the provider decides. A summarizer that fails emits `compact_failed`. Other errors: `invalid`,
 * `aborted`, `closed`, and those of the storage.
 */
export async function makeRoom(session: Session, o: MakeRoomOptions = {}): Promise<RoomResult> {
  const { live, by, told } = opened("makeRoom", session)
  checkMakeRoom(live.id, o)
  return roomFor(live, by, o).catch(telling(told))
}

/**
 * Moves the leaf to `id` (null: before the first entry) with a summary of the abandoned branch: the given text, or the answer of
 * `summarize` on the entries that only that branch has, with their files in `details` (`readFiles`, `modifiedFiles`). Rejects with
 * `compaction_failed`, and writes nothing, if the answer is incomplete, if there is nothing to summarize, or if the session changed
 * meanwhile.
 */
export async function branchWithSummary(
  session: Session,
  id: string | null,
  summary: string | BranchSummaryOptions,
  o: BranchingOptions = {},
): Promise<AppendResult> {
  const { live, by, checkOpen } = opened("branchWithSummary", session)
  checkBranchWithSummary(live.id, o)
  checkOpen(o)
  const [text, { details, fromExtension, usage, ...rest }] =
    typeof summary === "string" ? [summary, o] : await summarizeBranch(live, id, by, summary, o)
  const summarized = {
    text,
    ...(usage === undefined ? {} : { usage }),
    ...(details === undefined ? {} : { details }),
    ...(fromExtension === undefined ? {} : { fromExtension }),
  }
  // Through the session that was given: a proxy of it may add options to appends.
  const leaving = { ...rest, summary: summarized }
  return id === null ? session.resetLeaf(leaving) : session.branch(id, leaving)
}

/** Shared by all handles of the repository on this session; not stored in the log. */
export function compactionStatus(session: Session): CompactionStatus {
  const { live, compaction } = insideOf("compactionStatus", session)
  const { running, failures } = live.compaction
  const most = settingOf(settingsOf(compaction), "maxFailures") ?? MAX_FAILURES
  return { running, failures, breakerOpen: failures >= most }
}

/** Closes the breaker after failures, so that automatic compaction runs again. */
export function resetCompactionBreaker(session: Session): void {
  const { compaction } = opened("resetCompactionBreaker", session).live
  compaction.failures = 0
  compaction.stuck = undefined
}

/** Throws `closed` if the handle is closed. */
function opened(call: string, session: Session): SessionInside & { readonly by: CompactionCaller } {
  const inside = insideOf(call, session)
  inside.checkOpen()
  const by = { layers: settingsOf(inside.compaction), checkOpen: inside.checkOpen }
  return { ...inside, by }
}

/** Passes an error on that the caller then knows. */
function telling(told: (error: unknown) => void): (error: unknown) => never {
  return (error) => {
    told(error)
    throw error
  }
}

function notInTurnError(session: string): SessionError {
  const message = `autoCompact() runs between the turns of ${session}, never within one. There, call compact(session).`
  return new SessionError("invalid", message, { session })
}
