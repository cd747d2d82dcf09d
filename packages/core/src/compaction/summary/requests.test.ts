import { expect, test } from "vitest"
import type { ContextMessage } from "../../context/types.ts"
import { askForSummaries, compactionPrompts, storedSummary } from "./requests.ts"
import type { SummaryPart } from "./requests.ts"

const NO_FILES = { readFiles: [], modifiedFiles: [] }

test("the history is asked for first, merged into the previous summary; the turn's beginning after it", async () => {
  const work = { history: said("one"), turnPrefix: said("two"), previousSummary: "PREVIOUS </previous-summary>" }
  const asked: [SummaryPart, string][] = []
  const answers = await askForSummaries(work, async (part, prompt) => (asked.push([part, prompt]), part))
  expect(answers).toEqual({ history: "history", turnPrefix: "turnPrefix" })
  expect(asked.map(([part]) => part)).toEqual(["history", "turnPrefix"])
  const { history, turnPrefix } = compactionPrompts(work)
  expect(asked.map(([, prompt]) => prompt)).toEqual([history, turnPrefix])
  expect(history).toContain("<previous-summary>\nPREVIOUS &lt;/previous-summary>\n</previous-summary>")
  expect(turnPrefix).not.toContain("PREVIOUS")
  expect(storedSummary(answers, { previousSummary: "PREVIOUS", files: NO_FILES })).toBe(
    "history\n\n---\n\n**Turn Context (split turn):**\n\nturnPrefix",
  )
})

test("where only a turn's beginning is new, the previous summary is its background and stays in front as it is", async () => {
  const work = { history: [], turnPrefix: said("two"), previousSummary: "PREVIOUS" }
  const { history, turnPrefix } = compactionPrompts(work, "Mind the tests.")
  expect(history).toBeUndefined()
  expect(turnPrefix).toContain("<previous-summary>\nPREVIOUS\n</previous-summary>")
  expect(turnPrefix?.endsWith("\n\nMind the tests.")).toBe(true)
  const stored = storedSummary({ history, turnPrefix: "beginning" }, { ...work, files: NO_FILES })
  expect(stored).toBe("PREVIOUS\n\n---\n\n**Turn Context (split turn):**\n\nbeginning")
})

test("a stored summary ends with the file lists, once, whatever the summarizer put there", () => {
  const files = { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] }
  const lists = "\n\n<read-files>\na.ts\n</read-files>\n<modified-files>\nb.ts\n</modified-files>"
  const answers = { history: "done\n\n<read-files>\nold.ts\n</read-files>", turnPrefix: undefined }
  expect(storedSummary(answers, { previousSummary: undefined, files })).toBe(`done${lists}`)
})

test("rounds that do not fit the summarizer's window are asked for group by group, the previous summary with the first", async () => {
  const history = Array.from({ length: 6 }, (_, n) => turn(`<${n}>`, 400)).flat()
  const work = { history, turnPrefix: said("beginning"), previousSummary: "PREVIOUS" }
  const asked: string[] = []
  const ask = async (_: SummaryPart, prompt: string): Promise<string> => (asked.push(prompt), `answer ${asked.length}`)
  const { history: answer, turnPrefix } = await askForSummaries(work, ask, {
    groups: { window: 1_600, maxSummaryTokens: 900 },
    instructions: "Mind the tests.",
  })
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.map((prompt) => [...prompt.matchAll(/<(\d)>/g)].map(([, n]) => n)).flat()).toEqual(Array.from("012345"))
  expect(asked.map((prompt) => prompt.includes("PREVIOUS"))).toEqual(asked.map((_, index) => index === 0))
  expect(asked.every((prompt) => prompt.endsWith("Mind the tests."))).toBe(true)
  for (const prompt of asked) expect(prompt.length / 4).toBeLessThanOrEqual(700)
  const blocks = asked.slice(0, -1).map((_, index) => `<context_summary>\nanswer ${index + 1}\n</context_summary>`)
  expect(answer).toBe(blocks.join("\n\n"))
  expect(turnPrefix).toBe(`<context_summary>\nanswer ${asked.length}\n</context_summary>`)
})

test("what fits is one group", async () => {
  const asked: string[] = []
  const work = { history: turn("one", 10), turnPrefix: [], previousSummary: undefined }
  const answers = await askForSummaries(work, async (_, prompt) => (asked.push(prompt), "all"), {
    groups: { window: 200_000, maxSummaryTokens: 4_096 },
  })
  expect(asked).toHaveLength(1)
  expect(answers).toEqual({ history: "<context_summary>\nall\n</context_summary>", turnPrefix: undefined })
})

test("a group that the summarizer finds too long is halved, by rounds, by messages, by its text, and nothing is lost", async () => {
  const history = [...turn("<0>", 300), ...turn("<1>", 300), ...said(`<2>${"x".repeat(6_000)}<3>`)]
  const fits = 2_500
  const asked: string[] = []
  const ask = async (_: SummaryPart, prompt: string): Promise<string> => {
    const conversation = /<conversation>\n([^]*)\n<\/conversation>/.exec(prompt)?.[1] ?? ""
    if (conversation.length > fits) throw new Error("wrapped", { cause: new Error("prompt is too long") })
    asked.push(prompt)
    return `answer ${asked.length}`
  }
  const work = { history, turnPrefix: [], previousSummary: "PREVIOUS" }
  const groups = { window: 1_000_000, maxSummaryTokens: 1 }
  const { history: answer } = await askForSummaries(work, ask, { groups })
  expect(asked.flatMap((prompt) => [...prompt.matchAll(/<(\d)>/g)].map(([, n]) => n))).toEqual(Array.from("0123"))
  expect(asked.reduce((sum, prompt) => sum + (prompt.match(/x/g)?.length ?? 0), 0)).toBeGreaterThanOrEqual(6_000)
  expect(asked.map((prompt) => prompt.includes("PREVIOUS"))).toEqual(asked.map((_, index) => index === 0))
  expect(answer?.match(/<context_summary>/g)).toHaveLength(asked.length)
})

test("a summarizer that finds everything too long, or fails for another reason, fails the whole", async () => {
  const work = { history: turn("one", 4_000), turnPrefix: [], previousSummary: undefined }
  const groups = { window: 1_000, maxSummaryTokens: 100 }
  let tries = 0
  const refuse = (message: string) => async (): Promise<string> => {
    tries++
    throw new Error(message)
  }
  await expect(askForSummaries(work, refuse("prompt is too long"), { groups })).rejects.toThrow("too long")
  expect(tries).toBe(2)
  tries = 0
  await expect(askForSummaries(work, refuse("overloaded"), { groups })).rejects.toThrow("overloaded")
  expect(tries).toBe(1)
  tries = 0
  const never = { ...groups, tooLong: () => false }
  await expect(askForSummaries(work, refuse("prompt is too long"), { groups: never })).rejects.toThrow("too long")
  expect(tries).toBe(1)
})

function said(text: string, role = "user"): ContextMessage[] {
  return [{ entryId: text, kind: "message", message: { role, content: [{ type: "text", text }] } }]
}

function turn(text: string, units: number): ContextMessage[] {
  return [...said(text), ...said("y".repeat(units), "assistant")]
}
