/** Reads the facts of a model's answer: finds its JSON array leniently, and checks each element strictly. */
import * as z from "zod"
import { RecallError } from "../error.ts"
import { CATEGORIES, type Fact } from "./fact.ts"

export interface DroppedFact {
  /** The first rule that it breaks. */
  readonly reason: string
  /** The start of it, as JSON. */
  readonly item: string
}

export interface AnsweredFacts {
  readonly facts: readonly Fact[]
  readonly dropped: readonly DroppedFact[]
}

/** Throws `extraction_failed` for an answer without a whole JSON array. */
export function readFacts(answer: string, minConfidence: number): AnsweredFacts {
  const facts: Fact[] = []
  const dropped: DroppedFact[] = []
  for (const [index, item] of readArray(answer).entries()) {
    const reason = index < MAX_FACTS ? problemOf(item, minConfidence) : `an answer may have ${MAX_FACTS} facts`
    if (reason === undefined) facts.push(FACT.parse(item))
    else dropped.push({ reason, item: shortened(item) })
  }
  return { facts, dropped }
}

/**
 * A fact with line breaks could open a heading; controls, changes of the writing direction, invisible letters, which models read, and comments of HTML,
 * which Markdown does not show, could hide a part of it. Left are joiners, marks of direction and selectors of emoji, which texts need.
 */
const FACT = z.object({
  category: z.enum(CATEGORIES, { error: `category must be one of ${CATEGORIES.join(", ")}` }),
  fact: z
    .string({ error: "fact must be a text" })
    .trim()
    .min(1, { error: "fact is empty" })
    .max(500, { error: "fact has more than 500 characters" })
    .regex(/^(?:[^\p{Cc}\p{Zl}\p{Zp}\p{Cs}\p{DI}]|[\u200C-\u200F]|\u061C|\uFE0E|\uFE0F)*$/u, {
      error: "fact must be one line without control and invisible characters",
    })
    .regex(/^(?!.*<!--)/u, { error: "fact must have no comment of HTML" }),
  confidence: z
    .number({ error: "confidence must be a number" })
    .min(0, { error: "confidence must be from 0 to 1" })
    .max(1, { error: "confidence must be from 0 to 1" }),
})

const MAX_ANSWER_UNITS = 1_000_000
const MAX_FACTS = 100
/** Brackets of the text before the array that are looked at. */
const MAX_CANDIDATES = 20
const SHOWN_UNITS = 200

function problemOf(item: unknown, minConfidence: number): string | undefined {
  const checked = FACT.safeParse(item)
  if (!checked.success) return checked.error.issues[0]?.message ?? "not a fact"
  return checked.data.confidence < minConfidence ? `confidence is below ${minConfidence}` : undefined
}

/** The first array of objects, in a code block, behind a sentence, or alone; else an empty one, which a sentence may mention. */
function readArray(answer: string): readonly unknown[] {
  if (answer.length > MAX_ANSWER_UNITS) throw failed(`it has ${answer.length} characters`)
  const starts = answer.matchAll(/\[\s*(?=[{\]])/g)
  let from = 0
  let candidates = 0
  let empty: readonly unknown[] | undefined
  for (const { index } of starts) {
    if (index < from) continue
    if (++candidates > MAX_CANDIDATES) break
    const end = endOfArray(answer, index)
    // An array inside one that is cut off must not be taken for the answer.
    if (end === undefined) throw failed("its JSON array has no end; was the answer cut off?")
    const value = parsed(answer.slice(index, end))
    if (Array.isArray(value) && value.length > 0) return value
    if (Array.isArray(value)) empty = value
    from = end
  }
  if (empty !== undefined) return empty
  throw failed("it has no JSON array of facts")
}

/** After the bracket that closes the array. */
function endOfArray(text: string, start: number): number | undefined {
  let depth = 0
  let isString = false
  for (let at = start; at < text.length; at++) {
    const char = text[at]
    if (isString) {
      if (char === "\\") at++
      else if (char === '"') isString = false
    } else if (char === '"') isString = true
    else if (char === "[" || char === "{") depth++
    else if ((char === "]" || char === "}") && --depth === 0) return at + 1
  }
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function failed(why: string): RecallError {
  return new RecallError("extraction_failed", `The model's answer cannot be read as facts: ${why}.`)
}

function shortened(item: unknown): string {
  const text = JSON.stringify(item)
  return text.length <= SHOWN_UNITS ? text : `${text.slice(0, SHOWN_UNITS)}…`
}
