/** The simulated provider: what a request really costs, and what it answers. */
import type { ModelMessage, Usage } from "@sessions/core"
import type { Dice } from "../dice.ts"
import { imagesIn, marksIn, textsIn } from "./author.ts"
import { BUSY, TOO_LONG, TOO_MANY_BYTES, TOO_MANY_IMAGES } from "./refusals.ts"
import { between, type Count, PER_MESSAGE } from "./tokenizers.ts"
import type { Model, World } from "./world.ts"

export interface Size {
  readonly tokens: number
  readonly bytes: number
  readonly images: number
}

/** What a message has, whatever the model; the same object is weighed once. */
export interface Weight {
  /** Of the texts, before the model's factor. */
  readonly tokens: number
  readonly images: number
  readonly bytes: number
  /** UTF-16 units of texts and images. */
  readonly length: number
  readonly marks: readonly number[]
}

/** What the JSON of a message has beside its content. */
const BYTES_PER_MESSAGE = 60
const WEIGHTS = new WeakMap<Count, WeakMap<ModelMessage, Weight>>()

export function weigh(message: ModelMessage, { count }: World): Weight {
  let known = WEIGHTS.get(count)
  if (known === undefined) WEIGHTS.set(count, (known = new WeakMap()))
  let weight = known.get(message)
  if (weight === undefined) known.set(message, (weight = weighed(message, count)))
  return weight
}

function weighed(message: ModelMessage, count: Count): Weight {
  let tokens = PER_MESSAGE
  let bytes = BYTES_PER_MESSAGE
  let length = 0
  const marks: number[] = []
  for (const text of textsIn(message)) {
    tokens += count(text)
    bytes += Buffer.byteLength(text)
    length += text.length
    marks.push(...marksIn(text))
  }
  const images = imagesIn(message)
  for (const image of images) {
    bytes += image.length
    length += image.length
  }
  return { tokens, images: images.length, bytes, length, marks }
}

export function sizeOf(message: ModelMessage, model: Model, world: World): Size {
  const { tokens, images, bytes } = weigh(message, world)
  return { tokens: tokens * model.factor + images * model.image, bytes, images }
}

export function requestSize(messages: readonly ModelMessage[], model: Model, overhead: number, world: World): Size {
  let tokens = model.overhead * overhead
  let bytes = 0
  let images = 0
  for (const message of messages) {
    const size = sizeOf(message, model, world)
    tokens += size.tokens
    bytes += size.bytes
    images += size.images
  }
  return { tokens: Math.ceil(tokens), bytes, images }
}

export type Refusal = { readonly kind: "tokens" | "bytes" | "images" | "busy"; readonly error: unknown }

/** Why a request is refused, in the provider's words; undefined if it is answered. */
export function refusalOf(
  dice: Dice,
  { tokens, bytes, images }: Size,
  model: Model,
  world: World,
): Refusal | undefined {
  if (world.busy > 0 && dice.chance(world.busy)) return { kind: "busy", error: dice.pick(BUSY)() }
  if (tokens > model.window) {
    const words = TOO_LONG[world.provider]
    if (words === undefined) throw new Error(`There are no words of ${world.provider}.`)
    return { kind: "tokens", error: words(tokens, model.window) }
  }
  if (images > world.maxImages) return { kind: "images", error: dice.pick(TOO_MANY_IMAGES)(images, world.maxImages) }
  return bytes > world.maxBytes ? { kind: "bytes", error: dice.pick(TOO_MANY_BYTES)() } : undefined
}

/** What is reported with an answer. `isFirst`: no earlier request had the beginning of this one. */
export function usageOf(dice: Dice, input: number, output: number, isFirst: boolean, world: World): Usage | undefined {
  const usage = (
    input: number,
    cacheRead: number,
    output: number,
    totalTokens = input + cacheRead + output,
  ): Usage => ({
    input: Math.ceil(input),
    cacheRead: Math.ceil(cacheRead),
    output: Math.ceil(output),
    totalTokens: Math.ceil(totalTokens),
  })
  switch (world.report) {
    case "always":
      return usage(input, 0, output)
    case "never":
      return undefined
    case "some":
      return dice.chance(0.3) ? usage(input, 0, output) : undefined
    case "zero":
      return usage(0, 0, 0)
    case "nocache":
      return usage(0.1 * input, 0.9 * input, output, 0.1 * input + output)
    case "cacheless":
      return usage(isFirst ? input : dice.next() * 0.3 * input, 0, output)
    case "reason":
      return usage(input, 0, output + between(dice, 10, 0.1 * (world.models[0] as Model).window))
  }
}
