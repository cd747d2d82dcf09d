/** Hidden tokenizers: real ones, and random ones with a density for each kind of text. */
import * as cl100k from "gpt-tokenizer/encoding/cl100k_base"
import * as o200k from "gpt-tokenizer/encoding/o200k_base"
import llama from "llama-tokenizer-js"
import type { Dice } from "../dice.ts"
import { type Kind, kindOf, KINDS } from "./texts.ts"

/** Tokens of a text. */
export type Count = (text: string) => number

/** What a provider adds to each message for its role. */
export const PER_MESSAGE = 4

/** Of OpenAI since GPT-4o and before, and of Llama 2, which takes up to three tokens for a Chinese character. */
const REAL: readonly ((line: string) => number)[] = [
  (line) => o200k.countTokens(line),
  (line) => cl100k.countTokens(line),
  (line) => llama.encode(line, false, false).length,
]

/** Line breaks, also those in the JSON of arguments. */
const BREAKS = /\\n|\n/

function byLines(countLine: (line: string) => number): Count {
  const lines = new Map<string, number>()
  const texts = new Map<string, number>()
  return (text) => {
    const known = texts.get(text)
    if (known !== undefined) return known
    let tokens = 0
    for (const part of text.split(BREAKS)) {
      // Marks of messages count alike, so that they are counted once.
      const line = part.length < 40 ? part.replace(/\[m\d+\]/, "[m0]") : part
      let counted = lines.get(line)
      if (counted === undefined) lines.set(line, (counted = countLine(line) + 1))
      tokens += counted
    }
    if (texts.size >= MOST_TEXTS) texts.clear()
    if (lines.size >= MOST_LINES) lines.clear()
    texts.set(text, tokens)
    return tokens
  }
}
/** One history has fewer texts; the lines are those of all histories. */
const MOST_TEXTS = 200
const MOST_LINES = 50_000

const REAL_COUNTS = REAL.map(byLines)

export function realCount(dice: Dice): Count {
  return dice.pick(REAL_COUNTS)
}

/** 0.25 to 6 tokens for four characters, for each kind its own. */
export function wildCount(dice: Dice): Count {
  const perChar = Object.fromEntries(KINDS.map((kind) => [kind, between(dice, 0.25, 6) / 4])) as Record<Kind, number>
  return byLines((line) => line.length * perChar[kindOf(line)])
}

/** The rule of thumb: a character of Chinese or Japanese is a token, two of base64 are, and four of other text. */
export const thumb: Count = byLines((line) => line.length * THUMB[kindOf(line)])
const THUMB: Readonly<Record<Kind, number>> = {
  english: 0.25,
  chinese: 1,
  japanese: 1,
  code: 0.25,
  base64: 0.5,
  minified: 0.25,
}

/** Log-uniform. */
export function between(dice: Dice, low: number, high: number): number {
  return low * (high / low) ** dice.next()
}
