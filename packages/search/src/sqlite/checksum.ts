/** FNV-1a with 32 bits over the UTF-16 units of values. It finds a changed row; it is no protection against a person. */
export function checksum(...values: readonly (string | number | null)[]): number {
  let hash = 0x811c9dc5
  for (const value of values) {
    const text = String(value)
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
    // So that a unit cannot move from one value to the next.
    hash = Math.imul(hash ^ 0x1_0000, 0x01000193)
  }
  return hash >>> 0
}
