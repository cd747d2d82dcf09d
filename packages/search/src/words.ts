/**
 * The words of a text, as every index compares them: runs of letters and digits, in lower case, without accents. One definition for all
 * indexes, because the tokenizers of SQLite and of MiniSearch differ.
 */

/** Longer words count as equal if so many units are: a hash in hex has 64, and base64 in a tool's output has no end. */
const MOST_UNITS = 64

export interface PlacedWord {
  readonly word: string
  /** Where the word is in the text. */
  readonly from: number
  readonly to: number
}

/** In the order of the text, repetitions included. */
export function wordsOf(text: string): string[] {
  if (isAscii(text))
    return (
      withoutEscapes(text)
        .toLowerCase()
        .match(/[a-z0-9]+/g) ?? []
    ).map(cut)
  const words: string[] = []
  for (const { word } of placedWords(text)) words.push(word)
  return words
}

/** The same words with their places. */
export function* placedWords(text: string): Generator<PlacedWord, void, undefined> {
  for (const { 0: raw, index } of withoutEscapes(text).matchAll(/[\p{L}\p{N}\p{M}]+/gu)) {
    const word = normalized(raw)
    if (word !== "") yield { word, from: index, to: index + raw.length }
  }
}

/** The distinct words that a person typed. What has no letter and no digit is no word, so operators of a query language are text. */
export function queryWords(text: string): string[] {
  return [...new Set(wordsOf(text))]
}

/** Whether a text has a word that begins with each of the given ones. */
export function matches(words: Iterable<string>, wanted: readonly string[]): boolean {
  const left = new Set(wanted)
  for (const word of words) {
    for (const one of left) if (word.startsWith(one)) left.delete(one)
    if (left.size === 0) return true
  }
  return left.size === 0
}

/** Blanks in place of the colours and cursor movements in a tool's output: the "31m" of one would be joined to the word behind it. */
function withoutEscapes(text: string): string {
  return text.includes("\u001b[")
    ? text.replace(/\u001b\[[0-9:;<=>?]*[@-~]/g, (sequence) => " ".repeat(sequence.length))
    : text
}

function normalized(raw: string): string {
  if (isAscii(raw)) return cut(raw.toLowerCase())
  // Some letters decompose into capitals, marks, blanks or signs, so the case is folded twice and everything but letters removed.
  const plain = raw.toLowerCase().normalize("NFKD").toLowerCase()
  return cut(plain.replace(/[^\p{L}\p{N}]+/gu, ""))
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

function cut(word: string): string {
  // Never half a surrogate pair.
  return word.length <= MOST_UNITS ? word : word.slice(0, MOST_UNITS).replace(/[\ud800-\udbff]$/, "")
}
