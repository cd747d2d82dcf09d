/**
 * Schemas that several records share, and two functions that build schemas: `mapOf` and `byName`.
 *
 * Objects keep unknown fields. An optional field may be missing but is never `undefined`, which JSON does not have. zod leaves an
 * object's own key `__proto__` out of its output, so a caller that writes a record again must write the one that was checked.
 *
 * No schema here has a type annotation: the tests compare the inferred types with the types of `@sessions/core`.
 */
import * as z from "zod"

/** A seq, a number of lines or a number of bytes. */
export const count = z.int().min(0)

export const usage = z.looseObject({
  input: z.number().exactOptional(),
  output: z.number().exactOptional(),
  cacheRead: z.number().exactOptional(),
  cacheWrite: z.number().exactOptional(),
  totalTokens: z.number().exactOptional(),
  cost: z.union([z.number(), z.looseObject({ total: z.number().exactOptional() })]).exactOptional(),
})

export const modelRef = z.looseObject({ provider: z.string(), model: z.string() })

export const parentSession = z.union([
  z.looseObject({ id: z.string(), entryId: z.string().exactOptional() }),
  z.looseObject({ ref: z.string() }),
])

/** A name with the namespace of its owner, such as `acme:note`. */
export type Namespaced = `${string}:${string}`

/** An object used as a map: any keys, values of one schema. */
export function mapOf<Value extends z.ZodType>(value: Value): z.ZodType<Record<string, z.output<Value>>> {
  // z.record skips the key `__proto__`, which may be a file name here, so its value is checked separately.
  const withProto = z.unknown().refine((map) => {
    const own = typeof map === "object" && map !== null && Object.hasOwn(map, "__proto__")
    return !own || value.safeParse((map as { __proto__: unknown })["__proto__"]).success
  })
  return withProto.pipe(z.record(z.string(), value))
}

/**
 * Selects one of the known schemas by the field `field`, or the open schema for a name that is neither known nor reserved. A record
 * with a known name and other wrong fields is refused; it does not pass as an unknown one. Names without a namespace pass too, because logs
 * have them, but the type has only `OtherName`, so that it tells the known schemas apart.
 */
export function byName<
  Known extends Readonly<Record<string, z.ZodObject>>,
  Open extends z.ZodType,
  OtherName extends string = Namespaced,
>(
  field: string,
  known: Known,
  open: (name: z.ZodType<OtherName>) => Open,
  reserved: readonly string[] = [],
): z.ZodType<z.output<Known[keyof Known]> | z.output<Open>> {
  const names = [...Object.keys(known), ...reserved]
  const otherName = z
    .string()
    .refine((name) => !names.includes(name), {
      error: "is a known name, but other fields are wrong",
      // Without it zod takes this schema for the closest match, and does not report the wrong fields.
      abort: true,
    })
    .meta({ not: { enum: names } })
  const named = Object.values(known) as unknown as readonly [z.ZodObject, ...z.ZodObject[]]
  return z.union([
    z.discriminatedUnion(field, named),
    open(otherName as unknown as z.ZodType<OtherName>),
  ]) as unknown as z.ZodType<z.output<Known[keyof Known]> | z.output<Open>>
}
