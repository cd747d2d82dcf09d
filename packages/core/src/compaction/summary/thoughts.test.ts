import * as fc from "fast-check"
import { expect, test } from "vitest"
import { holds } from "../../../test/property.ts"
import { readAnswer } from "./answer.ts"
import { withoutThoughts } from "./thoughts.ts"

const BLOCKS: readonly (readonly [open: string, close: string])[] = [
  ["<think>", "</think>"],
  ["<Thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<reasoning>", "</reasoning>"],
  ["<seed:think>", "</seed:think>"],
  ["[THINK]", "[/THINK]"],
  ["◁think▷", "◁/think▷"],
  ["<|channel>thought\n", "<channel|>"],
  ["<|channel|>analysis<|message|>", "<|end|><|start|>assistant<|channel|>final<|message|>"],
]
const prose = fc.string().map((text) => text.replace(/[<>[\]◁▷|]/g, ""))

test("any number of blocks of thoughts in front of an answer is left out, and nothing else", () => {
  holds(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...BLOCKS), prose)),
      prose.map((text) => `## Goal ${text}`.trim()),
      (blocks, answer) => {
        const before = blocks.map(([[open, close], text]) => `\n${open}${text}${close}\n\n`).join("")
        expect(withoutThoughts(before + answer)).toBe(answer)
      },
    ),
    200,
  )
})

test("a block that is not closed means that the answer was cut off, and thoughts alone are no answer", () => {
  for (const [open, close] of BLOCKS) {
    expect(readAnswer(`${open}so far`)).toEqual({ problem: "length" })
    expect(readAnswer(`${open}one${close}${open}so far`)).toEqual({ problem: "length" })
    expect(readAnswer({ content: `${open}all of it${close} \n`, stopReason: "stop" })).toEqual({ problem: "empty" })
  }
})

test("thoughts whose opening mark is in the prompt's template end at the closing one on a line of its own", () => {
  expect(withoutThoughts("Hm, the user wants.\n</think>\n\n## Goal")).toBe("## Goal")
  expect(withoutThoughts("Hm.\n</seed:think>\n## Goal")).toBe("## Goal")
})

test("marks that an answer speaks about stay", () => {
  for (const text of [
    "## Goal\nStrip `<think>` and `</think>`",
    "Use\n<think>\n…\n</think>\nas marks",
    "The tag </think> is odd",
  ])
    expect(withoutThoughts(text)).toBe(text)
})
