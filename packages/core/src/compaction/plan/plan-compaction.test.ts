import { expect, test } from "vitest"
import { assistant, chain, compaction, edit, role, textsOf, tombstone, user } from "../../../test/chain.ts"
import { selectContext } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import { EntryLog, type EntrySlot } from "../../log/entry-log.ts"
import {
  prepareCompaction,
  type PreparedCompaction,
  type PrepareOptions,
  tokensWithSummary,
} from "./plan-compaction.ts"

const NOTHING = { kind: "tokens", count: 0 } as const
const LONG = "-".repeat(400)

test("the history, the beginning of the split turn and the kept part follow one another", () => {
  const slots = chain(user("a"), assistant("b"), user("c"), assistant("d"), assistant("e"))
  const work = prepare(slots, { keep: { kind: "messages", count: 1 } })
  expect(parts(work)).toEqual([["a", "b"], ["c", "d"], ["e"]])
  expect(work).toMatchObject({ firstKeptEntryId: "e5", previousSummary: undefined, tokensSummarized: 4 })
})

test("the input begins at the previous compaction's first kept entry, and includes its summary without the file lists", () => {
  const summary = "so far\n\n<read-files>\na.ts\n</read-files>"
  const before = compaction("e2", { summary, readFiles: ["a.ts"] })
  const work = prepare(chain(user("a"), user("b"), assistant("c"), before, user("d")), { keep: NOTHING })
  expect(parts(work)).toEqual([["b", "c", "d"], [], []])
  expect(work).toMatchObject({ previousSummary: "so far", firstKeptEntryId: undefined })
  expect(work.files).toEqual({ readFiles: ["a.ts"], modifiedFiles: [] })
})

test("a compaction that an extension wrote adds its summary and no files", () => {
  const before = compaction("e1", { fromExtension: true, readFiles: ["a.ts"], modifiedFiles: ["b.ts"] })
  const work = prepare(chain(user("a"), before, user("b")), { keep: NOTHING })
  expect(work).toMatchObject({ previousSummary: "so far", files: { readFiles: [], modifiedFiles: [] } })
})

test("a compaction without a summary does not count as the previous one", () => {
  const work = prepare(chain(user("a"), compaction("e1", { summary: 5 }), user("b")), { keep: NOTHING })
  expect(work.previousSummary).toBeUndefined()
  expect(parts(work)).toEqual([["a", "b"], [], []])
})

test("the kept part never begins at a compaction: entries before the cut without a message belong to the kept part", () => {
  const mode = { type: "mode_change", mode: "plan" }
  const slots = chain(user("a"), compaction("e1"), mode, user("b"), mode, mode, user("c"))
  expect(prepare(slots, { keep: { kind: "messages", count: 2 } })).toMatchObject({ firstKeptEntryId: "e3" })
  expect(prepare(slots, { keep: { kind: "messages", count: 1 } })).toMatchObject({ firstKeptEntryId: "e5" })
})

test("messages before the last reset are neither input nor kept, and a summary before it is left out", () => {
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

test("deleted messages are left out, and edited ones have their edited text", () => {
  const slots = chain(user("a"), user("b"), user("c"), tombstone("e1"), edit("e2", null), edit("e3", "new"))
  expect(parts(prepare(slots, { keep: NOTHING }))).toEqual([["new"], [], []])
})

test("what a rule keeps gives way, cut by cut, until the context is expected to reach its aim", () => {
  const slots = chain(user(LONG), assistant(LONG), user(LONG), assistant(LONG), user("next"))
  const size = (aim: number) => {
    const { kept, reaches } = prepare(slots, { keep: { kind: "messages", count: 4 }, aim, maxSummaryTokens: 10 })
    return [kept.length, reaches]
  }
  expect([size(1_000), size(311), size(309), size(209), size(109)]).toEqual([
    [4, true],
    [4, true],
    [3, true],
    [2, true],
    [1, true],
  ])
  // The rule keeps everything, and the context is small enough.
  expect(prepareAny(slots, { keep: { kind: "messages", count: 9 }, aim: 1_000 }).cut).toBeUndefined()
})

test("with an aim the question that the model works on and what it has not read stay, however little the rule keeps", () => {
  const call = (id: string) => assistant("", { content: [{ type: "toolCall", id, name: "read", arguments: {} }] })
  const result = (toolCallId: string) => role("toolResult", { toolCallId, isError: false, content: [] })
  const steps = [user("q"), call("1"), result("1"), call("2"), result("2")]
  const work = prepare(chain(user("old"), assistant("a"), ...steps), { keep: NOTHING, aim: 1 })
  expect([work.history, work.turnPrefix, work.kept].map((part) => part.map(({ entryId }) => entryId))).toEqual([
    ["e1", "e2", "e4", "e5"],
    [],
    ["e6", "e7"],
  ])
  expect(work.question?.entryId).toBe("e3")
  // The question is kept in its place if the cut is before it, and it is not open once it is answered.
  expect(prepare(chain(user("old"), assistant("a"), user("q")), { keep: NOTHING, aim: 1 }).question).toBeUndefined()
  const answered = prepare(chain(user("old"), assistant("a"), user("q"), assistant("b")), { keep: NOTHING, aim: 1 })
  expect([answered.question, answered.kept]).toEqual([undefined, []])
})

test("the beginning of a turn is apart only if the turn has ended and no summary has its question behind it", () => {
  const call = (id: string) => assistant("", { content: [{ type: "toolCall", id, name: "read", arguments: {} }] })
  const result = (toolCallId: string) => role("toolResult", { toolCallId, isError: false, content: [] })
  const turn = [user("q"), call("1"), result("1"), call("2"), result("2")]
  const keep = { kind: "messages", count: 1 } as const
  const countsOf = (slots: readonly EntrySlot[]) => {
    const { history, turnPrefix, question } = prepare(slots, { keep, aim: 1_000, pending: 0 })
    return [history.length, turnPrefix.length, question?.entryId]
  }
  const open = chain(user("old"), assistant("a"), ...turn)
  const ended = chain(user("old"), assistant("a"), ...turn, assistant("done"))
  const question = { id: "e1", message: { role: "user", content: [{ type: "text", text: "q" }] } }
  const begun = chain(
    user("q"),
    call("1"),
    result("1"),
    { ...compaction("e4"), question },
    ...turn.slice(3),
    assistant("done"),
  )
  expect([open, ended, begun].map(countsOf)).toEqual([
    [4, 0, "e3"],
    [2, 5, undefined],
    [3, 0, undefined],
  ])
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

test("a given counter counts everything", () => {
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
