/** What docs/provider-rules.md says of the receivers is what the code keeps, and what docs/providers.md installs is what it imports. */
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { rulesOf } from "../src/ai-sdk/rules.ts"
import { RULES as ANTHROPIC } from "../src/anthropic/rules.ts"
import { RULES as GEMINI } from "../src/gemini/rules.ts"
import { BEGINNING, CONTINUE } from "../src/shared/order.ts"
import type { Images } from "../src/shared/rules.ts"

const pageOf = (name: string): string => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8")
const section = pageOf("provider-rules").split("## What each receiver takes")[1]?.split("\n## ")[0] ?? ""
/** The cells of a receiver, by the beginnings of their rows. */
const cell = (row: string, column: number) =>
  section
    .split("\n")
    .find((line) => line.startsWith(`| ${row} |`))
    ?.split(" | ")[column] ?? ""

const NAMES = { jpeg: "JPEG", png: "PNG", gif: "GIF", webp: "WebP", heic: "HEIC", heif: "HEIF" } as const
const inWords = ({ types, maxLength, maxSide, maxTotal, many }: Images) => [
  types.map((type) => NAMES[type.slice("image/".length) as keyof typeof NAMES]).join(", "),
  ...[maxLength, maxSide, maxTotal, many?.maxSide, many?.count].flatMap((n) =>
    n === undefined ? [] : [n.toLocaleString("en")],
  ),
]

test.each([
  ["Anthropic", 1, ANTHROPIC],
  ["Gemini", 2, GEMINI],
  ["AI SDK", 3, rulesOf()],
] as const)("of %s", (_, column, { callId, callName, order, images }) => {
  expect(cell("calls have", column)).toContain(callId.says)
  expect(cell("calls have", column)).toContain(callName.says)
  expect([order.begins, order.ends]).toEqual(["user", "user"])
  expect(cell("a request begins and ends with", column)).toContain("the user")
  for (const words of inWords(images)) expect(cell("images", column)).toContain(words)
})

test("of Mistral's ids, and the messages that are added", () => {
  expect(cell("calls have", 3)).toContain(rulesOf("mistral.chat").callId.says)
  for (const text of [BEGINNING, CONTINUE]) expect(section).toContain(`"${text}"`)
})

test("each section has the command that installs what its program imports", () => {
  const programs = [...pageOf("providers").matchAll(/^```sh\nnpm install (.*)\n```\n\n```ts\n([^]*?)^```$/gm)]
  expect(programs).toHaveLength(3)
  for (const [, command = "", code = ""] of programs) {
    const imported = new Set(Array.from(code.matchAll(/from "((?:@[^/"]+\/)?[^/"]+)/g), ([, name = ""]) => name))
    expect(new Set(command.split(" "))).toEqual(imported)
  }
})
