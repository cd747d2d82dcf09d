/** Random changes of records. */
import * as fc from "fast-check"
import * as any from "../../core/test/records.ts"

/** A change of one field of a record; `at`, modulo their number, is the index of the field among all fields, nested ones included. */
export interface Mutation {
  readonly at: number
  readonly kind: "replace" | "remove" | "add" | "swap"
  /** With `add`. */
  readonly key?: string
  /** With `add` and `replace`. */
  readonly value?: unknown
}

export const mutations: fc.Arbitrary<readonly Mutation[]> = fc.array(
  fc.record({
    at: fc.nat({ max: 1_000 }),
    kind: fc.constantFrom<Mutation["kind"][]>("replace", "replace", "remove", "add", "swap"),
    key: fc.oneof(any.key, fc.constantFrom("role", "attachments", "cost", "total", "blobs", "text", "ref")),
    value: fc.oneof(any.json, fc.constantFrom(-1, 0.5, "", "session", "user", 2 ** 53, {}, []), any.block),
  }),
  { minLength: 0, maxLength: 2 },
)

export function mutate(record: unknown, { at, kind, key = "", value }: Mutation): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(record))
  const fields = fieldsIn(copy)
  const field = fields[at % fields.length]
  if (field === undefined) return value
  const [holder, name] = field
  const other = fields[(at * 7) % fields.length]?.[1]
  if (kind === "remove" && !Array.isArray(holder)) delete holder[name]
  else define(holder, kind === "add" && !Array.isArray(holder) ? key : name, kind === "swap" ? other : value)
  return copy
}

type Holder = Record<string, unknown>

function fieldsIn(value: unknown): (readonly [Holder, string])[] {
  if (typeof value !== "object" || value === null) return []
  const holder = value as Holder
  return Object.keys(holder).flatMap((name) => [[holder, name] as const, ...fieldsIn(holder[name])])
}

function define(holder: Holder, name: string, value: unknown): void {
  Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true })
}
