/**
 * Text that may come from a session log, made safe for a terminal. A title is anybody's text: raw, an escape sequence in it could
 * rewrite the screen, and a change of direction could make a line read as something else.
 */

/** C0, DEL, C1, and the marks that change the direction of what follows. */
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const UNSAFE_IN_JSON = /[\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** One line: breaks and tabs become spaces, other controls a visible stand-in. */
export function cleanLine(text: string): string {
  return text.replace(/\r?\n|[\r\t\u2028\u2029]/g, " ").replace(UNSAFE, visible)
}

/** Lines of a longer text, each clean; tabs become two spaces. */
export function cleanLines(text: string): string[] {
  return text.split(/\r?\n/).map((line) => cleanLine(line.replaceAll("\t", "  ")))
}

/** JSON text that means the same: JSON escapes the C0 controls itself, the others need it as much. */
export function cleanJson(json: string): string {
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
