import { expect, test } from "vitest"
import { TRUNCATION_NOTICE } from "./limits.ts"
import { truncateOversize } from "./text.ts"

const place = { id: "a", parentId: null, seq: 1, timestamp: "t" }
const limits = { textUnits: 100 }
const long = "y".repeat(101)

test("a string over the limit is cut to 500,000 characters, notice included; one at the limit stays", () => {
  const entry = { type: "custom", ...place, a: "x".repeat(500_000), b: ["x".repeat(500_001)] }
  const cut = truncateOversize(entry)
  expect(cut.a).toBe(entry.a)
  expect(cut.b[0]).toHaveLength(500_000)
  expect(cut.b[0]?.endsWith(`x${TRUNCATION_NOTICE}`)).toBe(true)
  expect(entry.b[0]).toHaveLength(500_001)
})

test("without a string to cut the result is the entry itself", () => {
  const entry = { type: "custom", ...place, a: "x" }
  expect(truncateOversize(entry)).toBe(entry)
})

test("a surrogate pair is not cut in two", () => {
  for (const text of ["𝄞".repeat(60), `x${"𝄞".repeat(60)}`]) {
    const cut = truncateOversize({ type: "custom", ...place, text }, limits).text
    expect(cut.length).toBeLessThanOrEqual(100)
    expect(cut).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/)
  }
})

test("lineCount beside a cut content is counted again, other counts are not", () => {
  const file = { content: "a\n".repeat(80), lineCount: 81 }
  const cut = truncateOversize({ type: "custom", ...place, file, text: { content: "a", lineCount: 5 } }, limits)
  expect(cut.file.lineCount).toBe(cut.file.content.split("\n").length)
  expect(cut.file.lineCount).toBeLessThan(81)
  expect(cut.text.lineCount).toBe(5)
})

test("lineCount is unchanged if it is not a number or the content was not cut", () => {
  const entry = { type: "custom", ...place, file: { content: long, lineCount: "many" }, content: long }
  expect(truncateOversize(entry, limits)).toMatchObject({ file: { lineCount: "many" } })
  expect(Object.keys(truncateOversize(entry, limits))).toEqual(Object.keys(entry))
})

test.each([
  { type: "thinking", thinking: long, signature: "s" },
  { type: "thinking", thinking: long, thinkingSignature: "s" },
  { type: "toolCall", id: "c", name: "n", arguments: { text: long }, thoughtSignature: "s" },
  { type: "reasoning", encrypted_content: long },
  { type: "redacted_thinking", data: long },
  { type: "thinking", redacted: true, thinking: long },
  { type: "image", data: long, mimeType: "image/png" },
])("signed and encrypted blocks and images are never cut: %j", (block) => {
  const text = { type: "text", text: long }
  const entry = { type: "message", ...place, message: { role: "assistant", content: [block, text] } }
  const cut = truncateOversize(entry, limits)
  expect(cut.message.content[0]).toBe(block)
  expect(cut.message.content[1]).not.toEqual(text)
})
