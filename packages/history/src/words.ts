/**
 * The words of prompts and searches, in all stores alike: runs of letters and digits, in lower case, without diacritics. That is what
 * `unicode61`, the default tokenizer of SQLite's FTS5, makes of a text. It differs in symbols that are newer than Unicode 6.1, which it
 * takes for letters. Pure.
 */
import type { Words } from "./types.ts"

/** The words of a search; undefined if it has none. Each matches {@link normalize}d prompts that include it. */
export function toWords(text: string): Words | undefined {
  const words = new Set<string>()
  for (const part of text.split(/\s+/)) {
    const word = normalize(part).trim()
    if (word !== "") words.add(` ${word}`)
  }
  return words.size === 0 ? undefined : [...words]
}

export function hasWords(prompt: string, words: Words): boolean {
  const text = normalize(prompt)
  return words.every((word) => text.includes(word))
}

/** The words of a text with a space before each: "Fix (the) Café" is " fix the cafe". Further spaces may be at its ends. */
export function normalize(text: string): string {
  if (/^[\0-\x7f]*$/.test(text)) return ` ${text.toLowerCase().replace(/[^a-z0-9]+/g, " ")}`
  const folded = text
    .replace(MARKS, "")
    .replace(/[^\0-\x7f]/gu, fold)
    .toLowerCase()
  return ` ${folded.replace(/[^\p{L}\p{N}\p{Co}]+/gu, " ")}`
}

/** The combining marks that `unicode61` ignores; all others separate words. */
const MARKS = /[\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331]/g

/** Letters whose lower case has another form. */
const FORMS: Readonly<Record<string, string>> = { ς: "σ", ſ: "s", µ: "μ" }

function fold(letter: string): string {
  const lower = FORMS[letter] ?? letter.toLowerCase()
  const [base = "", mark = "", more] = lower.normalize("NFD")
  // Only a Latin letter with one mark loses it.
  return more === undefined && /^[a-z]$/.test(base) && /^\p{M}$/u.test(mark) ? base : lower
}
