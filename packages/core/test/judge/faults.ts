/**
 * Faults that the judge must find. Those of the library are taken out of a source file while it is loaded; no file is changed. Those of the
 * rules are left out of the model of `rules.ts`, and show which law each rule is for.
 */
import type { Law } from "./laws.ts"
import type { RuleFaults } from "./rules.ts"

export interface Fault {
  readonly name: string
  /** The law that it breaks. */
  readonly law: Law
  /** From the root of the repository. */
  readonly file: string
  /** Each text is in the file once. */
  readonly edits: readonly (readonly [text: string, replacement: string])[]
}

const PLAN_CUT = "packages/core/src/compaction/plan/cut-to-aim.ts"
const PREPARE = "packages/core/src/compaction/plan/plan-compaction.ts"

export const FAULTS: readonly Fault[] = [
  {
    name: "the first message that is kept is lost",
    law: "kept",
    file: PREPARE,
    edits: [["firstKept(log, seqs, cut.first)", "firstKept(log, seqs, cut.first + 1)"]],
  },
  {
    name: "the beginning of a split turn is not summarized",
    law: "kept",
    file: PREPARE,
    edits: [["turnPrefix: summarized(cut.turnStart, cut.first)", "turnPrefix: []"]],
  },
  {
    name: "a message that is kept is summarized as well",
    law: "once",
    file: PREPARE,
    edits: [["history: summarized(0, cut.turnStart)", "history: summarized(0, cut.turnStart + 1)"]],
  },
  {
    name: "the question of a split turn is summarized away",
    law: "question",
    file: PLAN_CUT,
    edits: [["question: isIncluded ? question : undefined", "question: undefined"]],
  },
]

/** By the rule that is left out: the law, or the sum, that it breaks. */
export const MODEL_FAULTS: { readonly [fault in keyof RuleFaults]-?: string } = {
  aimIsLimit: "summaries-calm",
  aimInOverflow: "cuts",
  unprotected: "question",
  protectsAll: "accepted",
  viewOnce: "summaries",
  onlyAfterRefusal: "refusals",
  staysExhausted: "accepted",
  keepsImages: "accepted",
  neverLeavesOut: "accepted",
  noHalves: "cuts",
  paysAgain: "unpaid",
  longSummaries: "summaries",
  oneScale: "fits-same",
  noCalibration: "fits-same",
  believesAll: "refusals-reports",
  noLimit: "refusals-window",
  noCarry: "refusals-model",
  noScale: "fits-wild",
}
