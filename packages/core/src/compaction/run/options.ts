/** Checks the options of `compact`, `autoCompact` and `makeRoom`: their names, and the values that need no more than a look. */
import { checkCallOptions, type OptionChecks } from "../../format/options.ts"
import { isAnything } from "../../format/shape.ts"
import { CALL, ENTRY } from "../../session/arguments.ts"
import { checkSignal } from "../../storage/signals.ts"
import { COMPACTION_OPTIONS } from "../../compaction-settings/layers.ts"
import type { BranchingOptions } from "./branch.ts"
import type { AutoCompactOptions, CompactOptions, MakeRoomOptions } from "../../compaction-settings/types.ts"

const AUTO_COMPACT: OptionChecks<AutoCompactOptions> = { ...CALL, ...COMPACTION_OPTIONS, instructions: isAnything }
const BRANCH: OptionChecks<BranchingOptions> = {
  ...ENTRY,
  details: isAnything,
  fromExtension: isAnything,
  usage: isAnything,
}
const ROOM: OptionChecks<MakeRoomOptions> = { ...AUTO_COMPACT, error: isAnything }
const COMPACT: OptionChecks<CompactOptions> = { ...AUTO_COMPACT, reason: isAnything, anew: isAnything }

/** Throws `invalid` for a wrong option. */
export function checkBranchWithSummary(session: string, o: BranchingOptions): void {
  checkCallOptions("branchWithSummary", o, BRANCH, { session })
}

/** Throws `invalid` for a wrong option, and `aborted`. */
export function checkCompact(session: string, o: CompactOptions): void {
  checkCallOptions("compact", o, COMPACT, { session })
  checkSignal(o.signal)
}

/** Throws `invalid` for a wrong option, and `aborted`. */
export function checkAutoCompact(session: string, o: AutoCompactOptions): void {
  checkCallOptions("autoCompact", o, AUTO_COMPACT, { session })
  checkSignal(o.signal)
}

/** Throws `invalid` for a wrong option, and `aborted`. */
export function checkMakeRoom(session: string, o: MakeRoomOptions): void {
  checkCallOptions("makeRoom", o, ROOM, { session })
  checkSignal(o.signal)
}
