/**
 * A text as it is, with the characters that change the order or the look of others shown by their numbers: what a person reads in a command
 * or a stored line is then what it has.
 */
import type { ComponentChild } from "preact"

/** Controls of direction, characters without a width, and controls but the tab and the ends of lines. */
const UNSEEN =
  /([\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff])/

export function verbatim(text: string): ComponentChild {
  const parts = text.split(UNSEEN)
  if (parts.length === 1) return text
  return parts.map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      <span key={index} class="unseen">
        U+{(part.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}
      </span>
    ),
  )
}
