/** Reads a body, and joins its pieces. */

/** The bytes of a body. `alive` is called with each piece. */
export async function bytesOf(response: Response, alive: () => void): Promise<Uint8Array<ArrayBuffer>> {
  const pieces = collectPieces()
  const reader = response.body?.getReader()
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    alive()
    pieces.add(step.value)
  }
  return pieces.joined()
}

export interface Pieces {
  readonly length: number
  readonly add: (piece: Uint8Array) => void
  /** All that was added, in order. */
  readonly joined: () => Uint8Array<ArrayBuffer>
}

/** Shorter pieces are copied: an array of its own takes 200 bytes and more, so a body in pieces of one byte would take that for each byte. */
const LEAST = 1_024
const LARGEST_BLOCK = 65_536

/** Collects pieces in memory in proportion to their bytes, whatever their number. */
export function collectPieces(): Pieces {
  const parts: Uint8Array[] = []
  let length = 0
  /** Short pieces, of which those from `from` to `to` are not in `parts`. */
  let block = new Uint8Array(0)
  let from = 0
  let to = 0
  const flush = (): void => {
    if (to > from) parts.push(block.subarray(from, to))
    from = to
  }
  return {
    get length() {
      return length
    },
    add(piece) {
      length += piece.length
      if (piece.length >= LEAST) {
        flush()
        parts.push(piece)
        return
      }
      if (to + piece.length > block.length) {
        flush()
        block = new Uint8Array(Math.min(Math.max(2 * block.length, LEAST), LARGEST_BLOCK))
        from = to = 0
      }
      block.set(piece, to)
      to += piece.length
    },
    joined() {
      flush()
      const bytes = new Uint8Array(length)
      let at = 0
      for (const part of parts) {
        bytes.set(part, at)
        at += part.length
      }
      return bytes
    },
  }
}
