import { expect, test } from "vitest"
import { entry, header, message } from "../../../test/older-logs.ts"
import type { LogRecord } from "../../format/line.ts"
import type { OlderLog } from "./log.ts"
import { migrateV2ToV3 } from "./v2-to-v3.ts"

const log = (...records: object[]): OlderLog => ({ header: header(2) as LogRecord, records: records as LogRecord[] })

test("the role hookMessage is custom, and everything else of the message stays", () => {
  const hook = { role: "hookMessage", content: "hi", customType: "n", display: true, x_unknown: 1 }
  const input = log(entry("message", "a", null, { message: hook }))
  const before = structuredClone(input)
  const { log: result, diagnostics } = migrateV2ToV3(input)
  expect(result.records).toEqual([entry("message", "a", null, { message: { ...hook, role: "custom" } })])
  expect(result.header).toEqual(header(3))
  expect(diagnostics).toEqual([])
  expect(input).toEqual(before)
})

test("other roles, other types and what is no message are left as they are", () => {
  const records = [
    message("a", null),
    entry("custom", "b", "a", { message: { role: "hookMessage" } }),
    entry("message", "c", "b", { message: "hookMessage" }),
    { raw: '{"role":"hookMessage"}' },
  ]
  expect(migrateV2ToV3(log(...records)).log.records).toEqual(records)
})
