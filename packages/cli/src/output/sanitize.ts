/**
 * Makes text from a session log safe for a terminal. The text is untrusted: an escape sequence in it could rewrite the screen, and a
 * bidirectional control character could make a line read differently.
 */

/** C0, DEL, C1 and the bidirectional control characters. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** One line: line breaks and tabs become spaces, other control characters a visible replacement. */
export function sanitizeLine(text: string): string {
  return text.replace(/\r?\n|[\r\t\u2028\u2029]/g, " ").replace(UNSAFE, visible)
}

/** The sanitized lines of a text; tabs become two spaces. */
export function sanitizeLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => sanitizeLine(line.replaceAll("\t", "  ")))
}

/** Escapes the control characters that `JSON.stringify` leaves as they are: all but C0. The value stays the same. */
export function sanitizeJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (char) => `\\u${hex(char)}`)
}

function visible(char: string): string {
  const code = char.charCodeAt(0)
  if (code < 0x20) return String.fromCharCode(0x2400 + code)
  return code === 0x7f ? "\u2421" : `\\u${hex(char)}`
}

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, "0")
}
