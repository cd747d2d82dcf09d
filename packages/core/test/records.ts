/** Arbitrary records, complete and of every known type, with unknown fields and awkward keys among them. */
import * as fc from "fast-check"
import type { KnownBlock, ModelMessage } from "../src/format/message.ts"
import type { EntryType } from "../src/format/entry.ts"
import { FORMAT, type Header, VERSION } from "../src/format/header.ts"

type Fields = Record<string, unknown>

/** Strings that a careless codec changes: lone surrogates, line separators, texts that look like our markers. */
export const text: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "",
      "\ud800",
      "a\udc00b",
      "\u2028",
      "\ufeff",
      "\r",
      "\n",
      '","seq":1,"',
      `blob:sha256:${"0".repeat(64)}`,
    ),
  },
)

export const key: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("", "/", "~", "~1", "0", "12", "a/b", "__proto__", "constructor", "toJSON") },
  { weight: 2, arbitrary: fc.string({ maxLength: 6 }) },
  { weight: 1, arbitrary: fc.constantFrom("content", "data", "type", "seq", "id", "lineCount", "partialJson") },
)

/** Any value that survives JSON serialization unchanged. */
export const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    text,
    fc.constantFrom(null, true, false, 0, 1, -1.5, 1e21, 2 ** 53 - 1),
    fc.array(tie("value"), { maxLength: 3 }),
    object(tie("value")),
  ),
})).value

/** Not by assignment: `__proto__` is a key like any other. */
export function object(value: fc.Arbitrary<unknown>): fc.Arbitrary<Fields> {
  return fc.array(fc.tuple(key, value), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs))
}

export const count: fc.Arbitrary<number> = fc.nat({ max: 5000 })
export const number: fc.Arbitrary<number> = fc.oneof(count, fc.constantFrom(0.25, -1, 1e300))

/** An object with these fields, some of the optional ones, and some unknown ones, in any order. */
export function fields(
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<Fields> {
  const known = new Set([...Object.keys(required), ...Object.keys(optional)])
  const unknown = fc
    .option(object(json), { nil: {}, freq: 3 })
    .map((extra) => Object.entries(extra).filter(([name]) => !known.has(name) && !RESERVED.has(name)))
  return fc
    .tuple(fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) }), unknown, fc.boolean())
    .map(([own, extra, first]) => {
      const pairs = Object.entries(own)
      return Object.fromEntries(first ? [...extra, ...pairs] : [...pairs, ...extra])
    })
}

const RESERVED: ReadonlySet<string> = new Set(["type", "id", "parentId", "seq", "timestamp", "blobs", "toJSON"])

const strings = fc.array(text, { maxLength: 3 })
const boolean = fc.boolean()
const ulid = fc.constantFrom("01ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAW", "a1b2c3d4")

const blocks: Record<KnownBlock["type"], fc.Arbitrary<Fields>> = {
  text: fields({ type: fc.constant("text"), text }),
  thinking: fields({ type: fc.constant("thinking"), thinking: text }, { signature: text }),
  image: fields({ type: fc.constant("image"), data: text, mimeType: text }),
  file: fields({ type: fc.constant("file"), path: text, mimeType: text }, { filename: text, size: count }),
  toolCall: fields({ type: fc.constant("toolCall"), id: text, name: text, arguments: object(json) }),
}
const unknownBlock = fields({ type: fc.constantFrom("server_tool_use", "constructor", "") })
export const block: fc.Arbitrary<Fields> = fc.oneof(...Object.values(blocks), unknownBlock)

const content = fc.array(block, { maxLength: 3 })
const cost = fc.oneof(number, fields({}, { total: number }))
const usage = fields({}, { input: count, output: count, cacheRead: count, cacheWrite: count, totalTokens: count, cost })
const attachment = fields({ path: text, mimeType: text }, { filename: text, size: count })
const marks = { synthetic: boolean, summary: boolean, attachments: fc.array(attachment, { maxLength: 10 }) }

const roles: Record<ModelMessage["role"], fc.Arbitrary<Fields>> = {
  user: fields({ role: fc.constant("user"), content }, marks),
  system: fields({ role: fc.constant("system"), content }, marks),
  assistant: fields(
    { role: fc.constant("assistant"), content },
    { ...marks, provider: text, model: text, usage, stopReason: text },
  ),
  toolResult: fields(
    { role: fc.constant("toolResult"), content, toolCallId: text, isError: boolean },
    { ...marks, toolName: text },
  ),
}
const customRole = fields({ role: fc.constantFrom("bashExecution", "toString", "") }, { ...marks, content })
export const message: fc.Arbitrary<Fields> = fc.oneof(...Object.values(roles), customRole)

const modelRef = fields({ provider: text, model: text })
const mapTo = (value: fc.Arbitrary<unknown>) =>
  fc.array(fc.tuple(key, value), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs))
const state = fields(
  {
    thinkingLevel: text,
    models: mapTo(modelRef),
    modelIsExplicit: boolean,
    mode: text,
    injectedTtsrRules: strings,
  },
  { modeData: json, systemPromptOverride: text },
)

const payloads: Record<
  EntryType,
  readonly [Record<string, fc.Arbitrary<unknown>>, Record<string, fc.Arbitrary<unknown>>?]
> = {
  message: [{ message }],
  custom_message: [{ customType: text, content, display: boolean }, { details: json }],
  compaction: [
    { summary: text, firstKeptEntryId: ulid, tokensBefore: count, readFiles: strings, modifiedFiles: strings },
    {
      shortSummary: text,
      firstKeptSeq: count,
      tokensSummarized: count,
      summaryAs: fc.constantFrom("user", "pair"),
      details: json,
      preserveData: json,
      fromExtension: boolean,
      usage,
      system: fc.array(fields({ id: ulid, message: roles.system }), { maxLength: 2 }),
      state,
    },
  ],
  branch_summary: [
    { fromId: ulid, summary: text },
    { details: json, fromExtension: boolean, usage },
  ],
  context_edit: [{ targetId: ulid, replacement: fc.option(fields({ content })) }, { targetSeq: count }],
  tombstone: [{ targetId: ulid }, { targetSeq: count }],
  reset_boundary: [{}, { state }],
  model_change: [{ provider: text, model: text }, { role: text }],
  thinking_level_change: [{ thinkingLevel: text }],
  mode_change: [{ mode: text }, { data: json }],
  ttsr_injection: [{ injectedRules: strings }],
  session_init: [
    { systemPrompt: text, tools: fc.array(json, { maxLength: 2 }) },
    { task: text, outputSchema: json },
  ],
  label: [{ targetId: ulid }, { targetSeq: count, label: text }],
  title_change: [{ title: fc.option(text), source: fc.constantFrom("user", "auto") }],
  metadata: [{ key: text, value: json }],
  usage: [
    { kind: text, usage },
    { provider: text, model: text },
  ],
  file_snapshot: [{ messageId: ulid, files: mapTo(fields({ blob: fc.option(text), version: number })) }],
  leaf: [{}, { targetSeq: count, settles: strings }],
  context_refusal: [
    { kind: fc.constantFrom("tokens", "bytes", "images"), units: count, bytes: count },
    { provider: text, model: text, count, limit: count },
  ],
  context_step: [
    { step: fc.constantFrom("results", "images", "cut", "left_out", "failed", "end") },
    { provider: text, model: text, units: count, upTo: ulid, except: ulid, ids: strings, window: count },
  ],
  tool_policy: [{ never: strings, safe: strings }],
  tool_start: [
    { targetId: ulid, callId: text, call: count, toolName: text, attempt: count, key: text, run: text },
    { targetSeq: count, fence: count },
  ],
  fence: [{ fence: count }],
  custom: [{ customType: text }, { data: json }],
}

/** A payload of every known type, and of an unknown one. */
export const payload: fc.Arbitrary<Fields> = fc.oneof(
  ...Object.entries(payloads).map(([type, [required, optional]]) =>
    fields({ type: fc.constant(type), ...required }, optional),
  ),
  fields({ type: fc.constantFrom("x_future", "constructor", "__proto__", "") }),
)

const places = fc.record(
  {
    id: ulid,
    parentId: fc.option(ulid),
    seq: count,
    timestamp: fc.constant("2026-01-31T09:30:00.000Z"),
    blobs: fc.constant({ "/message/content/0/text": "utf8" }),
  },
  { requiredKeys: ["id", "parentId", "seq", "timestamp"] },
)

/** A complete entry, its keys in any order. */
export const entry: fc.Arbitrary<Fields> = fc
  .tuple(payload, places, fc.boolean())
  .map(([own, place, first]) => (first ? { ...place, ...own } : { ...own, ...place }))

export const header: fc.Arbitrary<Fields> = fields(
  {
    format: fc.constant(FORMAT),
    version: fc.constant(VERSION),
    cwd: text,
  },
  {
    title: text,
    source: fc.constantFrom<Header["source"]>("interactive", "cron"),
    cronJobId: text,
    parentSession: fc.oneof(fields({ id: ulid }, { entryId: ulid }), fields({ ref: text })),
    systemPromptOverride: text,
    origin: fields(
      { format: text, version: number },
      { id: text, lines: count, settled: count, backup: fields({ blobs: strings, bytes: count }) },
    ),
  },
).chain((own) =>
  fc
    .record({
      type: fc.constant("session"),
      id: fc.constantFrom("01ARZ3NDEKTSV4RRFFQ69G5FAV", "own.id_1"),
      timestamp: fc.constant("2026-01-31T09:30:00.000Z"),
    })
    .map((base) => ({ ...base, ...own })),
)
