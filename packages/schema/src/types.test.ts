/** The types that zod infers are the types of core, field by field: a field added to one side alone fails `typecheck`. */
import type * as core from "@sessions/core"
import type * as format from "@sessions/core/format"
import type * as storage from "@sessions/core/storage"
import { expectTypeOf } from "expect-type"
import { test } from "vitest"
import type * as z from "zod"
import type { Differing } from "../test/differing.ts"
import type { modelRef, parentSession, usage } from "./common.ts"
import type { attachment, block, blocks, message, roles } from "./content.ts"
import type { entries, entry, state } from "./entries.ts"
import type { header, origin } from "./header.ts"
import type { blockSchema, EntrySchemas, entrySchema, headerSchema, messageSchema, sessionInfoSchema } from "./index.ts"
import type { metrics, part, sessionInfo } from "./info.ts"

/** Compiles if no field differs; otherwise the error names the fields. */
type NoneOf<Fields extends never> = Fields

/** The fields that differ between schemas and types of the same names, as `name.field`. */
type DifferingByName<Schemas, Types> = {
  [Name in string & (keyof Schemas | keyof Types)]: Name extends keyof Schemas & keyof Types
    ? `${Name}.${Differing<z.output<Schemas[Name]>, Types[Name]> & string}`
    : Name
}[string & (keyof Schemas | keyof Types)]

type Blocks = { [T in format.KnownBlock["type"]]: Extract<format.KnownBlock, { readonly type: T }> }
type Roles = { [R in core.ModelMessage["role"]]: Extract<core.ModelMessage, { readonly role: R }> }
type Entries = { [T in core.EntryType]: Extract<core.KnownEntry, { readonly type: T }> }

test("every record has the same fields in zod and in core", () => {
  expectTypeOf<NoneOf<Differing<z.output<typeof header>, core.Header>>>().toBeNever()
  expectTypeOf<NoneOf<DifferingByName<typeof entries, Entries>>>().toBeNever()
  expectTypeOf<NoneOf<DifferingByName<typeof roles, Roles>>>().toBeNever()
  expectTypeOf<NoneOf<DifferingByName<typeof blocks, Blocks>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof sessionInfo>, core.SessionInfo>>>().toBeNever()
})

test("unions of known and unknown records have the same members", () => {
  expectTypeOf<NoneOf<Differing<z.output<typeof entry>, core.Entry>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof message>, core.Message>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof block>, core.ContentBlock>>>().toBeNever()
})

test("what records hold has the same fields in zod and in core", () => {
  expectTypeOf<NoneOf<Differing<z.output<typeof usage>, core.Usage>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof modelRef>, core.ModelRef>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof parentSession>, core.ParentSession>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof attachment>, core.Attachment>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof state>, format.ContextState>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof origin>, format.Origin>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof metrics>, core.SessionMetrics>>>().toBeNever()
  expectTypeOf<NoneOf<Differing<z.output<typeof part>, storage.PartInfo>>>().toBeNever()
})

test("the comparison names a field that differs, at any depth and in any member of a union", () => {
  interface Two {
    readonly a: string
    readonly b?: number
    readonly [key: string]: unknown
  }
  expectTypeOf<Differing<{ a: string; b?: number }, Two>>().toEqualTypeOf<never>()
  expectTypeOf<Differing<{ a: string }, Two>>().toEqualTypeOf<"b">()
  expectTypeOf<Differing<Two, { a: string }>>().toEqualTypeOf<"b">()
  expectTypeOf<Differing<{ a: string; b: number }, Two>>().toEqualTypeOf<"b">()
  expectTypeOf<Differing<{ a: string; b?: unknown }, Two>>().toEqualTypeOf<"b">()
  expectTypeOf<Differing<{ in: { of: Two[] } }, { in: { of: { a: string }[] } }>>().toEqualTypeOf<"in">()
  expectTypeOf<Differing<{ map: Record<string, Two> }, { map: Record<string, string> }>>().toEqualTypeOf<"map">()
  expectTypeOf<Differing<{ a: string } | { c: string }, Two | { c: string }>>().toEqualTypeOf<"b">()
  expectTypeOf<
    Differing<{ a: 1; b: 1 } | { a: 2; b: 2 }, { a: 1; b: 2 } | { a: 2; b: 1 }>
  >().toEqualTypeOf<"the members of the union">()
})

test("the public schemas give the types of core", () => {
  expectTypeOf<z.output<typeof headerSchema>>().toEqualTypeOf<core.Header>()
  expectTypeOf<z.output<typeof entrySchema>>().toEqualTypeOf<core.Entry>()
  expectTypeOf<z.output<typeof messageSchema>>().toEqualTypeOf<core.Message>()
  expectTypeOf<z.output<typeof blockSchema>>().toEqualTypeOf<core.ContentBlock>()
  expectTypeOf<z.output<typeof sessionInfoSchema>>().toEqualTypeOf<core.SessionInfo>()
  expectTypeOf<{ [T in core.EntryType]: z.output<EntrySchemas[T]> }>().toEqualTypeOf<Entries>()
  expectTypeOf<keyof EntrySchemas>().toEqualTypeOf<core.EntryType>()
})
