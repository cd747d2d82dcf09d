import * as fc from "fast-check"
import { expect, test } from "vitest"
import { assistant, chain, compaction, textsOf, user } from "../../../test/chain.ts"
import { slotsOf, steps, writeLog } from "../../../test/logs.ts"
import { holds } from "../../../test/property.ts"
import { selectContext } from "../../context/select.ts"
import { EntryLog, type EntrySlot } from "../../log/entry-log.ts"
import { ROOT } from "../../log/path.ts"
import { pathTo } from "../../log/walk.ts"
import {
  type AbandonedBranch,
  BRANCH_PREAMBLE,
  branchPrompt,
  prepareBranchSummary,
  storedBranchSummary,
} from "./branch-summary.ts"
import { commonAncestor } from "../../log/common-ancestor.ts"
import { BRANCH_SUMMARY_PROMPT } from "./prompts.ts"

const ALL = 1_000_000

test("the common ancestor of two positions is the last entry on both paths", () => {
  holds(
    fc.property(steps(30), fc.nat(), fc.nat(), (script, a, b) => {
      const log = EntryLog.of(slotsOf(writeLog(script)))
      if (log.end < 2) return
      const one = 1 + (a % (log.end - 1))
      const other = 1 + (b % (log.end - 1))
      const others = new Set(pathTo(log, other).seqs)
      const shared = pathTo(log, one).seqs.filter((seq) => others.has(seq))
      expect(commonAncestor(log, one, other)).toBe(shared.at(-1) ?? ROOT)
    }),
    300,
  )
})

test("a branch's own part follows its common ancestor", () => {
  const slots = chain(user("a"), assistant("b"), user("c"), assistant("d"))
  expect(textsOf(branchOf(slots, 2).messages)).toEqual(["c", "d"])
  expect(textsOf(branchOf(slots, ROOT).messages)).toEqual(["a", "b", "c", "d"])
  expect(branchOf(slots, 4).messages).toEqual([])
})

test("a compaction on the branch adds its summary; an inherited one does not", () => {
  const slots = chain(user("a"), user("b"), compaction("e2"), user("c"))
  expect(textsOf(branchOf(slots, 1).messages)).toEqual(["so far", "b", "c"])
  expect(textsOf(branchOf(slots, 3).messages)).toEqual(["c"])
})

test("the newest messages are chosen until the budget is spent, summaries before them, and no result without its call", () => {
  const text = (name: string) => `${name}${"-".repeat(400)}`
  const branch = { type: "branch_summary", fromId: "x", summary: "nested" }
  const slots = chain(branch, user(text("a")), assistant(text("b")), user(text("c")))
  const some = branchOf(slots, ROOT, 200)
  expect(textsOf(some.messages).map((one) => one.charAt(0))).toEqual(["n", "c"])
  expect(some.leftOut).toBe(2)
  expect(branchOf(slots, ROOT, 5)).toMatchObject({ messages: [], leftOut: 4 })
  const calling = chain(user(text("a")), call("read", "1", text("b")), result("1"), assistant("c"))
  expect(branchOf(calling, ROOT, 60).messages.map(({ entryId }) => entryId)).toEqual(["e4"])
  expect(branchOf(calling, ROOT, ALL)).toMatchObject({ leftOut: 0 })
  // Only the part of a result that the summarizer gets counts.
  const huge = chain(call("read", "1", "b"), result("1", "x".repeat(1_000_000)))
  expect(branchOf(huge, ROOT, 700).messages).toHaveLength(2)
})

test("files come from the whole branch and from the summaries on it, except those that an extension wrote", () => {
  const details = { readFiles: ["nested.ts", "b.ts"], modifiedFiles: ["changed.ts"] }
  const branch = { type: "branch_summary", fromId: "x", summary: "s", details }
  const slots = chain(
    compaction("none", { readFiles: ["old.ts"], modifiedFiles: ["edited.ts"] }),
    branch,
    { ...branch, fromExtension: true, details: { readFiles: ["not.ts"] } },
    { ...branch, details: "none" },
    call("read", "1", "a.ts"),
    call("edit_file", "2", "b.ts"),
  )
  const expected = { readFiles: ["a.ts", "nested.ts", "old.ts"], modifiedFiles: ["b.ts", "changed.ts", "edited.ts"] }
  expect(branchOf(slots, ROOT).files).toEqual(expected)
  expect(branchOf(slots, ROOT, 0).files).toEqual(expected)
})

test("the summary has its own prompt, and is stored after an introduction", () => {
  const branch = branchOf(chain(user("a"), assistant("b")), ROOT)
  expect(branchPrompt(branch, "Mind the tests.")).toBe(
    `<conversation>\n[User]: a\n\n[Assistant]: b\n</conversation>\n\n${BRANCH_SUMMARY_PROMPT}\n\nMind the tests.`,
  )
  const stored = storedBranchSummary("## Goal\nit", { readFiles: ["a.ts"], modifiedFiles: [] })
  expect(stored).toBe(`${BRANCH_PREAMBLE}\n\n## Goal\nit\n\n<read-files>\na.ts\n</read-files>`)
  expect(BRANCH_PREAMBLE).toMatch(/The user explored another branch.*came back/)
})

function branchOf(slots: readonly EntrySlot[], ancestor: number, budget = ALL): AbandonedBranch {
  const log = EntryLog.of(slots)
  const selection = selectContext(log, log.entryBefore(log.end) ?? null)
  if ("older" in selection) throw new Error("The whole log is held.")
  return prepareBranchSummary(selection.entries, ancestor, { budget })
}

function call(name: string, id: string, path: string) {
  return assistant("", { content: [{ type: "toolCall", id, name, arguments: { path } }] })
}

function result(toolCallId: string, text = "done") {
  return {
    type: "message",
    message: { role: "toolResult", toolCallId, isError: false, content: [{ type: "text", text }] },
  }
}
