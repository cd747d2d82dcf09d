/**
 * Output lines as data, and writing them. Only this file turns lines into text, and it sanitizes them, so no stored text reaches a
 * terminal with its control characters.
 */
import { toJsonText } from "@sessions/core/format"
import type { Io, Sink } from "../io.ts"
import { sanitizeJson, sanitizeLine } from "./sanitize.ts"

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan"
export type Span = string | { readonly style: Style; readonly text: string }
export type Line = Span | readonly Span[]

/** What the lines of a command may depend on. */
export interface View {
  /** Width of the terminal; undefined without one, and then no line is cut. */
  readonly columns?: number
  readonly now: number
}

export function styled(style: Style, text: string): Span {
  return { style, text }
}

export function spansOf(line: Line): readonly Span[] {
  return Array.isArray(line) ? (line as readonly Span[]) : [line as Span]
}

export function viewOf({ stdout: { isTerminal, columns = 0 }, now }: Io): View {
  // Some terminals report 0 columns if they do not know their width.
  return { now: now(), ...(isTerminal && columns > 0 ? { columns } : {}) }
}

/** Colours are used on a terminal, unless NO_COLOR is set (https://no-color.org). */
export function wantsColour(sink: Sink, env: Io["env"]): boolean {
  return sink.isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"
}

/** Writes lines in batches: a write per line is slow, and one write for all lines could be hundreds of megabytes. */
export async function writeLines(sink: Sink, lines: Iterable<Line>, env: Io["env"]): Promise<void> {
  const colour = wantsColour(sink, env)
  let text = ""
  for (const line of lines) {
    text += `${spansOf(line)
      .map((span) => paint(span, colour))
      .join("")}\n`
    if (text.length > BATCH_UNITS) {
      await sink.write(text)
      text = ""
    }
  }
  if (text !== "") await sink.write(text)
}

export async function writeJson(sink: Sink, value: unknown): Promise<void> {
  await sink.write(`${sanitizeJson(toJsonText(value, 2))}\n`)
}

const BATCH_UNITS = 64_000

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 }

function paint(span: Span, colour: boolean): string {
  const text = sanitizeLine(typeof span === "string" ? span : span.text)
  return colour && typeof span !== "string" && text !== "" ? `\u001b[${CODES[span.style]}m${text}\u001b[0m` : text
}
