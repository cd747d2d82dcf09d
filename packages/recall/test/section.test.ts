/** The section of a memory file: where lines are added, and that every other byte stays. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { CATEGORIES, factKey, factKeys, factLine, isFactLine } from "../src/facts/fact.ts"
import { addLines, HEADING, removeFacts } from "../src/facts/section.ts"
import { runs } from "../../../.config/runs.ts"

const FACT = "- [preference] Uses tabs (confidence 0.9, 2026-11-22)"
const OTHER = "- [project] Ships in May (confidence 1, 2026-11-22)"

test("the heading is created at the end of the text, with the line endings of the text", () => {
  expect(addLines("", [FACT])).toBe(`${HEADING}\n\n${FACT}\n`)
  expect(addLines("# Notes\n", [FACT])).toBe(`# Notes\n\n${HEADING}\n\n${FACT}\n`)
  expect(addLines("# Notes", [FACT])).toBe(`# Notes\n\n${HEADING}\n\n${FACT}\n`)
  expect(addLines("# Notes\r\n", [FACT])).toBe(`# Notes\r\n\r\n${HEADING}\r\n\r\n${FACT}\r\n`)
})

test("lines are added behind the last one of the section, before the next heading of its level", () => {
  const text = `# Notes\n\n${HEADING}\n\n${FACT}\n\n## By hand\n\nfoo\n`
  expect(addLines(text, [OTHER])).toBe(`# Notes\n\n${HEADING}\n\n${FACT}\n${OTHER}\n\n## By hand\n\nfoo\n`)
  expect(addLines(HEADING, [FACT])).toBe(`${HEADING}\n\n${FACT}\n`)
  expect(addLines(`${HEADING}\n\n## Next\n`, [FACT])).toBe(`${HEADING}\n\n${FACT}\n\n## Next\n`)
  expect(addLines(`${HEADING}\n## Next\n`, [FACT])).toBe(`${HEADING}\n\n${FACT}\n\n## Next\n`)
  expect(addLines(`${HEADING}\n\n### Sub\n${FACT}`, [OTHER])).toBe(`${HEADING}\n\n### Sub\n${FACT}\n${OTHER}\n`)
})

test("a heading in a code block is none, and a code block without an end is text", () => {
  const example = `\`\`\`\n${HEADING}\n\`\`\`\n`
  expect(addLines(example, [FACT])).toBe(`${example}\n${HEADING}\n\n${FACT}\n`)
  const once = addLines("~~~~\nnot closed\n~~~\n", [FACT])
  expect(addLines(once, [OTHER])).toBe(`${once}${OTHER}\n`)
})

test("text with many openings of code blocks takes linear time", () => {
  const text = "```js\n".repeat(150_000)
  expect(addLines(text, [FACT])).toHaveLength(text.length + HEADING.length + FACT.length + 4)
})

const line = fc.oneof(
  fc.constantFrom(
    HEADING,
    `${HEADING}  `,
    FACT,
    OTHER,
    "## Other",
    "# Top",
    "### Sub",
    "```",
    "~~~~",
    "```js",
    "",
    "  ",
    "text",
  ),
  fc.string({ maxLength: 8 }).map((text) => text.replace(/[\r\n]/g, "")),
)
const text = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.constantFrom("\n", "\r\n"), fc.boolean(), fc.boolean())
  .map(([lines, end, isClosed, hasMark]) => (hasMark ? "\uFEFF" : "") + lines.join(end) + (isClosed ? end : ""))

test("adding lines inserts them in one place, and every other byte stays", () => {
  const law = fc.property(text, (before) => {
    const after = addLines(before, [FACT, OTHER])
    const inserted = after.length - before.length
    const places = Array.from({ length: before.length + 1 }, (_, at) => at)
    const isInsertion = places.some((at) => after.slice(0, at) + after.slice(at + inserted) === before)
    expect(isInsertion).toBe(true)
    expect(factKeys(after).length).toBe(factKeys(before).length + 2)
    // The next lines go to the same section.
    expect(addLines(after, ["- x"]).split(HEADING)).toHaveLength(after.split(HEADING).length)
  })
  fc.assert(law, { numRuns: runs(2_000) })
})

test("removing facts leaves every other line", () => {
  const law = fc.property(text, (before) => {
    const { text: after, removed } = removeFacts(before)
    const others = (all: string): readonly string[] =>
      all.split(/\r?\n/).filter((one) => one.trim() !== "" && one.trimEnd() !== HEADING && !isFactLine(one))
    expect(others(after)).toEqual(others(before))
    expect(factKeys(after).length).toBe(factKeys(before).length - removed)
  })
  fc.assert(law, { numRuns: runs(2_000) })
})

test("removing the last fact removes the heading, and a file with nothing else becomes empty", () => {
  expect(removeFacts(addLines("", [FACT]))).toEqual({ text: "", removed: 1 })
  expect(removeFacts(addLines("# Notes\n", [FACT, OTHER]))).toEqual({ text: "# Notes\n\n", removed: 2 })
  expect(removeFacts(`${HEADING}\n\nby hand\n${FACT}\n`)).toEqual({ text: `${HEADING}\n\nby hand\n`, removed: 1 })
  expect(removeFacts(`${FACT}\n`)).toEqual({ text: `${FACT}\n`, removed: 0 })
})

test("a full stop, quotes and composed accents do not make another fact, other signs do", () => {
  const key = (text: string): string => factKey({ category: "Decision", fact: text, confidence: 1 })
  for (const text of ["Uses pnpm.", "uses `pnpm`", "Uses “pnpm” !", "Uses pnpm …"])
    expect(key(text)).toBe(key("Uses pnpm"))
  expect(key("Sp\u00e4te Abgabe")).toBe(key("Spa\u0308te Abgabe"))
  expect(new Set(["Uses C", "Uses C#", "Uses C++", "Uses .c", "Uses --c", "Uses c?"].map(key)).size).toBe(6)
})

test("the line of a fact gives back its key; case and blanks do not count", () => {
  const words = fc
    .string({ minLength: 1, maxLength: 40, unit: "grapheme" })
    .map((one) => `a ${one.replace(/\s/g, " ").trim()}`.trim())
  const law = fc.property(
    words,
    fc.constantFrom(...CATEGORIES),
    fc.double({ min: 0, max: 1, noNaN: true }),
    (one, category, confidence) => {
      const fact = { category, fact: one, confidence }
      expect(factKeys(factLine(fact, "2026-11-22"))).toEqual([factKey(fact)])
      expect(isFactLine(factLine(fact, "2026-11-22"))).toBe(true)
    },
  )
  fc.assert(law, { numRuns: runs(1_000) })
  expect(factKeys("- [preference]  uses   TABS\r\n* [project] x")).toEqual(["preference uses tabs", "project x"])
  expect(factKeys("- [secret] x\n[preference] y")).toEqual([])
})
