/** Faults that the judge must find: a rule is taken out of a source file while it is loaded. No file is changed. */
import type { Law } from "./laws.ts"

export interface Fault {
  readonly name: string
  /** The law that it breaks, or the sum. */
  readonly law: Law | "summaries" | "refusals" | "cuts" | "fits-same" | "fits-other"
  /** From the root of the repository. */
  readonly file: string
  /** Each text is in the file once. */
  readonly edits: readonly (readonly [text: string, replacement: string])[]
}

const PREPARE = "packages/core/src/compaction/plan/prepare.ts"

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
    edits: [["turnPrefix: messages.slice(cut.turnStart, cut.first)", "turnPrefix: []"]],
  },
  {
    name: "a message that is kept is summarized as well",
    law: "once",
    file: PREPARE,
    edits: [["history: messages.slice(0, cut.turnStart)", "history: messages.slice(0, cut.turnStart + 1)"]],
  },
  {
    name: "what was appended while the summary was made is lost",
    law: "kept",
    file: "packages/core/src/compaction/run/compact.ts",
    edits: [["work.firstKeptEntryId ?? appended?.id ?? id", "work.firstKeptEntryId ?? id"]],
  },
]
