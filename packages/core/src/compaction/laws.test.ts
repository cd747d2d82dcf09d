/** Laws for every compaction of every history; those that need a session are in run/compact-laws.test.ts. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { expectedCut, pairsOf, waitingCalls } from "../../test/cut-oracle.ts"
import { History, isMessageEntry, marksIn, type Round, rounds } from "../../test/histories.ts"
import { holds } from "../../test/property.ts"
import { whyRefused } from "../../test/sendable.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { renderMessages } from "../context/render.ts"
import { repairMessages } from "../context/repair.ts"
import { selectContext, type Selection } from "../context/select.ts"
import type { ContextMessage } from "../context/types.ts"
import type { Entry } from "../format/entry.ts"
import { prepareCompaction, type PreparedCompaction, tokensWithSummary } from "./plan/plan-compaction.ts"
import { compactionPrompts, storedSummary } from "./summary/requests.ts"
import { estimateMessages } from "../format/tokens.ts"

/** Histories per law, different ones for each law: 1,400 in all. */
const RUNS = 200

test("law 1: every message of the path is either covered by the previous summary, in this one's input, or kept", () => {
  checkEach(1, ({ history, work, covered }) => {
    const input = idsOf([...work.history, ...work.turnPrefix])
    const kept = idsOf(work.kept)
    const places = [covered, new Set(input), new Set(kept)]
    const visible = history.visible().map(({ id }) => id)
    expect(visible.filter((id) => places.filter((place) => place.has(id)).length !== 1)).toEqual([])
    expect(idsOf(contextOf(history)).filter((id) => !covered.has(id))).toEqual([...input, ...kept])
  })
})

test("law 1: the kept part is the next context after the summary, and the prompts have all the rest", () => {
  checkEach(2, ({ history, work, prompts, compact }) => {
    const told = marksIn(prompts).map((mark) => history.told(mark))
    expect(told.toSorted()).toEqual(idsOf([...work.history, ...work.turnPrefix]).toSorted())
    if (compact() === undefined) return
    expect(idsOf(contextOf(history).slice(1))).toEqual(idsOf(work.kept))
  })
})

test("law 2: the previous summary is in a prompt, and stays in front if only a turn's beginning is new", () => {
  checkEach(3, ({ previous, work, prompts, compact }) => {
    const summary = previous === undefined ? undefined : String(previous["summary"])
    expect(work.previousSummary).toBe(summary)
    const quoted = prompts.match(/<previous-summary>\n([^]*?)\n<\/previous-summary>/)?.[1]
    expect(quoted).toBe(summary)
    const stored = compact()
    if (stored !== undefined && summary !== undefined && work.history.length === 0)
      expect(stored.startsWith(`${summary}\n\n---\n`)).toBe(true)
  })
})

test("law 3: no cut separates a call from its result, and the kept part does not begin with a result", () => {
  checkEach(4, ({ work }) => {
    const messages = [...work.history, ...work.turnPrefix, ...work.kept].map(({ message }) => message)
    expect(work.kept[0]?.message.role).not.toBe("toolResult")
    const { first } = work.cut
    expect(pairsOf(messages).filter(([call, result]) => call < first && first <= result)).toEqual([])
    // A pending call counts as one whose result follows.
    expect(waitingCalls(messages).filter((call) => call < first)).toEqual([])
  })
})

test("law 4: there is a cut if there is a valid place before the kept part, and it is exactly where the rule says", () => {
  holds(
    fc.property(rounds, (script) => {
      playAll(script, ({ history, keep, prepared }) => {
        const messages = contextOf(history).flatMap(({ kind, message }) => (kind === "compaction" ? [] : [message]))
        expect(prepared.cut?.first).toBe(expectedCut(messages, keep))
      })
    }),
    RUNS,
    5,
    FOUND,
  )
})

test("law 5: the context after a compaction is sendable, and shorter than before by the same token count", () => {
  checkEach(6, ({ history, work, compact }) => {
    const before = sendable(history)
    expect(work.tokensBefore).toBe(estimateMessages(before.map(({ message }) => message)))
    const summary = compact()
    if (summary === undefined) return
    const after = sendable(history)
    expect(whyRefused(after)).toBeUndefined()
    const tokens = estimateMessages(after.map(({ message }) => message))
    expect(tokens).toBe(tokensWithSummary(summary, work.kept))
    expect(tokens).toBeLessThan(work.tokensBefore)
  })
})

test("law 7: nothing deleted, edited away or reset is in a prompt or in the kept part", () => {
  checkEach(7, ({ history, work, prompts }) => {
    const current = new Set(history.visible().map(({ mark }) => mark))
    const kept = marksIn(JSON.stringify(work.kept))
    expect([...marksIn(prompts), ...kept].filter((mark) => !current.has(mark))).toEqual([])
  })
})

/** A counterexample of a law: a reset deleted after a compaction leaves the messages it hid before the summary. */
const FOUND: readonly [readonly Round[]][] = [
  [
    [
      {
        steps: [
          ["bash", 0, 0],
          ["reset", 0, 0],
          ["oddUser", 0, 0],
          ["state", 0, 0],
        ],
        keep: { kind: "tokens", count: 0 },
      },
      {
        steps: [
          ["custom", 0, 0],
          ["tombstone", 808, 0],
          ["results", 0, 0],
        ],
        keep: { kind: "turns", count: 0 },
      },
      { steps: [["custom", 0, 0]], keep: { kind: "messages", count: 0 } },
    ],
  ],
  [
    [
      {
        steps: [
          ["user", 0, 0],
          ["calls", 0, 0],
          ["assistant", 0, 0],
          ["calls", 0, 0],
        ],
        keep: { kind: "tokens", count: 0 },
      },
      {
        steps: [
          ["reset", 0, 0],
          ["tombstone", 0, 0],
          ["results", 0, 0],
          ["calls", 0, 0],
          ["calls", 0, 0],
          ["assistant", 0, 0],
        ],
        keep: { kind: "turns", count: 0 },
      },
      {
        steps: [
          ["calls", 4, 0],
          ["edit", 0, 0],
          ["results", 0, 0],
          ["results", 0, 0],
          ["calls", 0, 0],
          ["hugeResult", 0, 0],
          ["bash", 0, 0],
        ],
        keep: { kind: "tokens", count: 0 },
      },
      {
        steps: [
          ["user", 0, 0],
          ["calls", 0, 0],
          ["calls", 0, 0],
          ["user", 0, 0],
          ["tombstone", 740, 0],
          ["user", 0, 0],
        ],
        keep: { kind: "tokens", count: 0 },
      },
      { steps: [["calls", 0, 0]], keep: { kind: "messages", count: 0 } },
    ],
  ],
]

interface Compaction {
  readonly history: History
  readonly work: PreparedCompaction
  readonly prompts: string
  readonly previous: Entry | undefined
  /** Entries on the path that the previous summary covers. */
  readonly covered: ReadonlySet<string>
  /** Writes the compaction if that saves tokens. Returns the summary, which identifies the compaction. */
  readonly compact: () => string | undefined
}

/** Every compaction of every history; the number selects the histories. */
function checkEach(law: number, check: (compaction: Compaction) => void): void {
  holds(
    fc.property(rounds, (script) => {
      playAll(script, ({ history, prepared, covered, previous, compact }) => {
        if (prepared.cut === undefined) return
        const { history: first, turnPrefix } = compactionPrompts(prepared)
        const prompts = [first, turnPrefix].filter((prompt) => prompt !== undefined).join("\n")
        check({ history, work: prepared, prompts, previous, covered, compact })
      })
    }),
    RUNS,
    law,
    FOUND,
  )
}

type Prepared = ReturnType<typeof prepareCompaction>

function playAll(
  script: readonly Round[],
  each: (
    at: Omit<Compaction, "work" | "prompts"> & { readonly keep: Round["keep"]; readonly prepared: Prepared },
  ) => void,
): void {
  const history = new History()
  /** For each compaction, the messages before its kept part. */
  const covers = new Map<string, ReadonlySet<string>>()
  for (const { steps, keep } of script) {
    for (const step of steps) history.take(step)
    const previous = history.latestCompaction()
    const covered = covers.get(previous?.id ?? "") ?? new Set<string>()
    const prepared = prepareCompaction(history.log, selectionOf(history).entries, { keep })
    let written = false
    const compact = (): string | undefined => {
      if (written || prepared.cut === undefined) return undefined
      const said = (part: string, has: boolean): string | undefined =>
        has ? `${part} summary ${history.log.end}` : undefined
      const answers = {
        history: said("history", prepared.history.length > 0),
        turnPrefix: said("turn", prepared.turnPrefix.length > 0),
      }
      const summary = storedSummary(answers, prepared)
      if (tokensWithSummary(summary, prepared.kept) >= prepared.tokensBefore) return undefined
      // Including messages hidden by a reset: if that reset is deleted later, they are still before the summary.
      const path = history.wholePath()
      const place = path.findIndex(({ id }) => id === prepared.firstKeptEntryId)
      const before = (place < 0 ? path : path.slice(0, place)).filter(isMessageEntry).map(({ id }) => id)
      covers.set(history.compacted(summary, prepared.firstKeptEntryId, { ...prepared.files }), new Set(before))
      written = true
      return summary
    }
    each({ history, keep, prepared, previous, covered, compact })
    compact()
  }
}

function selectionOf(history: History): Selection {
  const selection = selectContext(history.log, history.leafSeq)
  if ("older" in selection) throw new Error("The whole log is held.")
  return selection
}

function contextOf(history: History): readonly ContextMessage[] {
  return renderMessages(selectionOf(history).entries).messages
}

function sendable(history: History): readonly ContextMessage[] {
  return repairMessages(toModelMessages(contextOf(history)).messages, "synthesize").messages
}

function idsOf(messages: readonly ContextMessage[]): string[] {
  return messages.flatMap(({ kind, entryId }) => (kind === "compaction" ? [] : [entryId]))
}
