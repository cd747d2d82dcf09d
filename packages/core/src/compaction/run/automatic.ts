/** The settings of compaction with its code, as a repository or a handle takes them. */
import { checkCallOptions } from "../../format/options.ts"
import { type Compaction, type CompactionCode, settingsOf } from "../../session/compaction.ts"
import { insideOf } from "../../session/inside.ts"
import { signalOf } from "../../storage/signals.ts"
import { checkSettings, COMPACTION_OPTIONS, isAutomatic } from "../../compaction-settings/layers.ts"
import { PRESETS } from "../../compaction-settings/presets.ts"
import type { CompactionSettings } from "../../compaction-settings/types.ts"
import { compactIfDue } from "./run.ts"

/**
 * The settings for all compactions of a repository or a handle, for `compaction` in the options of `createSessions`, `create` and `open`. With
 * `summarize`, `turn` compacts a session before and after its function if it is due. Contexts need no value: what
 * `makeRoom` has recorded is shown without one, too, since a reader such as a server or a test may not know the settings of the writer. Throws `invalid` for wrong or contradictory settings.
 *
 * ```ts
 * const sessions = createSessions({ storage, compaction: automaticCompaction({ summarize, contextWindow: 200_000 }) })
 * ```
 */
export function automaticCompaction(settings: CompactionSettings = {}): Compaction {
  checkCallOptions("automaticCompaction", settings, COMPACTION_OPTIONS)
  checkSettings(settings)
  // A session that makes a context does not know the presets.
  const { shorten = PRESETS[settings.preset ?? "reserve"].shorten } = settings
  const value: CompactionCode = { settings: { ...settings, ...(shorten === undefined ? {} : { shorten }) }, ifDue }
  return value
}

async function ifDue(...[session, o]: Parameters<CompactionCode["ifDue"]>): Promise<void> {
  const { live, compaction, checkOpen } = insideOf("turn", session)
  const layers = settingsOf(compaction)
  if (isAutomatic(layers)) await compactIfDue(live, { layers, checkOpen }, signalOf(o))
}
