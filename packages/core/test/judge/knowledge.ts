/** What the rules know of sizes: the truth, or what a ruler reads from reports and refusals. */
import type { Usage } from "@sessions/core"
import { PER_MESSAGE } from "./tokenizers.ts"
import type { Model, World } from "./world.ts"

/** A message of a context, with what is left of it in the view. */
export interface Held {
  readonly n: number
  readonly role: string
  /** The text in tokens of no model, in tokens by the rule of thumb, and in bytes. */
  readonly text: number
  readonly units: number
  readonly bytes: number
  readonly images: number
  readonly imageBytes: number
  readonly calls: boolean
  /** Carried behind a summary. */
  readonly carried?: boolean
  /** The share of the text that is left, and whether the images are. */
  left: number
  hasImages: boolean
  /** Tokens of a unit, measured between two reports of a model. */
  readonly measured: Map<Model, number>
}

export interface Knowledge {
  tokens(held: Held, model: Model): number
  overhead(model: Model): number
  /** Tokens of a unit of a text that was never sent. */
  perUnit(model: Model): number
  /** The most tokens, and the most bytes, of a request. */
  limit(model: Model): number
  bytes(): number
  images(): number
  /** The provider's words name the most images of a request. */
  refusedImages(most: number): void
  /** The context is not the last one with messages behind it. */
  changed(): void
  answered(context: readonly Held[], model: Model, usage: Usage | undefined, bytes: number): void
  refused(
    context: readonly Held[],
    model: Model,
    kind: "tokens" | "bytes",
    count: number | undefined,
    bytes: number,
  ): void
}

const WORD_FOR_IMAGE = 10

export class Truth implements Knowledge {
  readonly #world: World
  /** Times the overhead of the model. */
  factor = 1
  constructor(world: World) {
    this.#world = world
  }
  tokens({ text, left, images, hasImages }: Held, model: Model): number {
    return (PER_MESSAGE + text * left) * model.factor + images * (hasImages ? model.image : WORD_FOR_IMAGE)
  }
  overhead(model: Model): number {
    return model.overhead * this.factor
  }
  perUnit(model: Model): number {
    return (this.#world.count(ENGLISH) / (ENGLISH.length / 4)) * model.factor
  }
  limit({ window }: Model): number {
    return window
  }
  bytes(): number {
    return this.#world.maxBytes
  }
  images(): number {
    return this.#world.maxImages
  }
  refusedImages(): void {}
  changed(): void {}
  answered(): void {}
  refused(): void {}
}
const ENGLISH = "The build failed on the second machine, because its clock was four minutes behind."

/** Rules of the ruler that can be left out. */
export interface RulerFaults {
  /** One scale for all, without overhead. */
  readonly oneScale?: boolean
  readonly noCalibration?: boolean
  /** Reports that cannot be true are believed. */
  readonly believesAll?: boolean
  /** A refusal teaches nothing. */
  readonly noLimit?: boolean
  /** Another model begins with nothing. */
  readonly noCarry?: boolean
  /** Messages that were never measured have the scale 1. */
  readonly noScale?: boolean
}

interface Report {
  readonly tokens: number
  readonly units: number
  readonly length: number
  readonly epoch: number
  readonly model: Model
}

const LEAST_SCALE = 0.25
const MOST_SCALE = 6
const IMAGE_UNITS = 1_600
const STRETCHES = 30

export class Ruler implements Knowledge {
  readonly #world: World
  readonly #faults: RulerFaults
  #epoch = 0
  #last: Report | undefined
  #reports: Report[] = []
  #stretches = new Map<Model, { tokens: number; units: number }[]>()
  /** By the last report of a model. */
  #anchors = new Map<Model, { readonly overhead: number; readonly scale: number }>()
  #refusals: { readonly model: Model; readonly count: number | undefined; readonly units: number }[] = []
  #accepted = new Map<Model, number>()
  #images = Number.POSITIVE_INFINITY
  #okBytes = 0
  #badBytes = Number.POSITIVE_INFINITY

  constructor(world: World, faults: RulerFaults) {
    this.#world = world
    this.#faults = faults
  }

  images(): number {
    return this.#images
  }

  refusedImages(most: number): void {
    this.#images = most
  }

  changed(): void {
    this.#epoch++
  }

  /** The model whose reports serve: this one, or the last that has reported. */
  #from(model: Model): Model {
    if (this.#anchors.has(model) || this.#faults.noCarry === true) return model
    return this.#reports.at(-1)?.model ?? model
  }

  #scaleOf(model: Model): number {
    if (this.#faults.noScale === true || this.#faults.noCalibration === true) return 1
    const stretches = this.#stretches.get(model) ?? []
    let tokens = 0
    let units = 0
    for (const stretch of stretches.slice(-STRETCHES)) {
      tokens += stretch.tokens
      units += stretch.units
    }
    return units > 0 ? tokens / units : 1
  }

  tokens(held: Held, model: Model): number {
    const from = this.#from(model)
    const scale = this.#anchors.get(from)?.scale ?? 1
    return (held.measured.get(from) ?? this.#scaleOf(from)) * scale * unitsOf(held)
  }

  overhead(model: Model): number {
    const says = this.#world.says ? (this.#world.models[0] as Model).overhead : 0
    return this.#anchors.get(this.#from(model))?.overhead ?? says
  }

  perUnit(model: Model): number {
    const from = this.#from(model)
    return this.#scaleOf(from) * (this.#anchors.get(from)?.scale ?? 1)
  }

  limit(model: Model): number {
    const window = Math.floor(model.window * this.#world.belief)
    if (this.#faults.noLimit === true) return window
    let limit = window
    let refused = false
    for (const refusal of this.#refusals) {
      if (refusal.model !== model) continue
      refused = true
      if (refusal.count === undefined) limit = Math.min(limit, 0.92 * this.#sizeOf(refusal.units, model))
      else if (refusal.count < window) limit = Math.min(limit, 0.98 * refusal.count)
    }
    return refused ? limit : Math.max(limit, this.#accepted.get(model) ?? 0)
  }

  #sizeOf(units: number, model: Model): number {
    return this.overhead(model) + this.perUnit(model) * units
  }

  bytes(): number {
    if (this.#badBytes === Number.POSITIVE_INFINITY) return this.#badBytes
    return Math.max(0.7 * this.#badBytes, Math.min(this.#okBytes, 0.98 * this.#badBytes))
  }

  answered(context: readonly Held[], model: Model, usage: Usage | undefined, bytes: number): void {
    const units = total(context, unitsOf)
    const size = this.overhead(model) + total(context, (held) => this.tokens(held, model))
    this.#refusals = this.#refusals.filter(
      (refusal) => refusal.model !== model || (refusal.count ?? this.#sizeOf(refusal.units, model)) > size,
    )
    this.#okBytes = Math.max(this.#okBytes, bytes)
    if (this.#badBytes <= this.#okBytes) this.#badBytes = Number.POSITIVE_INFINITY
    const { input = 0, cacheRead = 0, output = 0, totalTokens = 0 } = usage ?? {}
    const tokens = Math.max(input + cacheRead, totalTokens - output)
    if (tokens <= 0) return
    if (this.#faults.believesAll !== true) {
      if (tokens < 0.05 * units) return
      const last = this.#last
      if (last?.epoch === this.#epoch && last.model === model && tokens < 0.95 * last.tokens) return
    }
    this.#accepted.set(model, Math.max(this.#accepted.get(model) ?? 0, tokens))
    this.#report(context, model, tokens, units)
  }

  refused(
    context: readonly Held[],
    model: Model,
    kind: "tokens" | "bytes",
    count: number | undefined,
    bytes: number,
  ): void {
    if (kind === "bytes") {
      this.#badBytes = Math.min(this.#badBytes, bytes)
      return
    }
    const units = total(context, unitsOf)
    this.#refusals.push({ model, count, units })
    if (count !== undefined) this.#report(context, model, count, units)
  }

  #report(context: readonly Held[], model: Model, tokens: number, units: number): void {
    if (this.#faults.noCalibration === true) return
    if (this.#faults.oneScale === true) {
      this.#anchors.set(model, { overhead: 0, scale: tokens / units })
      return
    }
    const last = this.#last
    if (last?.epoch === this.#epoch && last.model === model && context.length > last.length) {
      const added = context.slice(last.length)
      const grown = total(added, unitsOf)
      const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, (tokens - last.tokens) / grown))
      for (const held of added) held.measured.set(model, scale)
      const stretches = this.#stretches.get(model) ?? []
      if (tokens > last.tokens) this.#stretches.set(model, [...stretches, { tokens: scale * grown, units: grown }])
    }
    this.#last = { tokens, units, length: context.length, epoch: this.#epoch, model }
    this.#reports.push(this.#last)
    const scale = this.#scaleOf(model)
    const messages = total(context, (held) => (held.measured.get(model) ?? scale) * unitsOf(held))
    this.#anchors.set(model, {
      overhead: Math.max(0, tokens - messages),
      scale: tokens < messages ? tokens / messages : 1,
    })
  }
}

export function unitsOf({ units, left, images, hasImages }: Held): number {
  return units * left + 1 + images * (hasImages ? IMAGE_UNITS : WORD_FOR_IMAGE)
}

export function total<T>(items: readonly T[], size: (item: T) => number): number {
  let sum = 0
  for (const item of items) sum += size(item)
  return sum
}
