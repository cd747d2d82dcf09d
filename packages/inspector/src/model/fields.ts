/** Reads values of unknown shape: a log may hold anything in any field. */

export type Fields = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** The object itself, or one without fields. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
