import type { StrictEqualUsingTSInternalIdenticalToOperator as Same } from "expect-type"

/**
 * `Differing` compares two record types field by field and gives the names of the fields that differ: present on one side only, of
 * another type, or optional on one side only; `never` if the types are equal. `readonly` is ignored, which zod does not have, and so is
 * an index signature beside named fields: every record may have unknown fields, and core declares that only where callers read them.
 */
export type Differing<A, B> = DifferingFields<Plain<A>, Plain<B>>

type DifferingFields<A, B> =
  Same<A, B> extends true ? never : OrUnion<FieldsThatDiffer<A, B, keyof Every<A> | keyof Every<B>>>

type FieldsThatDiffer<A, B, K> = K extends PropertyKey
  ? Same<Field<A, K>, Field<B, K>> extends true
    ? never
    : K
  : never

/** Two unions may have equal fields in members that differ. */
type OrUnion<Names> = [Names] extends [never] ? "the members of the union" : Names

/** A union's fields as one object. */
type Every<T> = { [K in T extends object ? keyof T : never]: unknown }

type Field<T, K extends PropertyKey> = T extends object ? (K extends keyof T ? Pick<T, K> : "missing") : T

type Plain<T> = T extends readonly (infer Item)[] ? Plain<Item>[] : T extends object ? PlainObject<T, Named<T>> : T

/** An object without named fields is a map. */
type PlainObject<T, N> = keyof N extends never ? { -readonly [K in keyof T]: Plain<T[K]> } : N

type Named<T> = { -readonly [K in keyof T as string extends K ? never : number extends K ? never : K]: Plain<T[K]> }
