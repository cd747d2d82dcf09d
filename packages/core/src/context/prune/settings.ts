/** What pruning may cut and when. Every number is an option; the reasons for the defaults are in `docs/context.md`. */
import { SessionError } from "../../format/errors.ts"

/** Sizes are UTF-16 units; an image counts as many as its tokens stand for (4,800). Shares are of the window, in tokens. */
export interface PruneOptions {
  /** Default 0.3: from here on long old results are trimmed, oldest first, until the context is below it. `false`: never. */
  readonly softTrimShare?: number | false
  /** Default 0.5: from here on old results are cleared, oldest first, until the context is below it. `false`: never. */
  readonly hardClearShare?: number | false
  /** Default 50,000: nothing is cleared while what is eligible adds up to less. */
  readonly hardClearMinChars?: number
  /** Default 4,000: results whose text is longer are trimmed. */
  readonly trimOverChars?: number
  /** Default 1,500: what a trimmed result keeps of its beginning. */
  readonly trimHeadChars?: number
  /** Default 1,500: what a trimmed result keeps of its end. */
  readonly trimTailChars?: number
  /** Default 3: the newest assistant messages, and all that follows the first of them, stay as they are. */
  readonly keepAssistantMessages?: number
  /** Default `["skill"]`: results of these tools stay as they are. */
  readonly exemptTools?: readonly string[]
  /** Default 0: smaller results stay as they are. */
  readonly minResultChars?: number
  /** For the retry after a context-length error: both shares and `hardClearMinChars` are 0. Needs no window. */
  readonly aggressive?: boolean
  /** Default `false`. A number ({@link TOOL_RESULT_BUDGET}): results beyond it in sum are cleared, oldest first. Needs no window. */
  readonly toolResultBudget?: number | false
  /** Default 6: the newest messages, which the budget leaves as they are. */
  readonly budgetKeepMessages?: number
}

export type PruneSettings = { readonly [K in keyof PruneOptions]-?: Exclude<PruneOptions[K], undefined> }

/** Characters over all results of a context, for callers who want a budget and have no number of their own. */
export const TOOL_RESULT_BUDGET = 50_000

export const PRUNE_DEFAULTS: PruneSettings = {
  softTrimShare: 0.3,
  hardClearShare: 0.5,
  hardClearMinChars: 50_000,
  trimOverChars: 4_000,
  trimHeadChars: 1_500,
  trimTailChars: 1_500,
  keepAssistantMessages: 3,
  exemptTools: ["skill"],
  minResultChars: 0,
  aggressive: false,
  toolResultBudget: false,
  budgetKeepMessages: 6,
}

/** More than the notice of a trimmed result ever takes: what was trimmed must not be long enough to be trimmed again. */
export const NOTICE_ROOM = 100

/** The options with every default in place. `invalid` where one is out of its range, or two contradict each other. */
export function pruneSettings(o: PruneOptions | true): PruneSettings {
  const given = Object.entries(o === true ? {} : o).filter(([, value]) => value !== undefined)
  const s = { ...PRUNE_DEFAULTS, ...Object.fromEntries(given) } as PruneSettings
  for (const name of SHARES) {
    const share = s[name]
    if (share !== false && !(typeof share === "number" && share >= 0 && share <= 1))
      throw invalid(`${name} must be a number from 0 to 1, or false, not ${String(share)}`)
  }
  for (const name of COUNTS) {
    const count = s[name]
    if (!(name === "toolResultBudget" && count === false) && !(typeof count === "number" && count >= 0))
      throw invalid(`${name} must be a number from 0, not ${String(count)}`)
  }
  if (!Array.isArray(s.exemptTools) || !s.exemptTools.every((name) => typeof name === "string"))
    throw invalid("exemptTools must be a list of tool names")
  if (s.trimHeadChars + s.trimTailChars + NOTICE_ROOM > s.trimOverChars)
    throw invalid(
      `trimOverChars (${s.trimOverChars}) must be at least ${NOTICE_ROOM} more than trimHeadChars and trimTailChars together, which leaves room for the notice`,
    )
  if (s.softTrimShare !== false && s.hardClearShare !== false && s.hardClearShare < s.softTrimShare)
    throw invalid(`hardClearShare (${s.hardClearShare}) must not be below softTrimShare (${s.softTrimShare})`)
  return s.aggressive ? { ...s, softTrimShare: 0, hardClearShare: 0, hardClearMinChars: 0 } : s
}

const SHARES = ["softTrimShare", "hardClearShare"] as const
const COUNTS = [
  "hardClearMinChars",
  "trimOverChars",
  "trimHeadChars",
  "trimTailChars",
  "keepAssistantMessages",
  "minResultChars",
  "toolResultBudget",
  "budgetKeepMessages",
] as const

function invalid(what: string): SessionError {
  return new SessionError("invalid", `Pruning: ${what}.`)
}
