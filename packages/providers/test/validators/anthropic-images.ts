/** Images as Anthropic's API takes them: base64 of four types, with sides that are limited. */
import type { Check } from "./shapes.ts"

export const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"] as const

export const BASE64: Check = (value, path, report) => {
  if (typeof value !== "string") return report.at("type", path, { expected: "a valid string" })
  if (value === "" || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value))
    report.refuse("image_base64", `${path}: Invalid base64 data`)
}

/** The first bytes of each type. */
const STARTS: readonly (readonly [type: string, start: RegExp])[] = [
  ["image/png", /^\x89PNG\r\n\x1a\n/],
  ["image/jpeg", /^\xff\xd8\xff/],
  ["image/gif", /^GIF8[79]a/],
  ["image/webp", /^RIFF[^]{4}WEBP/],
]

/** The type that the data has; undefined of what is none of those. */
export function typeOf(data: string): string | undefined {
  const head = Buffer.from(data.slice(0, 32), "base64").toString("latin1")
  return STARTS.find(([, start]) => start.test(head))?.[0]
}

/** The longer side of a PNG, from its header; 0 of other files. */
export function sideOf(data: string): number {
  const head = Buffer.from(data.slice(0, 32), "base64").toString("latin1")
  if (!head.startsWith("\x89PNG\r\n\x1a\n") || head.length < 24) return 0
  const at = (offset: number) => [0, 1, 2, 3].reduce((sum, i) => sum * 256 + head.charCodeAt(offset + i), 0)
  return Math.max(at(16), at(20))
}
