import { expect, test } from "vitest"
import type { ContextMessage } from "../../context/types.ts"
import { askForSummaries, compactionPrompts, storedSummary, type SummaryPart } from "./requests.ts"

const NO_FILES = { readFiles: [], modifiedFiles: [] }

test("the history is requested first, merged into the previous summary; the turn's beginning follows", async () => {
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

test("if only a turn's beginning is new, the previous summary is its background and stays in front as it is", async () => {
  const work = { history: [], turnPrefix: said("two"), previousSummary: "PREVIOUS" }
  const { history, turnPrefix } = compactionPrompts(work, "Mind the tests.")
  expect(history).toBeUndefined()
  expect(turnPrefix).toContain("<previous-summary>\nPREVIOUS\n</previous-summary>")
  expect(turnPrefix?.endsWith("\n\nMind the tests.")).toBe(true)
  const stored = storedSummary({ history, turnPrefix: "beginning" }, { ...work, files: NO_FILES })
  expect(stored).toBe("PREVIOUS\n\n---\n\n**Turn Context (split turn):**\n\nbeginning")
})

test("a stored summary ends with the file lists, once, even if the summarizer added its own", () => {
  const files = { readFiles: ["a.ts"], modifiedFiles: ["b.ts"] }
  const lists = "\n\n<read-files>\na.ts\n</read-files>\n<modified-files>\nb.ts\n</modified-files>"
  const answers = { history: "done\n\n<read-files>\nold.ts\n</read-files>", turnPrefix: undefined }
  expect(storedSummary(answers, { previousSummary: undefined, files })).toBe(`done${lists}`)
})

test("with rounds, a history that exceeds the summarizer's window is requested group by group, the previous summary with the first", async () => {
  const history = Array.from({ length: 6 }, (_, n) => turn(`<${n}>`, 400)).flat()
  const work = { history, turnPrefix: said("beginning"), previousSummary: "PREVIOUS" }
  const asked: string[] = []
  const ask = async (_: SummaryPart, prompt: string): Promise<string> => (asked.push(prompt), `answer ${asked.length}`)
  const o = { rounds: true, window: 1_600, maxSummaryTokens: 850, instructions: "Mind the tests." }
  const { history: answer, turnPrefix } = await askForSummaries(work, ask, o)
  expect(asked.length).toBeGreaterThan(2)
  expect(toldIn(asked)).toEqual(Array.from("012345"))
  expect(asked.map((prompt) => prompt.includes("PREVIOUS"))).toEqual(asked.map((_, index) => index === 0))
  expect(asked.every((prompt) => prompt.endsWith("Mind the tests."))).toBe(true)
  for (const prompt of asked) expect(prompt.length / 4).toBeLessThanOrEqual(750)
  const blocks = asked.slice(0, -1).map((_, index) => `<context_summary>\nanswer ${index + 1}\n</context_summary>`)
  expect(answer).toBe(blocks.join("\n\n"))
  expect(turnPrefix).toBe(`<context_summary>\nanswer ${asked.length}\n</context_summary>`)
})

test("without rounds each request updates the summary of those before it, and the result is one summary", async () => {
  const history = Array.from({ length: 6 }, (_, n) => turn(`<${n}>`, 1_600)).flat()
  const work = { history, turnPrefix: [], previousSummary: "PREVIOUS" }
  const asked: string[] = []
  const ask = async (_: SummaryPart, prompt: string): Promise<string> => (asked.push(prompt), `answer ${asked.length}.`)
  const { history: answer } = await askForSummaries(work, ask, { window: 2_000, maxSummaryTokens: 300 })
  expect(asked.length).toBeGreaterThan(2)
  expect(toldIn(asked)).toEqual(Array.from("012345"))
  const previous = asked.map((prompt) => /<previous-summary>\n([^]*)\n<\/previous-summary>/.exec(prompt)?.[1])
  expect(previous).toEqual(["PREVIOUS", ...asked.slice(1).map((_, index) => `answer ${index + 1}.`)])
  for (const prompt of asked) expect(prompt.length / 4).toBeLessThanOrEqual(1_700)
  expect(answer).toBe(`answer ${asked.length}.`)
})

test("a turn's beginning that takes several requests is stored in blocks", async () => {
  const work = { history: [], turnPrefix: turn("<0>", 6_000), previousSummary: "PREVIOUS" }
  let asked = 0
  const ask = async (): Promise<string> => `answer ${++asked}`
  const { turnPrefix } = await askForSummaries(work, ask, { window: 1_500, maxSummaryTokens: 100 })
  expect(asked).toBeGreaterThan(1)
  expect(turnPrefix?.match(/<context_summary>/g)).toHaveLength(asked)
})

test("a history that fits is one request; with rounds its answer is a block too", async () => {
  const work = { history: turn("one", 10), turnPrefix: [], previousSummary: undefined }
  for (const rounds of [false, true]) {
    const asked: string[] = []
    const o = { rounds, window: 200_000, maxSummaryTokens: 4_096 }
    const { history } = await askForSummaries(work, async (_, prompt) => (asked.push(prompt), "all"), o)
    expect(asked).toHaveLength(1)
    expect(history).toBe(rounds ? "<context_summary>\nall\n</context_summary>" : "all")
  }
})

test("a request that is too long for the summarizer is halved by rounds, by messages, by its text, and nothing is lost", async () => {
  const history = [...turn("<0>", 300), ...turn("<1>", 300), ...said(`<2>${"x".repeat(6_000)}<3>`)]
  const work = { history, turnPrefix: [], previousSummary: "PREVIOUS" }
  for (const rounds of [false, true]) {
    const asked: string[] = []
    const ask = async (_: SummaryPart, prompt: string): Promise<string> => {
      if (conversationOf(prompt).length > 2_500) throw new Error("wrapped", { cause: new Error("prompt is too long") })
      asked.push(prompt)
      return `answer ${asked.length}`
    }
    const { history: answer } = await askForSummaries(work, ask, { rounds })
    expect(toldIn(asked)).toEqual(Array.from("0123"))
    expect(asked.reduce((sum, prompt) => sum + (prompt.match(/x/g)?.length ?? 0), 0)).toBeGreaterThanOrEqual(6_000)
    expect(asked.map((prompt) => prompt.includes("PREVIOUS"))).toEqual(asked.map((_, index) => index === 0))
    if (rounds) expect(answer?.match(/<context_summary>/g)).toHaveLength(asked.length)
    else expect(answer).toBe(`answer ${asked.length}`)
  }
})

test("a previous summary that leaves too little space is first summarized in parts, all of it", async () => {
  const previousSummary = Array.from({ length: 50 }, (_, n) => `«${n}»${"p".repeat(200)}`).join(" ")
  const work = { history: turn("<0>", 400), turnPrefix: [], previousSummary }
  const window = 2_000
  for (const known of [{ window, maxSummaryTokens: 200 }, {}]) {
    const asked: string[] = []
    const ask = async (_: SummaryPart, prompt: string): Promise<string> => {
      if (prompt.length / 4 > window) throw new Error("too many tokens")
      asked.push(prompt)
      return `answer ${asked.length}`
    }
    const { history } = await askForSummaries(work, ask, known)
    const marks = asked.flatMap((prompt) => [...prompt.matchAll(/«(\d+)»/g)].map(([, n]) => Number(n)))
    expect(new Set(marks).size).toBe(50)
    expect(toldIn(asked)).toEqual(["0"])
    expect(asked.at(-1)).toContain(`<previous-summary>\nanswer ${asked.length - 1}\n</previous-summary>`)
    expect(history).toBe(`answer ${asked.length}`)
  }
})

test("blocks that together leave too little space for the next compaction are merged into one", async () => {
  const history = Array.from({ length: 8 }, (_, n) => turn(`<${n}>`, 3_000)).flat()
  const asked: string[] = []
  const ask = async (_: SummaryPart, prompt: string): Promise<string> => (asked.push(prompt), "s".repeat(1_200))
  const work = { history, turnPrefix: [], previousSummary: undefined }
  const answers = await askForSummaries(work, ask, { rounds: true, window: 2_000, maxSummaryTokens: 300 })
  expect(answers.history?.match(/<context_summary>/g)).toHaveLength(1)
  for (const prompt of asked) expect(prompt.length / 4).toBeLessThanOrEqual(1_700)
})

test("a window too small for a conversation is reported before any request", async () => {
  const work = { history: turn("one", 4_000), turnPrefix: [], previousSummary: undefined }
  let asked = 0
  const answers = askForSummaries(work, async () => String(asked++), { window: 4_096, maxSummaryTokens: 4_000 })
  await expect(answers).rejects.toThrow(/\(4096 tokens\) is too small .* answer may take 4000.* Lower maxSummaryTokens/)
  await expect(answers).rejects.toMatchObject({ code: "compaction_failed" })
  expect(asked).toBe(0)
})

test("a summarizer that finds everything too long, or fails for another reason, fails the compaction", async () => {
  const work = { history: turn("one", 4_000), turnPrefix: [], previousSummary: "PREVIOUS" }
  let tries = 0
  const refuse = (message: string) => async (): Promise<string> => {
    tries++
    throw new Error(message)
  }
  await expect(askForSummaries(work, refuse("prompt is too long"))).rejects.toThrow("too long")
  expect(tries).toBeLessThan(5)
  tries = 0
  await expect(askForSummaries(work, refuse("overloaded"))).rejects.toThrow("overloaded")
  expect(tries).toBe(1)
  tries = 0
  await expect(askForSummaries(work, refuse("prompt is too long"), { tooLong: () => false })).rejects.toThrow(
    "too long",
  )
  expect(tries).toBe(1)
})

function conversationOf(prompt: string): string {
  return /<conversation>\n([^]*)\n<\/conversation>/.exec(prompt)?.[1] ?? ""
}

/** The markers of the messages in the requests, in their order. */
function toldIn(prompts: readonly string[]): (string | undefined)[] {
  return prompts.flatMap((prompt) => [...conversationOf(prompt).matchAll(/<(\d)>/g)].map(([, n]) => n))
}

function said(text: string, role = "user"): ContextMessage[] {
  return [{ entryId: text, kind: "message", message: { role: role as "user", content: [{ type: "text", text }] } }]
}

function turn(text: string, units: number): ContextMessage[] {
  return [...said(text), ...said("y".repeat(units), "assistant")]
}
