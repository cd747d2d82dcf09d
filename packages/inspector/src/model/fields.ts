/** Reads values of unknown shape: a log may hold anything in any field. */
import { type Fields, isObject } from "@sessions/core/format"

export { type Fields, isObject }

/** The object itself, or one without fields. */
export function fieldsOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
