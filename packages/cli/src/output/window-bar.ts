/** Shows the usage of a context window as a bar and a few lines. Each part has its own character, so the bar needs no colours. */
import type { WindowPart, WindowUsage } from "./window-usage.ts"
import { fit, formatCount, formatNumber, table } from "./format.ts"
import { type Line, type Span, type Style, styled, type View } from "./lines.ts"

const PARTS: readonly {
  readonly part: WindowPart
  readonly sign: string
  readonly label: string
  readonly style: Style
}[] = [
  { part: "prompt", sign: "%", label: "system prompt", style: "yellow" },
  { part: "summary", sign: "S", label: "summary", style: "blue" },
  { part: "messages", sign: "=", label: "messages", style: "cyan" },
  { part: "toolResults", sign: "#", label: "tool results", style: "green" },
  { part: "free", sign: ".", label: "free", style: "dim" },
  { part: "reserve", sign: "~", label: "reserved for the answer", style: "dim" },
]

/** The width without a terminal, and the largest one: a longer bar is hard to read. */
const MAX_COLUMNS = 80

export function windowUsageLines(usage: WindowUsage, { columns }: View, isPruned: boolean): Line[] {
  const rows = PARTS.filter(({ part }) => usage.parts[part] > 0).map(({ part, sign, label, style }): Span[] => [
    styled(style, `  ${sign}`),
    label,
    formatNumber(usage.parts[part]),
    share(usage.parts[part], usage.window),
  ])
  return [
    bar(usage, Math.min(columns ?? MAX_COLUMNS, MAX_COLUMNS) - 2),
    ...table(rows, ["left", "left", "right", "right"]),
    ...compactionLines(usage),
    pruningLine(usage, isPruned),
  ].map((line) => fit(line, columns))
}

/** A context larger than the window fills the whole bar, with a `|` at the end of the window. */
function bar({ parts, window, tokens }: WindowUsage, width: number): Line {
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

/** Divides `width` columns among the parts: at least one for each, the others by size (largest remainder method). */
function apportion(sizes: readonly number[], width: number): readonly number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const spare = Math.max(0, width - sizes.length)
  const exact = sizes.map((size) => (size / total) * spare)
  const lengths = exact.map((length) => 1 + Math.floor(length))
  const byRemainder = exact
    .map((length, index) => ({ index, remainder: length % 1 }))
    .toSorted((a, b) => b.remainder - a.remainder)
  const missing = spare - exact.reduce((sum, length) => sum + Math.floor(length), 0)
  for (const { index } of byRemainder.slice(0, missing)) lengths[index] = (lengths[index] as number) + 1
  return lengths
}

function compactionLines({ compaction }: WindowUsage): Line[] {
  if (compaction === undefined)
    return ["compaction: nothing to summarize, all messages are within --keep-recent-tokens"]
  const { due, messagesSummarized, tokensSummarized, messagesKept, tokensKept } = compaction
  return [
    `compaction: ${due ? "due" : "not due"}`,
    `  would summarize ${formatCount(messagesSummarized, "message")}, ${formatNumber(tokensSummarized)} tokens`,
    `  would keep ${formatCount(messagesKept, "message")}, ${formatNumber(tokensKept)} tokens`,
  ]
}

function pruningLine({ pruning: { trimmed, cleared, tokensFreed, fits } }: WindowUsage, isPruned: boolean): Line {
  if (trimmed + cleared === 0) return "pruning: nothing to prune"
  const what = isPruned ? `trimmed ${trimmed} and cleared ${cleared}` : `would trim ${trimmed} and clear ${cleared}`
  const shortfall = fits ? "" : "; the context still does not fit"
  return `pruning: ${what} tool results, freeing ${formatNumber(tokensFreed)} tokens${shortfall}`
}

function share(part: number, window: number): string {
  return `${((part / window) * 100).toFixed(0)} %`
}
