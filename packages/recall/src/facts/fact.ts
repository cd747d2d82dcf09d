/** A fact and its line in a memory file: `- [preference] Uses tabs, two wide (confidence 0.9, 2026-11-22)`. */

/** The categories and their labels. */
export const CATEGORY_LABELS = {
  UserPreference: "preference",
  ProjectFact: "project",
  CodePattern: "pattern",
  Decision: "decision",
  Constraint: "constraint",
} as const

export type FactCategory = keyof typeof CATEGORY_LABELS

export const CATEGORIES = Object.keys(CATEGORY_LABELS) as readonly FactCategory[]

export interface Fact {
  readonly category: FactCategory
  /** One line of at most 500 characters. */
  readonly fact: string
  /** From 0 to 1. */
  readonly confidence: number
}

/** `date`: as in `2026-11-22`. */
export function factLine({ category, fact, confidence }: Fact, date: string): string {
  return `- [${CATEGORY_LABELS[category]}] ${fact} (confidence ${Number(confidence.toFixed(2))}, ${date})`
}

/** Whether a line is one that {@link factLine} has made. */
export function isFactLine(line: string): boolean {
  return LINE.exec(line.trimEnd())?.[3] !== undefined
}

/** The facts of a text as keys; two are equal if they have the same label and the same words, ignoring case, blanks, quotes and a full stop. */
export function factKeys(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const match = LINE.exec(line.trim())
    return match === null ? [] : [keyOf(match[1] as string, match[2] as string)]
  })
}

export function factKey({ category, fact }: Fact): string {
  return keyOf(CATEGORY_LABELS[category], fact)
}

/** A person may write a fact without the part in parentheses. */
const LINE =
  /^[-*] \[(preference|project|pattern|decision|constraint)\] (.*?)( \(confidence [\d.]+, \d{4}-\d\d-\d\d\))?$/

function keyOf(label: string, fact: string): string {
  // An editor may store accents as letters of their own.
  const words = fact
    .normalize("NFC")
    .toLowerCase()
    .replace(/[`"'*“”‘’«»]/gu, "")
    .replace(/\s+/g, " ")
    .trim()
  return `${label} ${words.replace(/[\s.,;!…。！]{1,20}$/u, "")}`
}
