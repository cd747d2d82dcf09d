/**
 * The difference between two texts, as copies of the first and new text. A channel that holds the last messages of a conversation loses
 * its first and gains one at its end in each step, so neither a common prefix nor a common suffix is enough. As in rsync, the blocks of
 * the first text are found in the second by a rolling hash, and each match is extended to both sides.
 */

/** In order: new text, or `[start, length]` of a copy from the first text. */
export type Delta = readonly (string | readonly [start: number, length: number])[]

/** Shorter matches save nothing: a copy takes about 16 bytes. */
const BLOCK = 48
const BASE = 0x01000193
/** BASE to the power of BLOCK - 1: the factor of the character that leaves the block. */
const LEAVING = ((): number => {
  let power = 1
  for (let n = 1; n < BLOCK; n++) power = Math.imul(power, BASE)
  return power
})()

/** Undefined if the texts have no long common part. */
export function diff(from: string, to: string): Delta | undefined {
  if (from.length < BLOCK || to.length < BLOCK) return undefined
  const places = new Map<number, number>()
  for (let at = 0; at + BLOCK <= from.length; at += BLOCK) {
    const hash = hashAt(from, at)
    if (!places.has(hash)) places.set(hash, at)
  }
  const delta: (string | readonly [number, number])[] = []
  /** The end of the last copy in `to`. */
  let copied = 0
  let at = 0
  let hash = hashAt(to, 0)
  for (;;) {
    const place = places.get(hash)
    if (place !== undefined && from.startsWith(to.slice(at, at + BLOCK), place)) {
      let start = place
      while (start > 0 && at > copied && from.charCodeAt(start - 1) === to.charCodeAt(at - 1)) {
        start--
        at--
      }
      const length = commonLength(from, start, to, at)
      if (at > copied) delta.push(to.slice(copied, at))
      delta.push([start, length])
      at += length
      copied = at
      if (at + BLOCK > to.length) break
      hash = hashAt(to, at)
    } else {
      if (at + BLOCK >= to.length) break
      hash = Math.imul(hash - Math.imul(to.charCodeAt(at), LEAVING), BASE) + to.charCodeAt(at + BLOCK)
      hash |= 0
      at++
    }
  }
  if (delta.length === 0) return undefined
  if (copied < to.length) delta.push(to.slice(copied))
  return delta
}

export function patch(from: string, delta: Delta): string {
  let text = ""
  for (const part of delta) text += typeof part === "string" ? part : from.slice(part[0], part[0] + part[1])
  return text
}

function commonLength(from: string, start: number, to: string, at: number): number {
  const most = Math.min(from.length - start, to.length - at)
  let length = 0
  while (length < most && from.charCodeAt(start + length) === to.charCodeAt(at + length)) length++
  return length
}

function hashAt(text: string, at: number): number {
  let hash = 0
  for (let n = 0; n < BLOCK; n++) hash = (Math.imul(hash, BASE) + text.charCodeAt(at + n)) | 0
  return hash
}
