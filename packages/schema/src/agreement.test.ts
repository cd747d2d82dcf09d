/**
 * The checks of core, the zod schemas and the JSON Schemas accept the same records. Every field of every record, also nested ones,
 * takes each wrong value once; the fields are those that the zod schemas have and those that the checks read.
 */
import { MAX_ATTACHMENTS } from "@sessions/core/format"
import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, test } from "vitest"
import type * as z from "zod"
import { usableState } from "../../core/src/context/state.ts"
import { headerProblem } from "../../core/src/format/header.ts"
import { blockProblem, messageProblem } from "../../core/src/format/message.ts"
import { entryProblem, isEntry, payloadProblem } from "../../core/src/format/entry-problems.ts"
import { type Path, pathsIn, pathsReadBy, samplesOf, valueAt, without, withValue } from "../test/samples.ts"
import { block, blocks, message, roles } from "./content.ts"
import { entries, entry, state } from "./entries.ts"
import { header } from "./header.ts"
import { sessionInfo } from "./info.ts"
import { jsonSchemas } from "./index.ts"

const jsonFiles = jsonSchemas()
const ajv = new Ajv2020({ strict: false, schemas: Object.values(jsonFiles) })

type Check = (record: unknown) => string | undefined
interface Kind {
  readonly name: string
  readonly schema: z.ZodType
  readonly check?: Check
}

const ENTRY: Kind = { name: "entry", schema: entry, check: entryProblem }
const KINDS: readonly Kind[] = [
  { name: "header", schema: header, check: headerProblem },
  ENTRY,
  { name: "message", schema: message, check: messageProblem },
  { name: "block", schema: block, check: blockProblem },
  // A stored state that this check refuses is projected again from the path.
  {
    name: "state",
    schema: state,
    check: (record) => (usableState(record) === undefined ? "It is refused." : undefined),
  },
  // Core makes session information and reads none from outside, so it has no check.
  { name: "session-info", schema: sessionInfo },
]

/** Every kind of JSON value, the limits of each, and names that are reserved or known somewhere else. */
const VALUES: readonly unknown[] = [
  [null, true, false, {}, { x: 1 }, [], [null], ["x"], [{}]],
  [0, -0, 1, -1, 0.5, -0.5, 1e300, 2 ** 53 - 1, 2 ** 53],
  ["", "x", "1", "NaN", "../x", "a..b", "\ud800", "x".repeat(128), "x".repeat(129)],
  ["session", "user", "text", "auto"],
].flat()
/** Not JSON, but a caller can append them. */
const NOT_JSON: readonly unknown[] = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]

interface Case {
  /** As `compaction.usage.cost`. */
  readonly field: string
  readonly path: Path
  readonly record: unknown
  /** Whether the record can be written as JSON. */
  readonly isJson: boolean
}

interface JudgedCase extends Case {
  /** Whether zod accepts the record. */
  readonly zod: boolean
}

const judged = new Map<Kind, readonly JudgedCase[]>()

/** Judged once: several tests need the verdicts of zod, which take most of the time. */
function judgedCasesOf(kind: Kind): readonly JudgedCase[] {
  const known = judged.get(kind)
  if (known !== undefined) return known
  const cases = Array.from(casesOf(kind), (one) => ({ ...one, zod: kind.schema.safeParse(one.record).success }))
  judged.set(kind, cases)
  return cases
}

/** Every record with one field changed, removed or added. */
function* casesOf({ name, schema, check }: Kind): Generator<Case> {
  const done = new Set<string>()
  for (const sample of samplesOf(schema)) {
    for (const path of allPaths(sample, check)) {
      const field = [nameOf(name, sample), ...path].join(".")
      const old = valueAt(sample, path)
      // Samples of the same type differ in one field, so most of their fields are done.
      const key = JSON.stringify([field, old])
      if (done.has(key)) continue
      done.add(key)
      const changed = (value: unknown, isJson = true): Case => {
        return { field, path, record: withValue(sample, path, value), isJson }
      }
      for (const value of [...VALUES, ...lengthsOf(old)]) yield changed(value)
      for (const value of NOT_JSON) yield changed(value, false)
      if (isObject(old)) yield changed({ ...old, unknown_field: { x: [null] } })
      if (old !== undefined && path.length > 0) yield { field, path, record: without(sample, path), isJson: true }
    }
  }
}

function allPaths(sample: unknown, check?: Check): readonly Path[] {
  const paths = [...pathsIn(sample), ...(check === undefined ? [] : pathsReadBy(check, sample))]
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()]
}

/** Arrays of the length that attachments may have, and of one more. */
function lengthsOf(value: unknown): unknown[] {
  if (!Array.isArray(value) || value.length === 0) return []
  return [MAX_ATTACHMENTS, MAX_ATTACHMENTS + 1].map((length) => Array.from({ length }, () => value[0] as unknown))
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function nameOf(kind: string, sample: unknown): string {
  const { type, role } = sample as { type?: string; role?: string }
  return (kind === "message" ? role : type) ?? kind
}

// Slow: entries have many fields, and the checks of each are written by hand.
test.each(KINDS)("checks, zod and JSON Schema agree on every value in every field: $name", (kind) => {
  const { name, check } = kind
  const found: unknown[] = []
  for (const { field, path, record, isJson, zod } of judgedCasesOf(kind)) {
    const verdicts = {
      zod,
      ...(check !== undefined && { check: check(record) === undefined }),
      ...(isJson && `${name}.json` in jsonFiles && { jsonSchema: ajv.validate(`${name}.json`, record) }),
    }
    if (new Set(Object.values(verdicts)).size > 1) found.push({ field, ...verdicts, value: valueAt(record, path) })
  }
  expect(found).toEqual([])
})

test("the samples are valid, and have every type, role and field", () => {
  for (const { schema } of KINDS) {
    for (const sample of samplesOf(schema)) expect(schema.safeParse(sample).error).toBeUndefined()
  }
  const names = (kind: string, schema: z.ZodType) => new Set(samplesOf(schema).map((sample) => nameOf(kind, sample)))
  expect(names("entry", entry)).toEqual(new Set([...Object.keys(entries), "x"]))
  expect(names("message", message)).toEqual(new Set([...Object.keys(roles), "x"]))
  expect(names("block", block)).toEqual(new Set([...Object.keys(blocks), "x"]))
})

/** The fields that the format leaves open: any JSON value. */
const OPEN: readonly string[] = [
  "custom_message.details",
  "compaction.details",
  "compaction.preserveData",
  "compaction.state.modeData",
  "branch_summary.details",
  "reset_boundary.state.modeData",
  "mode_change.data",
  "session_init.tools.0",
  "session_init.outputSchema",
  "custom.data",
  "state.modeData",
]

test("only open fields take any value", () => {
  const refuses = new Map<string, boolean>()
  for (const kind of KINDS) {
    for (const { field, zod } of judgedCasesOf(kind)) refuses.set(field, refuses.get(field) === true || !zod)
  }
  const open = [...refuses].filter(([, isChecked]) => !isChecked).map(([field]) => field)
  expect(open).toEqual([...OPEN, "session-info.metadata.a b", "session-info.metadata.__proto__"])
})

test("the checks read every field of the schemas but the open ones, and no other field", () => {
  for (const { name, schema, check } of KINDS) {
    if (check === undefined) continue
    const inSchema = new Set<string>()
    const inCheck = new Set<string>()
    for (const sample of samplesOf(schema)) {
      const fieldsAt = (paths: readonly Path[]) => paths.map((path) => [nameOf(name, sample), ...path].join("."))
      for (const field of fieldsAt(pathsIn(sample).slice(1))) inSchema.add(field)
      for (const field of fieldsAt(pathsReadBy(check, sample))) inCheck.add(field)
    }
    for (const field of OPEN) [inSchema, inCheck].forEach((fields) => fields.delete(field))
    expect([...inCheck].sort()).toEqual([...inSchema].sort())
  }
})

test.each(KINDS)("zod keeps unknown fields in every object: $name", ({ schema }) => {
  for (const sample of samplesOf(schema).map(withoutProto)) {
    for (const path of pathsIn(sample)) {
      const old = valueAt(sample, path)
      if (!isObject(old)) continue
      const record = withValue(sample, path, { ...old, unknown_field: { x: [null] } })
      const { data, success } = schema.safeParse(record)
      // A map's values have a schema, so the new key is refused there.
      if (success) expect(data).toEqual(record)
      else expect(`${path.join(".")} is a map`).toMatch(/^(blobs|files|(state\.)?models) is a map$/)
    }
  }
})

/** zod leaves the key `__proto__` out of its output. */
function withoutProto(record: unknown): unknown {
  return JSON.parse(JSON.stringify(record), (key, value: unknown) => (key === "__proto__" ? undefined : value))
}

test("payloadProblem checks every field of an entry but the common ones", () => {
  const found: unknown[] = []
  for (const { path, record, zod } of judgedCasesOf(ENTRY)) {
    if (path.length === 0) continue
    const expected = COMMON.has(path[0] as string) || zod
    if ((payloadProblem(record) === undefined) !== expected) found.push({ record, expected })
  }
  expect(found).toEqual([])
})

/** The session sets these. */
const COMMON: ReadonlySet<string> = new Set(["id", "parentId", "seq", "timestamp", "writtenAt", "blobs"])

test("isEntry, the only check when a log is read, checks type, id and parentId alone", () => {
  const found: unknown[] = []
  for (const { path, record } of judgedCasesOf(ENTRY)) {
    if (path.length === 0) continue
    const { type, id, parentId } = record as Record<string, unknown>
    const isName = typeof type === "string" && type !== "session"
    const expected = entry.safeParse({ type: isName ? "x" : type, id, parentId, seq: 1, timestamp: "" }).success
    if (isEntry(record) !== expected) found.push({ record, expected })
  }
  expect(found).toEqual([])
})
