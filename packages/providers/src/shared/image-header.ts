/** What the first bytes of an image say: its type, and its sides. Providers look there, and refuse an image that is not what it is called. */

/** In base64: PNG, JPEG and GIF by their first bytes, WebP by the form type behind `RIFF` and the length, HEIC by the brands of its file type box. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^iVBORw0KGgo/, "image/png"],
  [/^\/9j\//, "image/jpeg"],
  [/^R0lGOD[dl]h/, "image/gif"],
  [/^UklGR.{6}XRUJQ/, "image/webp"],
  [/^AAAA.GZ0eXB(?:oZ[WX]|taWYx)/, "image/heic"],
]

/** Undefined if it is none of PNG, JPEG, GIF, WebP and HEIC. */
export function typeOf(base64: string): string | undefined {
  return BEGINNINGS.find(([beginning]) => beginning.test(base64))?.[1]
}

/** Width and height in pixels of a PNG, JPEG, GIF or WebP; undefined if the data does not say. */
export function sidesOf(base64: string): readonly [number, number] | undefined {
  try {
    return SIDES[typeOf(base64) ?? ""]?.(base64)
  } catch {
    // No base64.
    return undefined
  }
}

type Sides = readonly [number, number]

const SIDES: Readonly<Record<string, (base64: string) => Sides | undefined>> = {
  "image/png": (base64) => {
    const head = bytesAt(base64, 0, 24)
    return head.length < 24 ? undefined : [bigEndian(head, 16, 4), bigEndian(head, 20, 4)]
  },
  "image/gif": (base64) => {
    const head = bytesAt(base64, 0, 10)
    return head.length < 10 ? undefined : [littleEndian(head, 6, 2), littleEndian(head, 8, 2)]
  },
  "image/webp": webpSides,
  "image/jpeg": jpegSides,
}

/** The three kinds of WebP: lossy (RFC 6386, 9.1), lossless (14 bits a side behind the signature 0x2f), and extended (24 bits a side). */
function webpSides(base64: string): Sides | undefined {
  const head = bytesAt(base64, 0, 30)
  if (head.length < 30) return undefined
  const kind = String.fromCharCode(...head.subarray(12, 16))
  if (kind === "VP8 ") return [littleEndian(head, 26, 2) & 0x3fff, littleEndian(head, 28, 2) & 0x3fff]
  if (kind === "VP8X") return [littleEndian(head, 24, 3) + 1, littleEndian(head, 27, 3) + 1]
  if (kind !== "VP8L") return undefined
  const bits = littleEndian(head, 21, 4)
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1]
}

/** The sides stand in the frame header, behind segments of any length, such as a thumbnail. */
function jpegSides(base64: string): Sides | undefined {
  for (let at = 2; at * 4 < base64.length * 3; ) {
    const [fill, marker = 0, ...rest] = bytesAt(base64, at, 9)
    if (fill !== 0xff) return undefined
    // SOF0 to SOF15 without the tables DHT, JPG and DAC (ITU T.81, table B.1).
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return rest.length < 7 ? undefined : [bigEndian(rest, 5, 2), bigEndian(rest, 3, 2)]
    // Fill bytes may stand before a marker.
    at += marker === 0xff ? 1 : 2 + bigEndian(rest, 0, 2)
  }
  return undefined
}

/** Three bytes are four characters. */
function bytesAt(base64: string, at: number, length: number): Uint8Array {
  const first = Math.floor(at / 3)
  const last = Math.ceil((at + length) / 3)
  const text = atob(base64.slice(first * 4, last * 4))
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  return bytes.subarray(at - first * 3, at - first * 3 + length)
}

function bigEndian(bytes: ArrayLike<number>, at: number, length: number): number {
  let value = 0
  for (let i = 0; i < length; i++) value = value * 256 + (bytes[at + i] ?? 0)
  return value
}

function littleEndian(bytes: ArrayLike<number>, at: number, length: number): number {
  let value = 0
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes[at + i] ?? 0)
  return value
}
