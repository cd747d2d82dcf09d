/**
 * Objects here are loose: fields that a schema does not name are kept. (Only an object's own field `__proto__` is left out of what
 * zod gives back, so whoever writes a record on keeps the one that was checked.) What is optional may be missing; it is never
 * `undefined`, which JSON does not have.
 */
import type { ModelRef, ParentSession, Usage } from "@sessions/core"
import * as z from "zod"

/** A place or a length: a whole number from 0. */
export const count: z.ZodInt = z.int().min(0)

export const usage: z.ZodType<Usage> = z.looseObject({
  input: z.number().exactOptional(),
  output: z.number().exactOptional(),
  cacheRead: z.number().exactOptional(),
  cacheWrite: z.number().exactOptional(),
  totalTokens: z.number().exactOptional(),
  cost: z.union([z.number(), z.looseObject({ total: z.number().exactOptional() })]).exactOptional(),
})

export const modelRef: z.ZodType<ModelRef> = z.looseObject({ provider: z.string(), model: z.string() })

export const parentSession: z.ZodType<ParentSession> = z.union([
  z.looseObject({ id: z.string(), entryId: z.string().exactOptional() }),
  z.looseObject({ ref: z.string() }),
])

/** An object used as a map: any keys, values of one schema. */
export function mapOf<T>(value: z.ZodType<T>): z.ZodType<Record<string, T>> {
  // zod passes over the key `__proto__`; here it may be a file's name, and what stands there is checked like the rest.
  const everyKey = z.unknown().refine((map) => {
    const own = typeof map === "object" && map !== null && Object.hasOwn(map, "__proto__")
    return !own || value.safeParse((map as { __proto__: unknown })["__proto__"]).success
  })
  return everyKey.pipe(z.record(z.string(), value))
}

/**
 * One of the known schemas, told by the field that names it; where that has another name, the open one. A known name with the
 * rest wrong is no match: it does not pass as unknown. Nor does a reserved name.
 */
export function byName<Known, Open>(
  field: string,
  known: Readonly<Record<string, z.ZodType<Known>>>,
  open: (name: z.ZodType<string>) => z.ZodType<Open>,
  reserved: readonly string[] = [],
): z.ZodType<Known | Open> {
  const names = [...Object.keys(known), ...reserved]
  const otherName = z
    .string()
    .refine((name) => !names.includes(name), {
      error: "is a known name, and the rest is not what it asks for",
      // Else zod takes this for the closest match, and does not say what is wrong with the rest.
      abort: true,
    })
    .meta({ not: { enum: names } })
  const named = Object.values(known) as unknown as readonly [z.ZodObject, ...z.ZodObject[]]
  return z.union([z.discriminatedUnion(field, named), open(otherName)]) as z.ZodType<Known | Open>
}
