/**
 * Maps session ids and document names to file names. Two ids never share a folder, even on file systems that ignore case or reserve
 * names and characters (`CON`, `aux.x`, `a:b` on Windows): such ids are written in lower case behind `@<which letters were capital>@`, with
 * other characters for `:`, `@` and `~`. No id begins with `@`. The name of a trash or of a lock has a `~` or `@docs` behind that of its
 * session.
 */
import { isSessionId } from "@sessions/core/storage"

/** The random part of a name that this package makes, which `randomUUID` makes: names of other programs have another form. */
export const RANDOM_NAME = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/** Plain lower-case ids and canonical ULIDs keep their name. */
export function toFileName(id: string): string {
  if (ULID.test(id)) return id
  const lower = id.toLowerCase()
  if (lower === id && !REPLACED.test(id) && !ULID.test(id.toUpperCase()) && !isReserved(lower)) return id
  return `@${toCapitals(id)}@${exchanged(lower, REPLACED, REPLACEMENTS)}`
}

/** Undefined for a folder that belongs to no id; such folders are left alone. */
export function toSessionId(folder: string): string | undefined {
  // The ids that core makes; a listing decodes thousands of them.
  if (ULID.test(folder)) return folder
  const id = fromFileName(folder)
  return id !== undefined && isSessionId(id) ? id : undefined
}

/** The inverse of {@link toFileName}; undefined for a name that it never returns. */
export function fromFileName(name: string): string | undefined {
  const encoded = ENCODED.exec(name)
  const [, capitals = "", lower = ""] = encoded ?? []
  const id = encoded === null ? name : withCapitals(exchanged(lower, REPLACEMENT, ORIGINALS), capitals)
  return toFileName(id) === name ? id : undefined
}

const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/
const ENCODED = /^@([0-9a-v]*)@([a-z0-9._+=!,-]+)$/
const REPLACED = /[:@~]/
const REPLACEMENT = /[=!,]/
const REPLACEMENTS: Readonly<Record<string, string>> = { ":": "=", "@": "!", "~": "," }
const ORIGINALS: Readonly<Record<string, string>> = { "=": ":", "!": "@", ",": "~" }
/** Names of Windows devices, with any extension. */
const RESERVED = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/
const BITS = 5

function exchanged(text: string, from: RegExp, to: Readonly<Record<string, string>>): string {
  return from.test(text) ? Array.from(text, (letter) => to[letter] ?? letter).join("") : text
}

function isReserved(lower: string): boolean {
  return RESERVED.test(lower.split(".", 1)[0] ?? "")
}

/** One bit per character, 1 for a capital, five to a base-32 digit; trailing zeros are dropped. */
function toCapitals(id: string): string {
  let digits = ""
  for (let at = 0; at < id.length; at += BITS) {
    let digit = 0
    for (let i = 0; i < BITS; i++) digit = digit * 2 + (/[A-Z]/.test(id.charAt(at + i)) ? 1 : 0)
    digits += digit.toString(32)
  }
  return digits.replace(/0+$/, "")
}

function withCapitals(lower: string, digits: string): string {
  let id = ""
  for (let at = 0; at < lower.length; at++) {
    const digit = Number.parseInt(digits.charAt(Math.floor(at / BITS)) || "0", 32)
    const capital = ((digit >> (BITS - 1 - (at % BITS))) & 1) === 1
    id += capital ? lower.charAt(at).toUpperCase() : lower.charAt(at)
  }
  return id
}
