/** Text of others inside of a Markdown document: it may look as it likes, but not end or hide what is around it. */

/** On one line, with nothing that Markdown would read. */
export function inlineText(text: string): string {
  return neutralized(text)
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\\`*_[\]<>#|~&]/g, "\\$&")
}

/** As it is written, for Markdown is what most of it is: but a fence is closed, and HTML that swallows what follows is text. */
export function blockText(text: string): string {
  const lines: string[] = []
  let fence: string | undefined
  for (const line of neutralized(text).split("\n")) {
    const { 1: mark = "", 2: rest = "" } = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? []
    if (fence !== undefined) {
      lines.push(line)
      if (mark.startsWith(fence) && rest.trim() === "") fence = undefined
    } else {
      lines.push(mark === "" ? line.replaceAll(SWALLOWING, "&lt;") : line)
      if (mark !== "" && !(mark.startsWith("`") && rest.includes("`"))) fence = mark
    }
  }
  if (fence !== undefined) lines.push(fence)
  return lines.join("\n").trim()
}

export function timeText(timestamp: string): string {
  const time = Date.parse(timestamp)
  return Number.isNaN(time)
    ? inlineText(timestamp)
    : `${new Date(time).toISOString().slice(0, 19).replace("T", " ")} UTC`
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** Characters that move a terminal's cursor or turn the direction of text are shown, not sent. */
export function neutralized(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(CONTROLS, (character) => {
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    return code === 0x7f ? "\u2421" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`
  })
}

/** The start of a comment, a declaration, or a tag whose content is not read as Markdown or is folded away. */
const SWALLOWING = /<(?=!--|!\[CDATA|\?|\/?(?:details|summary|script|style|pre|textarea|title|iframe|template|svg)\b)/gi

// C0 but tab and LF, DEL, C1, and the marks of direction.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
