/** How deep values are nested. Runtimes read any depth, and fail to write some thousand levels, each at another one. */

/** Levels of objects and lists that a record, a document or a request may have, itself included. */
export const MAX_DEPTH = 200

/** Whether a value has more levels than `most`, as JSON. It must be one that `JSON.stringify` takes, so it has no cycle. */
export function isDeep(value: unknown, most: number = MAX_DEPTH): boolean {
  if (typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === "function")
    return isDeep(JSON.parse(JSON.stringify([value])), most + 1)
  return Object(value) === value && (most === 0 || Object.values(value as object).some((one) => isDeep(one, most - 1)))
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
