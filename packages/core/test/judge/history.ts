/** What a user and an agent do in a history, drawn from the seed. Sizes are in tokens by the rule of thumb of `texts.ts`. */
import { createDice } from "../dice.ts"
import { type Kind, KINDS } from "./texts.ts"
import { between } from "./tokenizers.ts"

export type Op = { readonly seed: number; readonly kind: Kind; readonly size: number } & (
  | { readonly op: "chat" | "paste" | "server" | "delete" }
  | { readonly op: "tools"; readonly steps: number; readonly parallel: number }
  | { readonly op: "images"; readonly images: number }
  /** Messages that nobody has answered yet. */
  | { readonly op: "group"; readonly messages: number }
  | { readonly op: "switch"; readonly model: number }
  /** Tools are added or taken away: the overhead times this. */
  | { readonly op: "overhead"; readonly by: number }
)

export function drawHistory(seed: number, window: number, calm: boolean): Op[] {
  const dice = createDice(Math.imul(seed, 0x85ebca6b) ^ 0x0b5)
  const large = dice.chance(0.5) && !calm ? 0.15 : 0.05
  let kind = dice.pick(KINDS)
  const size = (share: number): number => Math.ceil(between(dice, 0.002, share) * window)
  const draw = (): Op => {
    if (dice.chance(0.08)) kind = dice.pick(KINDS)
    const common = { seed: dice.below(2 ** 31), kind, size: size(large) }
    const x = dice.next()
    if (x < (calm ? 0.7 : 0.42)) return { ...common, op: "chat" }
    if (x < 0.7)
      return {
        ...common,
        op: "tools",
        steps: 1 + dice.below(calm ? 3 : 6),
        parallel: calm ? 1 : dice.pick([1, 1, 1, 2, 4, 12]),
      }
    if (x < 0.74) return { ...common, op: "paste", size: size(2.5) }
    if (x < 0.79) return { ...common, op: "images", images: 1 + dice.below(4) }
    if (x < 0.84) return { ...common, op: "server", size: size(0.2) }
    if (x < 0.89) return { ...common, op: "switch", model: dice.below(3) }
    if (x < 0.93) return { ...common, op: "delete" }
    if (x < 0.96) return { ...common, op: "group", messages: dice.pick([3, 10, 60]) }
    return { ...common, op: "overhead", by: dice.pick([0.5, 1.5, 2]) }
  }
  const ops = Array.from({ length: calm ? 30 + dice.below(20) : 6 + dice.below(10) }, draw)
  // In the end the user deletes a message, and goes on with the largest model.
  const end = { kind: "english", size: 20 } as const
  return [
    ...ops,
    { ...end, seed: 1, op: "delete" },
    { ...end, seed: 2, op: "chat" },
    { ...end, seed: 3, op: "switch", model: 2 },
    { ...end, seed: 4, op: "chat" },
  ]
}
