/** The sizes of a context that pruning by shares of the window needs. */
import type { Calibration } from "../../format/entry.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { calibrationOf, promptUnits } from "../ruler.ts"
import type { Selection } from "../select.ts"
import type { ContextMessage } from "../types.ts"
import type { PruneSizes } from "../shortening.ts"

/** The reports behind the compaction or reset that the context begins with count: those before it were made with another context. */
export function pruneSizes(
  log: EntryLog,
  { entries, state, start }: Pick<Selection, "entries" | "state" | "start">,
  messages: readonly ContextMessage[],
  {
    window,
    count,
    overheadTokens,
  }: { window?: number | undefined; count?: TokenCounter | undefined; overheadTokens?: number | undefined },
): PruneSizes {
  const older = new Set(start === undefined ? [] : entries.flatMap(({ seq, entry }) => (seq > start ? [] : [entry.id])))
  const from = messages.findIndex(({ entryId }) => !older.has(entryId))
  const { overhead = overheadTokens ?? 0, ...known }: Calibration = calibrationOf(log, start)
  return {
    window,
    otherTokens: promptUnits(state, count),
    count,
    known: { ...known, overhead },
    reportsFrom: from < 0 ? messages.length : from,
  }
}
