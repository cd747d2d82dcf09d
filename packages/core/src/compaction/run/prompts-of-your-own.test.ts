import { automaticCompaction, compact } from "../index.ts"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessions } from "../../session/repository.ts"
import { codeOf } from "../../../test/writers.ts"
import { FIRST_SUMMARY_PROMPT, SUMMARY_SYSTEM_PROMPT, UPDATE_SUMMARY_PROMPT } from "../summary/prompts.ts"
import type { CompactionSettings, SummarizeRequest } from "../../compaction-settings/types.ts"

const user = (content: string) => ({ type: "message", message: { role: "user", content } }) as const
/** What the model has answered may be summarized. */
const answered = (content: string) =>
  [user(content), { type: "message", message: { role: "assistant", content: "ok" } }] as const
const LONG = "x ".repeat(400)

async function asking(compaction: CompactionSettings = {}) {
  const asked: SummarizeRequest[] = []
  const missing: (readonly string[])[] = []
  const summarize = async (request: SummarizeRequest) => {
    asked.push(request)
    return "## My form\nsaid"
  }
  const sessions = createSessions({
    storage: createMemoryStorage(),
    compaction: automaticCompaction({ ...compaction, summarize }),
  })
  const session = await sessions.create()
  session.on("compact_complete", ({ missingHeadings }) => missing.push(missingHeadings))
  return { session, asked, missing }
}

test("a first summary and an update are asked for with the caller's texts, at the places of the default ones", async () => {
  const { session, asked, missing } = await asking({
    keepRecentTokens: 0,
    prompts: { system: "SYSTEM", initial: "INITIAL", update: "UPDATE" },
  })
  await session.append(answered(`one ${LONG}`))
  await compact(session, { instructions: "LAST" })
  await session.append(answered(`two ${LONG}`))
  await compact(session)
  expect(asked.map(({ system }) => system)).toEqual(["SYSTEM", "SYSTEM"])
  expect(asked[0]?.prompt).toMatch(/^<conversation>.*one.*<\/conversation>\n\nINITIAL\n\nLAST$/s)
  expect(asked[1]?.prompt).toMatch(
    /^<conversation>.*two.*<\/conversation>\n\n<previous-summary>\n.*said\n<\/previous-summary>\n\nUPDATE$/s,
  )
  expect(missing).toEqual([[], []])
})

test("layers override single texts, and one that is left out has its default", async () => {
  const { session, asked, missing } = await asking({ keepRecentTokens: 0, prompts: { system: "A", initial: "B" } })
  await session.append(answered(`one ${LONG}`))
  await compact(session, { prompts: { system: "C", initial: undefined as never } })
  await session.append(answered(`two ${LONG}`))
  await compact(session)
  expect(asked.map(({ system }) => system)).toEqual(["C", "A"])
  expect(asked[0]?.prompt.endsWith("\n\nB")).toBe(true)
  expect(asked[1]?.prompt.endsWith(`\n\n${UPDATE_SUMMARY_PROMPT}`)).toBe(true)
  const plain = await asking({ keepRecentTokens: 0, prompts: { system: "A" } })
  await plain.session.append(answered(`one ${LONG}`))
  await compact(plain.session, { prompts: {} })
  expect(plain.asked[0]?.prompt.endsWith(`\n\n${FIRST_SUMMARY_PROMPT}`)).toBe(true)
  expect(plain.asked[0]?.system).not.toBe(SUMMARY_SYSTEM_PROMPT)
  expect(missing[0]).toEqual([])
  expect(plain.missing[0]).toContain("## Goal")
})

test("the system prompt of the caller takes its part of the summarizer's window", async () => {
  const { session } = await asking({ keepRecentTokens: 0, summarizerWindow: 3_000, maxSummaryTokens: 100 })
  await session.append(answered(`one ${LONG}`))
  await compact(session)
  await session.append(answered(`two ${LONG}`))
  await expect(compact(session, { prompts: { system: "s".repeat(12_000) } })).rejects.toThrow(/too small/)
})

test.each([
  [{ system: "" }, /prompts\.system` must be a string that is not empty/],
  [{ initial: 1 }, /prompts\.initial` must be a string that is not empty/],
  [{ update: null }, /prompts\.update` must be a string that is not empty/],
  [{ first: "x" }, /first.*system, initial, update/],
  ["x", /prompts/],
  [null, /prompts/],
])("%j is refused with what to do, also by `createSessions`", async (prompts, why) => {
  const { session } = await asking()
  await session.append(answered(LONG))
  const refused = compact(session, { prompts: prompts as never })
  expect(await codeOf(refused)).toBe("invalid")
  await expect(refused).rejects.toThrow(why)
  await expect(asking({ prompts: prompts as never })).rejects.toThrow(why)
})

test("the default update keeps what the summary says, moves what is finished to Done, and keeps exact names", () => {
  expect(UPDATE_SUMMARY_PROMPT).toMatch(/keep everything that the summary says/)
  expect(UPDATE_SUMMARY_PROMPT).toMatch(/move items from In Progress to Done/)
  expect(UPDATE_SUMMARY_PROMPT).toMatch(/keep file paths, function names and error messages exactly/)
})
