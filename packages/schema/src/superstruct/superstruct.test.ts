import * as fc from "fast-check"
import type { Infer } from "superstruct"
import { expectTypeOf } from "expect-type"
import { expect, test } from "vitest"
import type * as z from "zod"
import type { ContentBlock, Entry, Header, Message, SessionInfo } from "@sessions/core"
import { holds } from "../../../core/test/property.ts"
import * as any from "../../../core/test/records.ts"
import { type Mutation, mutate, mutations, placesIn } from "../../test/mutations.ts"
import { blockSchema, entrySchema, headerSchema, messageSchema, sessionInfoSchema } from "../index.ts"
import { blockStruct, entryStruct, headerStruct, messageStruct, sessionInfoStruct } from "./index.ts"

const RUNS = 2_000

const info: fc.Arbitrary<object> = fc.record(
  {
    id: any.key,
    createdAt: fc.string(),
    lastMessageAt: fc.string(),
    updatedAt: fc.string(),
    messageCount: fc.nat(),
    title: fc.string(),
    titleSource: fc.constantFrom("user", "auto"),
    source: fc.constantFrom("interactive", "cron"),
    parentSession: fc.constantFrom({ id: "p", entryId: "e" }, { ref: "r" }),
    model: fc.constant({ provider: "p", model: "m" }),
    metadata: fc.dictionary(fc.string(), any.json),
    metrics: fc.constant({ input: 0, output: 0.5, cacheRead: 0, cacheWrite: 0, totalTokens: 0, calls: 0 }),
    bytes: fc.nat(),
    parts: fc.array(fc.record({ from: fc.nat(), bytes: fc.nat(), at: fc.string() }), { maxLength: 2 }),
    incomplete: fc.boolean(),
  },
  {
    requiredKeys: [
      "id",
      "createdAt",
      "lastMessageAt",
      "updatedAt",
      "messageCount",
      "source",
      "metadata",
      "metrics",
      "bytes",
      "parts",
    ],
  },
)

const PAIRS: readonly (readonly [
  name: string,
  records: fc.Arbitrary<object>,
  schema: z.ZodType,
  struct: { is(value: unknown): boolean },
])[] = [
  ["header", any.header, headerSchema, headerStruct],
  ["entry", any.entry, entrySchema, entryStruct],
  ["message", any.message, messageSchema, messageStruct],
  ["block", any.block, blockSchema, blockStruct],
  ["session information", info, sessionInfoSchema, sessionInfoStruct],
]

test.each(PAIRS)(
  "zod and superstruct accept the same, whatever changes in a record: %s",
  (_, records, schema, struct) => {
    let accepted = 0
    holds(
      fc.property(records, mutations, (record, changes) => {
        const value = changes.reduce<unknown>(mutate, record)
        const verdict = struct.is(value)
        expect({ value, accepted: verdict }).toEqual({ value, accepted: schema.safeParse(value).success })
        if (verdict) accepted++
      }),
      RUNS,
    )
    // Neither side of the rule goes unchecked.
    expect(accepted).toBeGreaterThan(RUNS * 0.1)
    expect(accepted).toBeLessThan(RUNS * 0.9)
  },
)

test.each(PAIRS)("zod and superstruct want the same of each single field: %s", (_, records, schema, struct) => {
  holds(
    fc.property(records, (record) => {
      const changes = placesIn(record).flatMap((_, at): Mutation[] => [
        { at, kind: "remove" },
        ...[null, true, 0.5, -1, 2 ** 53, "", "x", "session", [], {}].map(
          (value) => ({ at, kind: "replace", value }) as const,
        ),
      ])
      for (const change of changes) {
        const value = mutate(record, change)
        expect({ value, accepted: struct.is(value) }).toEqual({ value, accepted: schema.safeParse(value).success })
      }
    }),
    RUNS / 50,
  )
})

test("numbers that JSON cannot write are none, for both", () => {
  for (const size of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const block = { type: "file", path: "p", mimeType: "m", size }
    expect([blockStruct.is(block), blockSchema.safeParse(block).success]).toEqual([false, false])
  }
})

test("what a struct gives is the type of core", () => {
  expectTypeOf<Infer<typeof headerStruct>>().toEqualTypeOf<Header>()
  expectTypeOf<Infer<typeof entryStruct>>().toEqualTypeOf<Entry>()
  expectTypeOf<Infer<typeof messageStruct>>().toEqualTypeOf<Message>()
  expectTypeOf<Infer<typeof blockStruct>>().toEqualTypeOf<ContentBlock>()
  expectTypeOf<Infer<typeof sessionInfoStruct>>().toEqualTypeOf<SessionInfo>()
})
