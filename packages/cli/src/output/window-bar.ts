/** A window as a bar and a few lines. Each part has a sign of its own, so that it reads the same without colours. */
import type { Fill, FillPart } from "./window-usage.ts"
import { fit, formatCount, formatNumber, table } from "./format.ts"
import { styled } from "./lines.ts"
import type { Line, Span, Style, View } from "./lines.ts"

const PARTS: readonly {
  readonly part: FillPart
  readonly sign: string
  readonly label: string
  readonly style: Style
}[] = [
  { part: "prompt", sign: "%", label: "system prompt", style: "yellow" },
  { part: "summary", sign: "S", label: "summary", style: "blue" },
  { part: "messages", sign: "=", label: "messages", style: "cyan" },
  { part: "toolResults", sign: "#", label: "tool results", style: "green" },
  { part: "free", sign: ".", label: "free", style: "dim" },
  { part: "reserve", sign: "~", label: "kept for the answer", style: "dim" },
]

/** Where there is no terminal; wider ones than this make a bar that nobody can take in. */
const COLUMNS = 80

export function fillLines(fill: Fill, { columns }: View, isPruned: boolean): Line[] {
  const rows = PARTS.filter(({ part }) => fill.parts[part] > 0).map(({ part, sign, label, style }): Span[] => [
    styled(style, `  ${sign}`),
    label,
    formatNumber(fill.parts[part]),
    share(fill.parts[part], fill.window),
  ])
  return [
    bar(fill, Math.min(columns ?? COLUMNS, COLUMNS) - 2),
    ...table(rows, ["left", "left", "right", "right"]),
    ...compactionLines(fill),
    pruningLine(fill, isPruned),
  ].map((line) => fit(line, columns))
}

/** A context that is too large is the whole bar; a `|` stands where its window ends. */
function bar({ parts, window, tokens }: Fill, width: number): Line {
  const total = Math.max(window, tokens)
  const shown = PARTS.filter(({ part }) => parts[part] > 0)
  const lengths = apportion(
    shown.map(({ part }) => parts[part]),
    width,
  )
  const end = tokens > window ? Math.floor((window / total) * width) : -1
  const spans: Span[] = ["["]
  let at = 0
  for (const [index, { sign, style }] of shown.entries()) {
    const length = lengths[index] as number
    const signs = sign.repeat(length)
    const mark = end - at
    spans.push(styled(style, mark >= 0 && mark < length ? `${signs.slice(0, mark)}|${signs.slice(mark + 1)}` : signs))
    at += length
  }
  return [...spans, "]"]
}

/** Columns for each part, `width` together: one at least for what is there, the rest by size, the largest remainders rounded up. */
function apportion(sizes: readonly number[], width: number): readonly number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const room = Math.max(0, width - sizes.length)
  const exact = sizes.map((size) => (size / total) * room)
  const lengths = exact.map((length) => 1 + Math.floor(length))
  const byRemainder = exact.map((length, index) => ({ index, rest: length % 1 })).toSorted((a, b) => b.rest - a.rest)
  const missing = room - exact.reduce((sum, length) => sum + Math.floor(length), 0)
  for (const { index } of byRemainder.slice(0, missing)) lengths[index] = (lengths[index] as number) + 1
  return lengths
}

function compactionLines({ compaction }: Fill): Line[] {
  if (compaction === undefined) return ["compaction: nothing to cut, all of it is within what is kept"]
  const { due, messagesSummarized, tokensSummarized, messagesKept, tokensKept } = compaction
  return [
    `compaction: ${due ? "it is time" : "not yet time"}`,
    `  would summarize ${formatCount(messagesSummarized, "message")}, ${formatNumber(tokensSummarized)} tokens`,
    `  would keep ${formatCount(messagesKept, "message")}, ${formatNumber(tokensKept)} tokens`,
  ]
}

function pruningLine({ pruning: { trimmed, cleared, tokensFreed, fits } }: Fill, isPruned: boolean): Line {
  if (trimmed + cleared === 0) return "pruning: nothing to cut"
  const what = isPruned ? `trimmed ${trimmed} and cleared ${cleared}` : `would trim ${trimmed} and clear ${cleared}`
  const less = `${formatNumber(tokensFreed)} tokens less${fits ? "" : ", which is not enough"}`
  return `pruning: ${what} tool results, ${less}`
}

function share(part: number, window: number): string {
  return `${((part / window) * 100).toFixed(0)} %`
}
