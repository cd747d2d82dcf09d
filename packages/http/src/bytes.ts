/** Reads a body, and joins its pieces. */

/** The bytes of a body. `alive` is called with each piece. */
export async function bytesOf(response: Response, alive: () => void): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  const reader = response.body?.getReader()
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    alive()
    pieces.push(step.value)
  }
  return joined(pieces)
}

export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}
