import { expect, test } from "vitest"
import { assistant, chain, compaction, edit, role, textsOf, tombstone, user } from "../../../test/chain.ts"
import { selectContext } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import { EntryLog } from "../../log/entry-log.ts"
import type { EntrySlot } from "../../log/entry-log.ts"
import { prepareCompaction, tokensWithSummary } from "./prepare.ts"
import type { PreparedCompaction, PrepareOptions } from "./prepare.ts"

const NOTHING = { kind: "tokens", count: 0 } as const
const LONG = "-".repeat(400)

test("history, the split turn's beginning and what is kept follow one another", () => {
  const slots = chain(user("a"), assistant("b"), user("c"), assistant("d"), assistant("e"))
  const work = prepare(slots, { keep: { kind: "messages", count: 1 } })
  expect(parts(work)).toEqual([["a", "b"], ["c", "d"], ["e"]])
  expect(work).toMatchObject({ firstKeptEntryId: "e5", previousSummary: undefined, tokensSummarized: 4 })
})

test("the input begins at what the previous compaction kept, and its summary goes along without its file lists", () => {
  const summary = "so far\n\n<read-files>\na.ts\n</read-files>"
  const before = compaction("e2", { summary, readFiles: ["a.ts"] })
  const work = prepare(chain(user("a"), user("b"), assistant("c"), before, user("d")), { keep: NOTHING })
  expect(parts(work)).toEqual([["b", "c", "d"], [], []])
  expect(work).toMatchObject({ previousSummary: "so far", firstKeptEntryId: undefined })
  expect(work.files).toEqual({ readFiles: ["a.ts"], modifiedFiles: [] })
})

test("a compaction that an extension wrote gives its summary and no files", () => {
  const before = compaction("e1", { fromExtension: true, readFiles: ["a.ts"], modifiedFiles: ["b.ts"] })
  const work = prepare(chain(user("a"), before, user("b")), { keep: NOTHING })
  expect(work).toMatchObject({ previousSummary: "so far", files: { readFiles: [], modifiedFiles: [] } })
})

test("one that lost its summary is no previous compaction", () => {
  const work = prepare(chain(user("a"), compaction("e1", { summary: 5 }), user("b")), { keep: NOTHING })
  expect(work.previousSummary).toBeUndefined()
  expect(parts(work)).toEqual([["a", "b"], [], []])
})

test("a compaction is never where the kept part begins: what stands without a message before the cut goes with it", () => {
  const mode = { type: "mode_change", mode: "plan" }
  const slots = chain(user("a"), compaction("e1"), mode, user("b"), mode, mode, user("c"))
  expect(prepare(slots, { keep: { kind: "messages", count: 2 } })).toMatchObject({ firstKeptEntryId: "e3" })
  expect(prepare(slots, { keep: { kind: "messages", count: 1 } })).toMatchObject({ firstKeptEntryId: "e5" })
})

test("what stands before the last reset is no input and is not kept, nor does a summary before it go along", () => {
  const after = prepare(chain(user("a"), compaction("e1"), user("b"), { type: "reset_boundary" }, user("c")), {
    keep: NOTHING,
  })
  expect(parts(after)).toEqual([["c"], [], []])
  expect(after.previousSummary).toBeUndefined()
  // Another program's compaction, which keeps what was reset before it.
  const across = chain(user("a"), { type: "reset_boundary" }, user("b"), compaction("e1"), user("c"))
  expect(parts(prepare(across, { keep: NOTHING }))).toEqual([["b", "c"], [], []])
  expect(parts(prepare(across, { keep: { kind: "messages", count: 1 } }))).toEqual([["b"], [], ["c"]])
  expect(prepareAny(across, { keep: { kind: "messages", count: 2 } }).cut).toBeUndefined()
})

test("what was deleted or edited away is nowhere, and what was edited is told as it reads now", () => {
  const slots = chain(user("a"), user("b"), user("c"), tombstone("e1"), edit("e2", null), edit("e3", "new"))
  expect(parts(prepare(slots, { keep: NOTHING }))).toEqual([["new"], [], []])
})

test("a minimum that alone has more tokens than the window gives way to the newest tokens", () => {
  const slots = chain(user(LONG), assistant(LONG), user(LONG), assistant(LONG))
  const giveWay = { window: 250, keepRecentTokens: 100 }
  const tokens = { kind: "tokens", count: 100 }
  for (const kind of ["turns", "messages"] as const) {
    const two = { keep: { kind, count: 2 }, giveWay }
    if (kind === "messages") expect(parts(prepare(slots, two))[2]).toHaveLength(2)
    else expect(prepare(slots, two)).toMatchObject({ keep: tokens, kept: [expect.anything()] })
    expect(prepare(slots, { keep: { kind, count: 4 }, giveWay })).toMatchObject({ keep: tokens })
  }
  const whole = { window: 1_000, keepRecentTokens: 100 }
  expect(prepareAny(slots, { keep: { kind: "turns", count: 2 }, giveWay: whole })).toMatchObject({
    cut: undefined,
    keep: { kind: "turns", count: 2 },
  })
  // Tokens are what the others give way to.
  expect(prepareAny(slots, { keep: { kind: "tokens", count: 1_000 }, giveWay }).cut).toBeUndefined()
})

test("if nothing can be cut, the plan names the rule and the tokens of the context", () => {
  const keep = { kind: "turns", count: 3 } as const
  expect(prepareAny(chain(user("abcd"), assistant("efgh")), { keep })).toEqual({
    cut: undefined,
    keep,
    tokensBefore: 2,
  })
  expect(prepareAny(chain(), { keep: NOTHING })).toEqual({ cut: undefined, keep: NOTHING, tokensBefore: 0 })
})

test("a counter that is given counts everything", () => {
  const count = (): number => 7
  const slots = chain(user("a"), compaction("e1"), role("bashExecution", { command: "ls", output: "b" }), user("c"))
  const work = prepare(slots, { keep: { kind: "tokens", count: 8 }, count })
  expect(parts(work)[2]).toHaveLength(2)
  expect(work).toMatchObject({ tokensBefore: 28, tokensSummarized: 7 })
  expect(tokensWithSummary("s", work.kept, { count })).toBe(21)
})

function prepareAny(slots: readonly EntrySlot[], o: PrepareOptions): ReturnType<typeof prepareCompaction> {
  const log = EntryLog.of(slots)
  const selection = selectContext(log, log.entryBefore(log.end) ?? null)
  if ("older" in selection) throw new Error("The whole log is held.")
  return prepareCompaction(log, selection.entries, o)
}

function prepare(slots: readonly EntrySlot[], o: PrepareOptions): PreparedCompaction {
  const work = prepareAny(slots, o)
  if (work.cut === undefined) throw new Error("There is nothing to cut.")
  return work
}

function parts({ history, turnPrefix, kept }: PreparedCompaction): string[][] {
  return [history, turnPrefix, kept].map((messages: readonly ContextMessage[]) => textsOf(messages))
}
