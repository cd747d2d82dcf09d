/** What a history's provider hides, and the settings of its program, both drawn from the seed. */
import type { CompactionSettings } from "@sessions/core/compaction"
import { createDice } from "../dice.ts"
import { TOO_LONG } from "./refusals.ts"
import { between, type Count, realCount, wildCount } from "./tokenizers.ts"

export interface Model {
  readonly name: string
  /** The most tokens of input that it really takes. */
  readonly window: number
  /** Times the count of the tokenizer. */
  readonly factor: number
  readonly image: number
  /** Tokens of what the program sends beside the messages, before `World.overhead`. */
  readonly overhead: number
}

/**
 * - `nocache`: caches counted apart, and left out of the total;
 * - `cacheless`: after the first request of a prefix cached tokens are in no field;
 * - `reason`: hidden reasoning is in the output.
 */
export type Report = "always" | "never" | "some" | "zero" | "nocache" | "cacheless" | "reason"

export interface World {
  readonly seed: number
  /** Whether its tokenizer is a random one. */
  readonly wild: boolean
  /** A long history in which nothing unusual happens. */
  readonly calm: boolean
  readonly count: Count
  readonly models: readonly Model[]
  readonly report: Report
  readonly provider: string
  readonly maxBytes: number
  /** Images of a request. */
  readonly maxImages: number
  /** Windows as the program knows them, over the true ones. */
  readonly belief: number
  readonly settings: CompactionSettings
  /** Whether the program knows what it sends beside the messages. */
  readonly says: boolean
  /** How often another writer appends while a summary is made, and how often the summarizer fails. */
  readonly moved: number
  readonly fails: number
  /** How often the user types another message after a refusal. */
  readonly types: number
  /** How often the provider is busy. */
  readonly busy: number
}

export const MODELS = ["judge-medium", "judge-small", "judge-large"] as const
const WINDOWS = [4_000, 8_000, 8_000, 16_000, 32_000]
/** Of the window. */
const OVERHEADS = [0, 0, 0.05, 0.1, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 0.95]
const CALM_OVERHEADS = [0.1, 0.5, 0.6]
const TRIGGERS: readonly ((window: number) => CompactionSettings)[] = [
  () => ({}),
  () => ({}),
  (window) => ({ thresholdTokens: Math.floor(window / 2) }),
  () => ({ thresholdShare: 0.8 }),
  () => ({ thresholdShare: 0.9 }),
]
const KEEPS: readonly ((window: number) => CompactionSettings)[] = [
  () => ({}),
  () => ({}),
  () => ({ keepTurns: 4 }),
  () => ({ keepMessages: 10 }),
  (window) => ({ keepRecentTokens: Math.floor(0.3 * window) }),
  () => ({ keepRecentTokens: 0 }),
]
const REPORTS: readonly Report[] = [
  ...(["always", "always", "always", "always"] as const),
  ...(["never", "some", "nocache", "cacheless", "zero", "reason"] as const),
]

export function drawWorld(seed: number): World {
  const dice = createDice(Math.imul(seed, 2_654_435_761) ^ 0x5eed)
  const calm = dice.chance(0.12)
  const wild = dice.chance(0.5)
  const window = dice.pick(WINDOWS)
  const image = wild ? between(dice, 80, 6_000) : between(dice, 300, 1_800)
  const share = calm ? dice.pick(CALM_OVERHEADS) : dice.pick(OVERHEADS)
  const sizes = [1, dice.pick([0.25, 0.5]), dice.pick([2, 4])]
  const models = sizes.map((size, i): Model => {
    // Models of one family count alike.
    const factor = i === 0 ? 1 : between(dice, 0.75, 1.35)
    const overhead = share * window * factor
    return { name: MODELS[i] as string, window: window * size, factor, image: image * factor, overhead }
  })
  const belief = calm || dice.chance(0.8) ? 1 : dice.pick([0.8, 1.3])
  const believed = Math.floor(window * belief)
  return {
    seed,
    wild,
    calm,
    count: wild ? wildCount(dice) : realCount(dice),
    models,
    report: calm ? "always" : dice.pick(REPORTS),
    provider: dice.pick(Object.keys(TOO_LONG)),
    maxBytes: dice.pick([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 20, 40]) * window,
    belief,
    settings: {
      windows: Object.fromEntries(models.map(({ name, window }) => [name, Math.floor(window * belief)])),
      ...dice.pick(TRIGGERS)(believed),
      ...dice.pick(KEEPS)(believed),
    },
    says: dice.chance(0.25),
    moved: calm ? 0 : dice.pick([0.05, 0.05, 0.8]),
    fails: calm ? 0 : 0.02,
    types: !calm && dice.chance(0.2) ? 0.3 : 0,
    busy: !calm && dice.chance(0.1) ? 0.05 : 0,
    maxImages: dice.pick([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 5]),
  }
}
