/** Escapes text from a session for a Markdown document, so that it cannot end, hide or restyle the text around it. */
import { textOf } from "../../format/stored-text.ts"

/** One line, with all Markdown syntax escaped. */
export function inlineText(text: string): string {
  return neutralized(text)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>#|~&]/g, "\\$&")
}

/**
 * Keeps Markdown syntax, since most messages are Markdown, but closes an open fence, and escapes HTML that would hide what follows and
 * headings that read like those of the document.
 */
export function blockText(text: string): string {
  const lines: string[] = []
  let fence: Fence | undefined
  // Where fences inside of a list or a quotation end depends on what is around them, so other indented ones are text.
  let isNested = false
  let isLoose = false
  let hasDot = false
  // Trimmed before: an indented line that the trimming moves to the left may be a fence.
  for (const line of neutralized(text).trim().split("\n")) {
    const { 1: indent = "", 2: mark = "", 3: rest = "" } = /^( *)(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (fence !== undefined) {
      const isEnd = mark.startsWith(fence.mark) && rest.trim() === "" && indent.length <= fence.indent.length + 3
      // In a list, a line that stands further to the left ends the item with its fence.
      const isLeft = line.trim() !== "" && !line.startsWith(fence.indent)
      if (!isEnd && !isLeft) {
        lines.push(line)
        continue
      }
      lines.push(`${fence.indent}${fence.mark}`)
      fence = undefined
      if (isEnd) continue
    }
    if (mark !== "" && isFence(indent, mark, rest, isNested)) {
      lines.push(line)
      fence = { indent, mark }
      isLoose = false
      continue
    }
    isNested ||= NESTED_FENCE.test(line)
    isLoose = line.trim() !== "" && (isLoose || !hasOnlyCode(line))
    const shown = isLoose ? line.replace(HTML_BLOCK, "$1&lt;").replaceAll(HIDING_HTML, "&lt;") : line
    lines.push(withoutHeading(shown, hasDot))
    hasDot = line.trim() !== "" && (hasDot || line.includes("·"))
  }
  if (fence !== undefined) lines.push(`${fence.indent}${fence.mark}`)
  return lines.join("\n")
}

interface Fence {
  readonly indent: string
  readonly mark: string
}

function isFence(indent: string, mark: string, rest: string, isNested: boolean): boolean {
  if (mark.startsWith("`") && rest.includes("`")) return false
  return indent === "" || (indent.length < 4 && !isNested)
}

/** Whether what looks like HTML in a line is in spans of code, which show an escape as it is. */
function hasOnlyCode(line: string): boolean {
  let at = 0
  for (;;) {
    const begin = line.indexOf("`", at)
    const between = line.slice(at, begin === -1 ? line.length : begin)
    if (/<[a-z/!?]/i.test(between) || (begin !== -1 && between.endsWith("\\"))) return false
    if (begin === -1) return true
    const [run = ""] = /^`+/.exec(line.slice(begin)) ?? []
    const end = new RegExp(`(?<!\`)${run}(?!\`)`).exec(line.slice(begin + run.length))
    if (end === null) return false
    at = begin + run.length + end.index + run.length
  }
}

/** The headings of the document have a role and a time behind a dot: a message could end with one, and with words that nobody said. */
function withoutHeading(line: string, isBehindDot: boolean): string {
  if (/^ {0,3}#{1,2}[ \t].*·/.test(line)) return line.replace("#", "\\#")
  return /^ {0,3}(?:-+|=+)[ \t]*$/.test(line) && isBehindDot ? line.replace(/[-=]/, "\\$&") : line
}

/** A timestamp of another form is shown as it is, a missing one as "no time". */
export function timeText(timestamp: unknown): string {
  const time = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(time)
    ? inlineText(textOf(timestamp)) || "no time"
    : `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Replaces characters that control a terminal or change the direction of text by visible ones. */
export function neutralized(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(CONTROLS, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? "\u2421" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
  })
}

/** The start of a comment, a declaration, or a tag whose content is not read as Markdown, is folded away, or is a heading. */
const HIDING_HTML =
  /<(?=!--|!\[CDATA|\?|\/?(?:details|summary|script|style|pre|textarea|title|iframe|template|svg|math|plaintext|xmp|noembed|noframes|noscript|select|object|video|audio|canvas|dialog|h[12])\b)/gi

/** What begins a block of HTML, in which a fence is none. An address in angle brackets begins none. */
const HTML_BLOCK = /^((?:\s|>|[-*+]|\d{1,9}[.)])*)<(?=[a-z/!?])(?![a-z][a-z0-9+.-]+:)/i

const NESTED_FENCE = /^\s*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)+(?:`{3,}|~{3,})/

// C0 except tab and LF, DEL, C1, and the directional marks of Unicode.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
