/**
 * What a command prints, as data: lines of plain and styled pieces. Making them text happens here alone, so that no stored text
 * reaches a terminal with its control characters.
 */
import type { Io, Sink } from "../io.ts"
import { cleanJson, cleanLine } from "./sanitize.ts"

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "cyan"
export type Span = string | { readonly style: Style; readonly text: string }
export type Line = Span | readonly Span[]

/** What lines may depend on. */
export interface View {
  /** Of the terminal; undefined where there is none, and nothing need be cut. */
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
  // Some terminals say 0 where they do not know.
  return { now: now(), ...(isTerminal && columns > 0 ? { columns } : {}) }
}

/** Colours are for a person at a terminal who has not asked to be spared (https://no-color.org). */
export function wantsColour(sink: Sink, env: Io["env"]): boolean {
  return sink.isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb"
}

/** Writes lines in pieces of some size: one write a line would be slow, one for all could be hundreds of megabytes. */
export async function writeLines(sink: Sink, lines: Iterable<Line>, env: Io["env"]): Promise<void> {
  const colour = wantsColour(sink, env)
  let text = ""
  for (const line of lines) {
    text += `${spansOf(line)
      .map((span) => paint(span, colour))
      .join("")}\n`
    if (text.length > PIECE) {
      await sink.write(text)
      text = ""
    }
  }
  if (text !== "") await sink.write(text)
}

export async function writeJson(sink: Sink, value: unknown): Promise<void> {
  await sink.write(`${cleanJson(JSON.stringify(value, undefined, 2))}\n`)
}

const PIECE = 64_000

const CODES: Readonly<Record<Style, number>> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 }

function paint(span: Span, colour: boolean): string {
  const text = cleanLine(typeof span === "string" ? span : span.text)
  return colour && typeof span !== "string" && text !== "" ? `\u001b[${CODES[span.style]}m${text}\u001b[0m` : text
}
