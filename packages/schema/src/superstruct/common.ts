/**
 * The parts that several records have. Objects are loose, as in the zod schemas: fields that are not named are let through. superstruct
 * knows neither `readonly` nor fields that may be missing but not `undefined`, so the types are core's, given by {@link typed}, and the
 * tests hold what is checked to the zod schemas.
 */
import type { ModelRef, ParentSession, Usage } from "@sessions/core"
import { define, dynamic, never, optional, record, string, type Struct, type, union } from "superstruct"

export type Check<T> = Struct<T, null>

export function typed<T>(struct: unknown): Check<T> {
  return struct as Check<T>
}

/** Not `number()` of superstruct, which takes what JSON cannot write. */
export const finite: Check<number> = typed(define("number", Number.isFinite))

/** A place or a length: a whole number from 0. */
export const count: Check<number> = typed(
  define("whole number from 0", (value) => Number.isSafeInteger(value) && (value as number) >= 0),
)

export const usage: Check<Usage> = typed(
  type({
    input: optional(finite),
    output: optional(finite),
    cacheRead: optional(finite),
    cacheWrite: optional(finite),
    totalTokens: optional(finite),
    cost: optional(union([finite, type({ total: optional(finite) })])),
  }),
)

export const modelRef: Check<ModelRef> = typed(type({ provider: string(), model: string() }))

export const parentSession: Check<ParentSession> = typed(
  union([type({ id: string(), entryId: optional(string()) }), type({ ref: string() })]),
)

const NONE: Check<unknown> = typed(never())

/** An object used as a map: any keys, values of one struct. */
export function mapOf<T>(value: Check<T>): Check<Record<string, T>> {
  return typed(record(string(), value))
}

/**
 * One of the known structs, told by the field that names it; where that has another name, the open one. A known name with the rest
 * wrong is no match, nor is a reserved name.
 */
export function byName<T>(
  field: string,
  known: Readonly<Record<string, Check<unknown>>>,
  open: Check<unknown>,
  reserved: readonly string[] = [],
): Check<T> {
  return typed(
    dynamic((value) => {
      const name = (value as Record<string, unknown> | null | undefined)?.[field]
      if (typeof name !== "string") return open
      if (reserved.includes(name)) return NONE
      return Object.hasOwn(known, name) ? (known[name] ?? open) : open
    }),
  )
}
