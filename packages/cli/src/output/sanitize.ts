/**
 * Makes text from a session log safe for a terminal. The text is untrusted: an escape sequence in it could rewrite the screen, and a
 * bidirectional control character could make a line read differently.
 */

/** C0, DEL, C1 and the bidirectional control characters. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
/** The same without line feeds, and with the line and paragraph separators, which some programs take for the end of a line. */
const UNSAFE_IN_JSON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** One line: line breaks and tabs become spaces, other control characters a visible replacement. */
export function sanitizeLine(text: string): string {
  return text.replace(/\r?\n|[\r\t\u2028\u2029]/g, " ").replace(UNSAFE, visible)
}

/** The sanitized lines of a text; tabs become two spaces. */
export function sanitizeLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => sanitizeLine(line.replaceAll("\t", "  ")))
}

/**
 * Escapes all control characters but line feeds, and U+2028 and U+2029, in lines of JSON and in damaged lines, which can have any
 * character. The value of a line of JSON stays the same: between its tokens a tab or carriage return becomes a space, and JSON has
 * no other C0 characters.
 */
export function sanitizeJson(text: string): string {
  return text.replace(UNSAFE_IN_JSON, (char) => (char === "\t" || char === "\r" ? " " : `\\u${hex(char)}`))
}

function visible(char: string): string {
  const code = char.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? "\u2421" : `\\u${hex(char)}`
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, "0")
}
