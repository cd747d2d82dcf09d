/** Escapes text from a session for a Markdown document, so that it cannot end, hide or restyle the text around it. */
import { textOf } from "../../format/stored-text.ts"

/** One line, with all Markdown syntax escaped. */
export function inlineText(text: string): string {
  return neutralized(text)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>#|~&]/g, "\\$&")
}

/** Keeps Markdown syntax, since most messages are Markdown, but closes an open fence and escapes HTML that would hide what follows. */
export function blockText(text: string): string {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of neutralized(text).split("\n")) {
    const { 1: mark = "", 2: rest = "" } = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (fence !== undefined) {
      lines.push(line)
      if (mark.startsWith(fence) && rest.trim() === "") fence = undefined
    } else {
      lines.push(mark === "" ? line.replaceAll(HIDING_HTML, "&lt;") : line)
      if (mark !== "" && !(mark.startsWith("`") && rest.includes("`"))) fence = mark
    }
  }
  if (fence !== undefined) lines.push(fence)
  return lines.join("\n").trim()
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

/** The start of a comment, a declaration, or a tag whose content is not read as Markdown or is folded away. */
const HIDING_HTML =
  /<(?=!--|!\[CDATA|\?|\/?(?:details|summary|script|style|pre|textarea|title|iframe|template|svg)\b)/gi

// C0 except tab and LF, DEL, C1, and the directional marks of Unicode.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
