/** The simulated summarizer. Its answer depends on the prompt and on how often it was asked, so that a copy of a session gets the same. */
import { createDice } from "../dice.ts"
import { textOf } from "./texts.ts"
import { between } from "./tokenizers.ts"
import type { Model, World } from "./world.ts"

/** Tokens of an answer to so many tokens of messages. */
export function summaryTokens(seed: number, history: number, maxTokens: number, model: Model): number {
  const usual = between(createDice(seed), 0.01 * model.window, 0.15 * model.window)
  return Math.min(maxTokens, 0.4 * history + 60, usual)
}

export function summaryText(tokens: number, model: Model, world: World): string {
  const dice = createDice(7)
  const lines = ["## Goal"]
  let left = tokens - world.count(lines[0] as string) * model.factor
  for (;;) {
    const line = textOf(dice, "english", 15)
    left -= world.count(line) * model.factor
    if (left < 0) return lines.join("\n")
    lines.push(line)
  }
}

export function hash(text: string): number {
  let state = 0x811c9dc5
  for (let i = 0; i < text.length; i += 7) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193)
  return state >>> 0
}
