/** The options of pruning, their defaults and their checks. The reasons for the defaults are in `docs/context.md`. */
import { SessionError } from "../../format/errors.ts"
import { checkCallOptions, type OptionChecks } from "../../format/options.ts"
import { EXEMPT_TOOLS } from "./exempt-results.ts"
import { arrayOf, type Check, isAnything, isString, numberFrom } from "../../format/shape.ts"

/** Sizes are UTF-16 units; an image counts as 4,800. Shares are of the window, in tokens. */
export interface PruneOptions {
  /** Default 0.3: from this share on, long old results are trimmed, oldest first. 0: at once. `false`: never. */
  readonly softTrimShare?: number | false
  /** Default 0.5: from this share on, old results are cleared, oldest first. 0: at once. `false`: never. */
  readonly hardClearShare?: number | false
  /** Default 50,000: nothing is cleared while all eligible results together have less. */
  readonly hardClearMinChars?: number
  /** Default 4,000: results with a longer text are trimmed. */
  readonly trimOverChars?: number
  /** Default 1,500: how much a trimmed result keeps of its beginning. */
  readonly trimHeadChars?: number
  /** Default 1,500: how much a trimmed result keeps of its end. */
  readonly trimTailChars?: number
  /** Default 3: this number of newest assistant messages, and everything after the first of them, is not pruned. */
  readonly keepAssistantMessages?: number
  /** Default `["skill"]`: results of these tools are not pruned. */
  readonly exemptTools?: readonly string[]
  /** Default 0: smaller results are not pruned. */
  readonly minResultChars?: number
  /** For the retry after a context-length error: both shares and `hardClearMinChars` are 0. Needs no window. */
  readonly aggressive?: boolean
  /** Default `false`. A number, such as {@link TOOL_RESULT_BUDGET}: results are cleared, oldest first, when their sum exceeds it. Needs no window. */
  readonly toolResultBudget?: number | false
  /** Default 6: this number of newest messages is exempt from the budget. */
  readonly budgetKeepMessages?: number
}

export type PruneSettings = { readonly [K in keyof PruneOptions]-?: Exclude<PruneOptions[K], undefined> }

/** Characters of all results of a context together, for callers without a budget of their own. */
export const TOOL_RESULT_BUDGET = 50_000

export const PRUNE_DEFAULTS: PruneSettings = {
  softTrimShare: 0.3,
  hardClearShare: 0.5,
  hardClearMinChars: 50_000,
  trimOverChars: 4_000,
  trimHeadChars: 1_500,
  trimTailChars: 1_500,
  keepAssistantMessages: 3,
  exemptTools: EXEMPT_TOOLS,
  minResultChars: 0,
  aggressive: false,
  toolResultBudget: false,
  budgetKeepMessages: 6,
}

/** Longer than any notice of a trimmed result, so that a trimmed result is never long enough to be trimmed again. */
export const NOTICE_UNITS = 100

/** The options with their defaults. Throws `invalid` if one is out of its range, or two contradict each other. */
export function pruneSettings(o: PruneOptions | true): PruneSettings {
  const given = o === true ? {} : o
  checkCallOptions("prune", given, OPTIONS)
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  const s = { ...PRUNE_DEFAULTS, ...Object.fromEntries(set) } as PruneSettings
  if (s.trimHeadChars + s.trimTailChars + NOTICE_UNITS > s.trimOverChars)
    throw invalidError(
      `trimOverChars (${s.trimOverChars}) must be at least ${NOTICE_UNITS} more than trimHeadChars and trimTailChars together, for the notice`,
    )
  if (s.softTrimShare !== false && s.hardClearShare !== false && s.hardClearShare < s.softTrimShare)
    throw invalidError(`hardClearShare (${s.hardClearShare}) must not be below softTrimShare (${s.softTrimShare})`)
  return s.aggressive ? { ...s, softTrimShare: 0, hardClearShare: 0, hardClearMinChars: 0 } : s
}

const isShare: Check = (value) =>
  value === false || (typeof value === "number" && value >= 0 && value <= 1)
    ? undefined
    : " must be a number from 0 to 1, or false."
const isFrom0 = numberFrom(0)

const OPTIONS: OptionChecks<PruneOptions> = {
  softTrimShare: isShare,
  hardClearShare: isShare,
  hardClearMinChars: isFrom0,
  trimOverChars: isFrom0,
  trimHeadChars: isFrom0,
  trimTailChars: isFrom0,
  keepAssistantMessages: isFrom0,
  exemptTools: arrayOf(isString, "a list of tool names"),
  minResultChars: isFrom0,
  aggressive: isAnything,
  toolResultBudget: (value) => (value === false ? undefined : isFrom0(value)),
  budgetKeepMessages: isFrom0,
}

function invalidError(what: string): SessionError {
  return new SessionError("invalid", `Pruning: ${what}.`)
}
