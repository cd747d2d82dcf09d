/** Records made from the zod schemas themselves, so that no field can be forgotten, and every single change of a record. */
import type * as z from "zod"

/**
 * Valid values of a schema. Together they have every field of every member of every union, and every name of an enum. Arrays hold
 * one item of each kind, maps have the key `__proto__` too.
 */
export function samplesOf(schema: object): unknown[] {
  const { def } = schema as { def: Definition }
  switch (def.type) {
    case "object":
      return objectsOf(def.shape)
    case "optional":
      return samplesOf(def.innerType)
    case "nullable":
      return [...samplesOf(def.innerType), null]
    case "array":
      return [samplesOf(def.element)]
    case "union":
      return def.options.flatMap(samplesOf)
    case "literal":
      return [...def.values]
    case "enum":
      return Object.values(def.entries)
    case "record":
      return [Object.fromEntries(["a b", "__proto__"].map((key) => [key, samplesOf(def.valueType)[0]]))]
    case "pipe":
      return samplesOf(def.out)
    case "string":
    case "unknown":
      return ["x"]
    case "number":
      return [1]
    case "boolean":
      return [true]
  }
  throw new Error(`samplesOf does not know this definition: ${JSON.stringify(def)}`)
}

/** The definitions that the schemas of records use. */
type Definition = Extract<z.core.$ZodTypes["_zod"]["def"], { type: DefinitionType }>
type DefinitionType =
  | ("object" | "optional" | "nullable" | "array" | "union" | "literal" | "enum")
  | ("record" | "pipe" | "string" | "unknown" | "number" | "boolean")

/** One object with the first sample of each field, then one for each further sample of a field. */
function objectsOf(shape: z.core.$ZodLooseShape): object[] {
  const fields = Object.entries(shape).map(([key, schema]) => [key, samplesOf(schema)] as const)
  const whole = Object.fromEntries(fields.map(([key, samples]) => [key, samples[0]]))
  return [whole, ...fields.flatMap(([key, [, ...others]]) => others.map((sample) => ({ ...whole, [key]: sample })))]
}

/** The keys that lead to a field. */
export type Path = readonly string[]

/** The paths of all fields, items and map values of a record, and `[]`, the record itself. */
export function pathsIn(value: unknown): Path[] {
  const below = isHolder(value) ? Object.keys(value) : []
  return [[], ...below.flatMap((key) => pathsIn((value as Holder)[key]).map((path) => [key, ...path]))]
}

/** The paths that a check reads in a record, also those that the record does not have. */
export function pathsReadBy(check: (record: unknown) => unknown, record: unknown): Path[] {
  const paths: Path[] = []
  const spy = (value: unknown, path: Path): unknown => {
    if (!isHolder(value)) return value
    return new Proxy(value, {
      get(target, key) {
        const field = Reflect.get(target, key) as unknown
        if (typeof key === "symbol" || (Array.isArray(target) && !/^\d+$/.test(key))) return field
        paths.push([...path, key])
        return spy(field, [...path, key])
      },
    })
  }
  check(spy(record, []))
  return paths
}

/** A copy of a record with another value at a path. */
export function withValue(record: unknown, path: Path, value: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const copy = copyOf(record as Holder)
  // Not by assignment, which would take `__proto__` for the prototype.
  Object.defineProperty(copy, key, {
    value: withValue(copy[key], rest, value),
    enumerable: true,
    writable: true,
    configurable: true,
  })
  return copy
}

/** A copy of a record without the field or item at a path. */
export function without(record: unknown, path: Path): unknown {
  const [above, key] = [path.slice(0, -1), path.at(-1)]
  const holder = valueAt(record, above) as Holder
  const others = Object.entries(holder).filter(([name]) => name !== key)
  const copy: unknown = Array.isArray(holder) ? others.map(([, item]) => item) : Object.fromEntries(others)
  return withValue(record, above, copy)
}

export function valueAt(record: unknown, path: Path): unknown {
  return path.reduce((value, key) => (value as Holder | undefined)?.[key], record)
}

type Holder = Record<string, unknown>

function isHolder(value: unknown): value is Holder {
  return typeof value === "object" && value !== null
}

function copyOf(holder: Holder): Holder {
  return Array.isArray(holder)
    ? ([...(holder as unknown[])] as unknown as Holder)
    : Object.fromEntries(Object.entries(holder))
}
