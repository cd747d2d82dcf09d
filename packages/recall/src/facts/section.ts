/**
 * The section of a memory file that extraction writes. Lines are added below its heading, and every other byte of the file stays. Pure;
 * linear in the text.
 */
import { isFactLine } from "./fact.ts"

export const HEADING = "## Auto-extracted memories"

/** Adds lines at the end of the section, which is created at the end of the text if it is missing. Keeps the line endings of the text. */
export function addLines(text: string, added: readonly string[]): string {
  const lines = linesOf(text)
  const end = /\r\n/.test(lines[0] ?? "") ? "\r\n" : "\n"
  const block = added.map((line) => line + end).join("")
  const section = findSection(lines)
  if (section === undefined) {
    const before = text === "" ? "" : text.endsWith("\n") ? end : end + end
    return `${text}${before}${HEADING}${end}${end}${block}`
  }
  let at = section.end
  while (isBlank(lines[at - 1] as string)) at--
  // The blank line below the heading stays above the first fact.
  if (at === section.heading + 1 && at < section.end) at++
  const needsBlank = at === section.heading + 1
  const before = lines.slice(0, at).join("")
  const after = lines.slice(at).join("")
  const isLast = after === "" || isBlank(lines[at] as string)
  return `${before}${before.endsWith("\n") ? "" : end}${needsBlank ? end : ""}${block}${isLast ? "" : end}${after}`
}

/** Removes the lines of facts below the heading, and a heading with nothing left below it. */
export function removeFacts(text: string): { readonly text: string; readonly removed: number } {
  const lines = linesOf(text)
  const section = findSection(lines)
  if (section === undefined) return { text, removed: 0 }
  const inside = lines.slice(section.heading + 1, section.end)
  const kept = inside.filter((line) => !isFactLine(line))
  const removed = inside.length - kept.length
  const isEmpty = kept.every(isBlank)
  const head = lines.slice(0, section.heading).join("")
  const tail = lines.slice(section.end).join("")
  if (isEmpty) return { text: head.trim() === "" && tail === "" ? "" : head + tail, removed }
  return { text: head + (lines[section.heading] as string) + kept.join("") + tail, removed }
}

interface Section {
  readonly heading: number
  /** After its last line. */
  readonly end: number
}

/** Each with its line ending. */
function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** A heading in a code block is none. */
function findSection(lines: readonly string[]): Section | undefined {
  let heading: number | undefined
  const fences = createFences(lines)
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string
    const close = fences.closeOf(at)
    if (close !== undefined) at = close
    else if (heading === undefined) {
      if (line.trimEnd() === HEADING) heading = at
    } else if (/^ {0,3}#{1,2}(?:\s|$)/.test(line)) return { heading, end: at }
  }
  return heading === undefined ? undefined : { heading, end: lines.length }
}

/** Finds the ends of code blocks. One that is not closed is taken for text: else the section would be created again each time. */
function createFences(lines: readonly string[]): { closeOf(at: number): number | undefined } {
  /** By character: the shortest fence that is known to have no end. No longer one has an end further down, so it is not looked for again. */
  const open: Record<string, number> = {}
  return {
    closeOf(at) {
      const fence = /^ {0,3}(`{3,}|~{3,})/.exec(lines[at] as string)?.[1]
      if (fence === undefined) return undefined
      const char = fence.charAt(0)
      if (fence.length >= (open[char] ?? Number.POSITIVE_INFINITY)) return undefined
      const closing = char === "`" ? /^ {0,3}(`{3,})\s*$/ : /^ {0,3}(~{3,})\s*$/
      for (let next = at + 1; next < lines.length; next++) {
        const found = closing.exec(lines[next] as string)?.[1]
        if (found !== undefined && found.length >= fence.length) return next
      }
      open[char] = fence.length
      return undefined
    },
  }
}

function isBlank(line: string): boolean {
  return line.trim() === ""
}
