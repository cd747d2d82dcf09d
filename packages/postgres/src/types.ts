/**
 * How values are read: asked for with each statement, because an application may have set parsers of its own for a type (integers as BigInt,
 * bytes as texts), of its pool or of the whole process.
 */

/** The numbers of the types in every PostgreSQL. Others that the statements give are texts. */
const BOOL = 16
const BYTEA = 17
const INT8 = 20
const INT4 = 23

type Parse = (text: string) => unknown

const PARSERS: Readonly<Record<number, Parse>> = {
  [BOOL]: (text) => text === "t",
  [BYTEA]: toBytes,
  // A text, since it may be larger than a number is exact.
  [INT8]: (text) => text,
  [INT4]: Number,
}

/** The parsers in the form that `pg` takes with a statement. */
export const TYPES: { getTypeParser(oid: number): Parse } = {
  getTypeParser: (oid) => PARSERS[oid] ?? asIs,
}

/** The same for PGlite, whose texts are those of the server as well. */
export const PGLITE_OPTIONS: { readonly parsers: typeof PARSERS } = { parsers: PARSERS }

function asIs(text: string): string {
  return text
}

const BACKSLASH = 0x5c

/** In the format that `bytea_output` names: `\x` with digits, or the older one with octal numbers behind backslashes. */
function toBytes(text: string): Uint8Array {
  if (text.startsWith(String.raw`\x`)) return fromHex(text.slice(2))
  const bytes: number[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code !== BACKSLASH) bytes.push(code)
    else if (text.charCodeAt(at + 1) === BACKSLASH) bytes.push(text.charCodeAt(++at))
    else {
      bytes.push(Number.parseInt(text.slice(at + 1, at + 4), 8))
      at += 3
    }
  }
  return Uint8Array.from(bytes)
}

/** Runtimes with `Buffer`, which all that the driver runs on have, decode ten times as fast with it. */
function fromHex(digits: string): Uint8Array {
  const { Buffer } = globalThis as { Buffer?: { from(text: string, encoding: "hex"): Uint8Array } }
  if (Buffer !== undefined) return Buffer.from(digits, "hex")
  const bytes = new Uint8Array(digits.length / 2)
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(digits.slice(2 * at, 2 * at + 2), 16)
  return bytes
}
