/** The part of a text that is shown with a hit: about a line around the place with the most of the words. */
import type { SnippetPart } from "./types.ts"
import { type PlacedWord, placedWords } from "./words.ts"

/** UTF-16 units: two lines of a terminal. */
const WIDTH = 160
/** Of them before the first match. */
const BEFORE = 40
/** After the first match so much of the text is searched for a place with more of the words. */
const SEARCHED = 20_000

/** Blanks are collapsed; a cut end has an ellipsis. */
export function snippetOf(text: string, wanted: readonly string[]): SnippetPart[] {
  const found = matchesNear(text, wanted)
  const { from, to } = windowOf(text, found, wanted)
  const parts: SnippetPart[] = []
  let at = from
  for (const match of found.filter((one) => one.from >= from && one.to <= to)) {
    add(parts, text.slice(at, match.from), false)
    add(parts, text.slice(match.from, match.to), true)
    at = match.to
  }
  add(parts, text.slice(at, to), false)
  if (from > 0) parts.unshift({ text: "…", match: false })
  if (to < text.length) parts.push({ text: "…", match: false })
  return joined(parts)
}

function matchesNear(text: string, wanted: readonly string[]): PlacedWord[] {
  const found: PlacedWord[] = []
  for (const placed of placedWords(text)) {
    if (found[0] !== undefined && placed.from > found[0].from + SEARCHED) break
    if (wanted.some((word) => placed.word.startsWith(word))) found.push(placed)
  }
  return found
}

function windowOf(
  text: string,
  found: readonly PlacedWord[],
  wanted: readonly string[],
): { readonly from: number; readonly to: number } {
  let best = found[0]?.from ?? 0
  let most = 0
  for (const [index, { from }] of found.entries()) {
    const seen = new Set<string>()
    for (let next = index; next < found.length; next++) {
      const { word, to } = found[next] as PlacedWord
      if (to > from + WIDTH - BEFORE) break
      for (const one of wanted) if (word.startsWith(one)) seen.add(one)
    }
    if (seen.size <= most) continue
    most = seen.size
    best = from
    if (most === wanted.length) break
  }
  const from = startOfWord(text, Math.max(0, best - BEFORE), best)
  return { from, to: endOfWord(text, from + WIDTH, best) }
}

/** A cut is moved to a blank, if there is one before the match. */
function startOfWord(text: string, at: number, match: number): number {
  if (at === 0) return 0
  const blank = text.slice(at, match).search(/\s/)
  return blank === -1 ? wholePair(text, at) : at + blank + 1
}

function endOfWord(text: string, at: number, match: number): number {
  if (at >= text.length) return text.length
  const last = text.slice(match, at).search(/\s\S*$/)
  return last <= 0 ? wholePair(text, at) : match + last
}

/** A place that is not inside of a surrogate pair. */
function wholePair(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit < 0xe000 ? at + 1 : at
}

function add(parts: SnippetPart[], text: string, match: boolean): void {
  const shown = text.replace(/\s+/g, " ")
  if (shown !== "") parts.push({ text: shown, match })
}

/** Neighbours of one kind become one part. */
function joined(parts: readonly SnippetPart[]): SnippetPart[] {
  const out: SnippetPart[] = []
  for (const part of parts) {
    const last = out.at(-1)
    if (last !== undefined && last.match === part.match) out[out.length - 1] = { ...last, text: last.text + part.text }
    else out.push(part)
  }
  return out
}
