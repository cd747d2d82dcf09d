/** How deep values are nested. Runtimes read any depth, and fail to write some thousand levels, each at another one. */

/** Levels of objects and lists that a record, a document or a request may have, itself included. */
export const MAX_DEPTH = 200

/** Whether a value has more levels than `most`, as JSON. It must be one that `JSON.stringify` takes, so it has no cycle. */
export function isDeep(value: unknown, most: number = MAX_DEPTH): boolean {
  // Every append asks: most values are texts and numbers, and a callback for each would take longer than the rest.
  if (typeof value !== "object" || value === null) return false
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return isDeep(JSON.parse(JSON.stringify([value])), most + 1)
  if (most === 0) return true
  for (const one of Array.isArray(value) ? value : Object.values(value)) if (isDeep(one, most - 1)) return true
  return false
}

/** Whether a text is JSON with more levels. */
export function isDeepJson(text: string): boolean {
  try {
    // Most texts have too few brackets.
    return text.split(/[[{]/, MAX_DEPTH + 2).length > MAX_DEPTH + 1 && isDeep(JSON.parse(text))
  } catch {
    return false
  }
}
