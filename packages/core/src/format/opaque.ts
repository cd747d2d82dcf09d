/** Blocks that must stay as they came, to the last character. */

/** Whether an object is a block that its provider checks: `signature`, `thinkingSignature`, `encrypted_content`, a redacted thought. */
export function isOpaque(holder: object): boolean {
  if (Array.isArray(holder)) return false
  const { type, redacted } = holder as { type?: unknown; redacted?: unknown }
  if (type === "redacted_thinking" || redacted === true) return true
  return Object.entries(holder).some(
    ([key, value]) => typeof value === "string" && value !== "" && /signature$|^encrypted/i.test(key),
  )
}
