/** Answers of models: read leniently, checked strictly. */
import { expect, test } from "vitest"
import { readFacts } from "../src/facts/answer.ts"
import { answerOf, codeOf, fact } from "./helpers.ts"

const ONE = fact("Uses tabs")

test("a JSON array is found alone, in a code block, and between sentences", () => {
  const json = answerOf(ONE)
  for (const answer of [
    json,
    ` \n${json}\n`,
    `\`\`\`json\n${json}\n\`\`\``,
    `Here are [the] facts [1]:\n${json}\nThat is all [of them].`,
    `I think [{not json}] but\n${json}`,
    `Not [] this time: ${json}`,
    JSON.stringify({ facts: [ONE] }),
    JSON.stringify([ONE], null, 2),
  ]) {
    expect(readFacts(answer, 0), answer).toEqual({ facts: [ONE], dropped: [] })
  }
  expect(readFacts("Nothing to note: []", 0)).toEqual({ facts: [], dropped: [] })
})

test("an answer without a whole array is an error: half JSON, no JSON, 10 MB", () => {
  const cutOff = answerOf(ONE, ONE).slice(0, -1)
  const nested = '[{"category": "ProjectFact", "tags": [], "fact": "x'
  for (const answer of [
    "",
    "no facts",
    "{}",
    "[1, 2]",
    cutOff,
    cutOff.slice(0, 40),
    nested,
    "[{".repeat(400_000),
    "[ ".repeat(5_000_000),
  ]) {
    expect(() => readFacts(answer, 0)).toThrow(/cannot be read as facts/)
  }
  try {
    readFacts("x".repeat(10_000_000), 0)
  } catch (error) {
    expect(codeOf(error)).toBe("extraction_failed")
  }
  expect.assertions(10)
})

test("elements that are no fact are dropped with the reason, and the others stay", () => {
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ ...ONE, category: "Secret" }, /category must be one of/],
    [{ ...ONE, category: "preference" }, /category must be one of/],
    [{ ...ONE, confidence: 1.1 }, /confidence must be from 0 to 1/],
    [{ ...ONE, confidence: -0.1 }, /confidence must be from 0 to 1/],
    [{ ...ONE, confidence: "0.9" }, /confidence must be a number/],
    [{ category: "Decision", confidence: 1 }, /fact must be a text/],
    [{ ...ONE, fact: " " }, /fact is empty/],
    [{ ...ONE, fact: "x".repeat(501) }, /more than 500/],
    [{ ...ONE, fact: "x".repeat(900_000) }, /more than 500/],
    [{ ...ONE, fact: "x\n## Instructions" }, /one line/],
    [{ ...ONE, fact: "x\u2028# y" }, /one line/],
    [{ ...ONE, fact: "x\u0000" }, /one line/],
    [{ ...ONE, fact: "x\u202Ey" }, /one line/],
    [{ ...ONE, fact: "x\u{E0041}y" }, /one line/],
    [{ ...ONE, fact: "x\uD800" }, /one line/],
    [{ ...ONE, fact: "x\u200By" }, /one line/],
    [{ ...ONE, fact: "\u2061\u2062" }, /one line/],
    [{ ...ONE, fact: "x\uFE00\uFE01y" }, /one line/],
    [{ ...ONE, fact: "x <!-- and obey --> y" }, /comment/],
    [null, /./],
    ["text", /./],
    [[ONE], /./],
  ]
  for (const [item, reason] of wrong) {
    const { facts, dropped } = readFacts(answerOf(ONE, item), 0)
    expect(facts).toEqual([ONE])
    expect(dropped).toEqual([{ reason: expect.stringMatching(reason), item: expect.any(String) }])
    expect(dropped[0]?.item.length).toBeLessThan(300)
  }
})

test("signs that texts of people need are no invisible characters", () => {
  const family = "\u{1F468}\u200D\u{1F469}\u200D\u{1F467}"
  for (const fact of [
    family,
    "\u2764\uFE0F \u2714\uFE0E",
    "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645",
    "`Array<string>`",
  ]) {
    expect(readFacts(answerOf({ ...ONE, fact }), 0).facts).toEqual([{ ...ONE, fact }])
  }
})

test("a fact of 500 characters is taken, blanks around it do not count, other fields are left out", () => {
  const long = fact("x".repeat(500))
  expect(readFacts(answerOf({ ...long, fact: ` ${long.fact}\n`, source: "session" }), 0).facts).toEqual([long])
})

test("facts below minConfidence and behind the hundredth are dropped", () => {
  expect(readFacts(answerOf(ONE, { ...ONE, confidence: 0.4 }), 0.5).dropped).toMatchObject([
    { reason: "confidence is below 0.5" },
  ])
  const { facts, dropped } = readFacts(answerOf(...Array.from({ length: 120 }, (_, i) => fact(`fact ${i}`))), 0)
  expect([facts.length, dropped.length]).toEqual([100, 20])
})
