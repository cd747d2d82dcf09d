/**
 * Values that are nested deeper than a record may be, as other programs write them: what is deeper is replaced by its JSON as a text, so that
 * nothing is lost and every runtime can write the rest. Nothing here is recursive.
 */
import { MAX_DEPTH } from "../storage/depth.ts"

const BACKSLASH = 0x5c
const QUOTE = 0x22
const OPENING = 0x7b
const CLOSING = 0x7d

/** Records are shown with some levels around them. */
const AROUND = 8

/** JSON of any value of a log, and of answers with such values. What is nested deeper than a record may be is a text. */
export function toJsonText(value: unknown, indent?: number): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? "null"
  } catch {
    text = writeDeep(value)
  }
  const flat = isTooDeep(text, MAX_DEPTH + AROUND) ? flatten(text, MAX_DEPTH + AROUND) : text
  return indent === undefined ? flat : JSON.stringify(JSON.parse(flat), null, indent)
}

/** The JSON text with a string in the place of each value below the last level. */
export function flatten(text: string, most: number = MAX_DEPTH): string {
  const parts: string[] = []
  let depth = 0
  let from = 0
  for (const at of bracketsOf(text)) {
    if (isOpening(text, at)) {
      if (++depth !== most + 1) continue
      parts.push(text.slice(from, at))
      from = at
    } else if (depth-- === most + 1) {
      parts.push(JSON.stringify(text.slice(from, at + 1)))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)].join("")
}

/** Whether a JSON text has more levels of objects and lists. */
export function isTooDeep(text: string, most: number = MAX_DEPTH): boolean {
  // Most texts have too few brackets, even with those in strings, and an engine finds a character faster than a loop does.
  const braces = countUpTo(text, "{", most + 1)
  if (braces + countUpTo(text, "[", most + 1 - braces) <= most) return false
  for (let at = 0, open = 0; at < text.length; at++) {
    // A square bracket and its curly one differ in this bit, which a quote has.
    const mark = text.charCodeAt(at) | 0x20
    if (mark === QUOTE) at = skipString(text, at) - 1
    else if (mark === OPENING && ++open > most) return true
    else if (mark === CLOSING) open--
  }
  return false
}

function countUpTo(text: string, mark: string, most: number): number {
  let count = 0
  for (let at = text.indexOf(mark); at >= 0 && count < most; at = text.indexOf(mark, at + 1)) count++
  return count
}

/** The offset after the string that begins at `from`. */
export function skipString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    at = text.indexOf('"', at)
    if (at < 0) return text.length
    let escapes = 0
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes++
    if (escapes % 2 === 0) return at + 1
  }
}

/** The levels of objects and lists of a JSON text. */
export function levelsOf(text: string): number {
  let depth = 0
  let most = 0
  for (const at of bracketsOf(text)) {
    depth += isOpening(text, at) ? 1 : -1
    most = Math.max(most, depth)
  }
  return most
}

/** The offsets of the brackets outside of strings. */
function* bracketsOf(text: string): Generator<number, void, undefined> {
  const marks = /["{}[\]]/g
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = skipString(text, mark.index)
    else yield mark.index
  }
}

function isOpening(text: string, at: number): boolean {
  return text[at] === "{" || text[at] === "["
}

/** A value to write, or a text between values. */
type Step = { readonly value: unknown } | string

/** `JSON.stringify` for parsed JSON of any depth. */
export function writeDeep(value: unknown): string {
  let text = ""
  const open: Step[] = [{ value }]
  for (let step = open.pop(); step !== undefined; step = open.pop()) {
    if (typeof step === "string") text += step
    else if (typeof step.value !== "object" || step.value === null) text += JSON.stringify(step.value) ?? "null"
    else for (const next of stepsOf(step.value).reverse()) open.push(next)
  }
  return text
}

function stepsOf(holder: object): Step[] {
  if (Array.isArray(holder)) {
    const items = holder.map((value: unknown, index): Step[] => [index === 0 ? "" : ",", { value }])
    return ["[", ...items.flat(), "]"]
  }
  const fields = Object.entries(holder).filter(([, value]) => value !== undefined && typeof value !== "function")
  const members = fields.map(([key, value], index): Step[] => [
    `${index === 0 ? "" : ","}${JSON.stringify(key)}:`,
    { value },
  ])
  return ["{", ...members.flat(), "}"]
}
