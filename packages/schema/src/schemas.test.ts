import { Ajv2020 } from "ajv/dist/2020.js"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type * as z from "zod"
import { headerProblem } from "../../core/src/format/header.ts"
import { blockProblem, messageProblem } from "../../core/src/format/message.ts"
import { entryProblem } from "../../core/src/format/entry-problems.ts"
import { holds } from "../../core/test/property.ts"
import * as any from "../../core/test/records.ts"
import { mutate, mutations } from "../test/mutations.ts"
import {
  blockSchema,
  entrySchema,
  entrySchemas,
  headerSchema,
  jsonSchemas,
  messageSchema,
  sessionInfoSchema,
} from "./index.ts"

const RUNS = 800
const ajv = new Ajv2020({ strict: false, schemas: Object.values(jsonSchemas()) })

type Kind = readonly [
  name: string,
  records: fc.Arbitrary<object>,
  problem: (record: unknown) => string | undefined,
  schema: z.ZodType,
]
const KINDS: readonly Kind[] = [
  ["header", any.header, headerProblem, headerSchema],
  ["entry", any.entry, entryProblem, entrySchema],
  ["message", any.message, messageProblem, messageSchema],
  ["block", any.block, blockProblem, blockSchema],
]

test.each(KINDS)("checks, zod and JSON Schema agree on records with up to two random changes: %s", (...kind) => {
  const [, records, problem] = kind
  let tried = 0
  let accepted = 0
  holds(
    fc.property(records, mutations, (record, changes) => {
      tried++
      const value = changes.reduce<unknown>(mutate, record)
      expect(disagreement(kind, value)).toBeUndefined()
      if (problem(value) === undefined) accepted++
    }),
    RUNS,
  )
  // Both verdicts occur often.
  expect(accepted).toBeGreaterThan(tried * 0.1)
  expect(accepted).toBeLessThan(tried * 0.9)
})

/** The three verdicts on a value, if they differ. */
function disagreement([name, , problem, schema]: Kind, value: unknown): string | undefined {
  const found = problem(value)
  const verdicts = [found === undefined, schema.safeParse(value).success, ajv.validate(`${name}.json`, value)]
  return new Set(verdicts).size > 1 ? JSON.stringify({ verdicts, found, value }) : undefined
}

test.each(KINDS)("zod keeps every field of random records: %s", (_, records, __, schema) => {
  holds(
    fc.property(records, (record) => {
      // zod leaves this key out of its output, see common.ts.
      fc.pre(!JSON.stringify(record).includes("__proto__"))
      expect(schema.parse(record)).toEqual(record)
    }),
    300,
  )
})

test("the error for an entry of a known type names the wrong field", () => {
  const entry = { type: "label", id: "a", parentId: null, seq: 1, timestamp: "", targetId: 5 }
  const { error } = entrySchema.safeParse(entry)
  expect(JSON.stringify(error?.issues)).toContain('"targetId"')
  expect(JSON.stringify(entrySchemas.label.safeParse(entry).error?.issues)).toContain('"targetId"')
})

test("the schema of session information accepts and refuses these", () => {
  const info = {
    id: "s",
    createdAt: "2026-01-31T09:30:00.000Z",
    lastMessageAt: "2026-01-31T09:30:00.000Z",
    updatedAt: "2026-01-31T09:30:00.000Z",
    messageCount: 0,
    source: "interactive",
    metadata: { any: [1] },
    metrics: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, calls: 0 },
    bytes: 120,
    parts: [{ from: 0, bytes: 120 }],
  }
  for (const [fields, accepted] of [
    [{}, true],
    [{ title: "t", titleSource: "user", model: { provider: "p", model: "m" }, later: 1 }, true],
    [{ parentSession: { id: "p", entryId: "e" }, incomplete: true }, true],
    [{ openTips: { tips: [{ seq: 2, id: "e2" }], more: 1 } }, true],
    [{ openTips: { tips: ["e2"] } }, false],
    [{ messageCount: -1 }, false],
    [{ source: "me" }, false],
    [{ metrics: {} }, false],
    [{ parts: [{ from: 0 }] }, false],
    [{ updatedAt: 5 }, false],
  ] as const) {
    expect({ fields, accepted: sessionInfoSchema.safeParse({ ...info, ...fields }).success }).toEqual({
      fields,
      accepted,
    })
    expect({ fields, accepted: ajv.validate("session-info.json", { ...info, ...fields }) }).toEqual({
      fields,
      accepted,
    })
  }
})
