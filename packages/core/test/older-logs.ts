/** Logs of older versions for tests: written by hand, made at random, and damaged. */
import * as fc from "fast-check"
import { toEncodedEntry, encodeHeader, lineOf } from "../src/format/line.ts"
import { type CurrentLog, isRawLine, type RawLine } from "../src/transfer/older/records.ts"
import type { Entry } from "../src/format/entry.ts"

type Fields = Record<string, unknown>

export const AT = "2025-01-01T00:00:00.000Z"

/** Lines of a log; a text is used as it is. */
export function lines(...records: readonly (Fields | string)[]): string[] {
  return records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)))
}

export function header(version: number | undefined, more: Fields = {}): Fields {
  return { type: "session", ...(version === undefined ? {} : { version }), id: "old-1", timestamp: AT, ...more }
}

/** An entry of version 2 or 3. */
export function entry(type: string, id: string, parentId: string | null, more: Fields = {}): Fields {
  return { type, id, parentId, timestamp: AT, ...more }
}

export function message(id: string, parentId: string | null, text = id, role = "user"): Fields {
  return entry("message", id, parentId, { message: { role, content: [{ type: "text", text }] } })
}

/** A log of oh-my-pi: a title in a slot of its own before the header, and a reset at the end. */
export function titleSlotLines(): string[] {
  const slot = { type: "title", v: 1, title: "Letters", source: "user", updatedAt: AT, pad: " ".repeat(150) }
  return lines(slot, header(3, { title: "First title" }), message("a", null), entry("reset_boundary", "b", "a"))
}

/** The lines that a migrated log is stored as. */
export function stored(log: CurrentLog): string[] {
  return [encodeHeader(log.header), ...log.records.map((record) => storedRecord(record))]
}

function storedRecord(record: Entry | RawLine): string {
  return isRawLine(record) ? record.raw : lineOf(toEncodedEntry(record), record.seq)
}

/** The migrated log's entries by position, as the tree takes them. */
export function slots(log: CurrentLog): (Entry | undefined)[] {
  return [undefined, ...log.records.map((record) => (isRawLine(record) ? undefined : record))]
}

// ---- random logs -----------------------------------------------------------------------------------------------------------------

const id = fc.nat({ max: 12 }).map((n) => `e${n}`)
/** Values under names that no version knows, each findable in a text. */
const unknown = fc.record({
  x_kept: fc.nat().map((n) => `kept-${n}`),
  x_deep: fc.constant({ list: [1, null, { a: "b" }] }),
})
const blocks = fc.array(
  fc.tuple(fc.constantFrom("text", "toolCall", "x_block"), unknown).map(([type, own]) => ({ type, text: "t", ...own })),
  { maxLength: 2 },
)
const content = fc.oneof(fc.string(), blocks)
const usage = fc.oneof(
  fc.record({ inputTokens: fc.nat(), outputTokens: fc.nat(), x_usage: fc.constant(1) }),
  fc.record({ input: fc.nat(), output: fc.nat() }),
)
const role = fc.constantFrom("user", "assistant", "toolResult", "hookMessage", "bashExecution")
const innerMessage = fc
  .tuple(fc.record({ role, content, usage, provider: fc.constantFrom("a", "b"), model: fc.constant("m") }), unknown)
  .map(([own, more]) => ({ ...own, ...more }))
const details = fc.record({ readFiles: fc.array(fc.string()), x_details: fc.constant(true) })

/** Payloads of both dialects. */
const payload = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant("message"), message: innerMessage }) },
  fc.record({ type: fc.constant("custom_message"), customType: fc.string(), content, display: fc.boolean() }),
  {
    weight: 3,
    arbitrary: fc.record(
      {
        type: fc.constant("compaction"),
        summary: fc.string(),
        tokensBefore: fc.nat(),
        firstKeptEntryId: id,
        firstKeptEntryIndex: fc.integer({ min: -1, max: 20 }),
        details,
        fromHook: fc.boolean(),
        fromExtension: fc.boolean(),
        usage,
      },
      { requiredKeys: ["type", "summary", "tokensBefore"] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("branch_summary"),
      fromId: fc.oneof(id, fc.constant("root")),
      summary: fc.string(),
    }),
  },
  fc.record({ type: fc.constant("model_change"), provider: fc.constant("p"), modelId: fc.constantFrom("m", "n/o") }),
  fc.record({
    type: fc.constant("model_change"),
    model: fc.constantFrom("p/m", "q/n/o"),
    role: fc.constantFrom("default", "smol"),
  }),
  fc.record({ type: fc.constant("thinking_level_change"), thinkingLevel: fc.constantFrom(null, "low", "high") }),
  fc.record({ type: fc.constant("session_info"), name: fc.constantFrom("", "a name") }),
  fc.record({ type: fc.constant("ttsr_injection"), injectedRules: fc.array(id) }),
  fc.record({ type: fc.constant("mode_change"), mode: fc.constantFrom("plan", "none") }),
  fc.record({ type: fc.constantFrom("reset_boundary", "x_future", "constructor") }),
  fc.record({ type: fc.constant("leaf"), targetId: fc.option(id) }),
  fc.record({ type: fc.constant("tombstone"), targetId: id }),
)

const v1Entry = fc
  .tuple(payload, unknown, fc.constantFrom(AT, "2025-01-01T00:00:01Z", undefined, "no time"))
  .map(([own, more, timestamp]) => ({ ...own, ...more, timestamp }))
const treeEntry = fc
  .tuple(payload, unknown, id, fc.option(id, { freq: 6 }), fc.integer({ min: 0, max: 5 }))
  .map(([own, more, entryId, parentId, linear]) => ({ own, more, entryId, parentId, linear }))

const oldHeader = (version: 1 | 2 | 3) =>
  fc
    .tuple(
      fc.record(
        {
          title: fc.constantFrom("", "titled"),
          provider: fc.constant("p"),
          modelId: fc.constant("h"),
          parentSession: fc.string(),
        },
        { requiredKeys: [] },
      ),
      unknown,
    )
    .map(([own, more]) => header(version === 1 ? undefined : version, { ...own, ...more }))

const slot = fc.constantFrom({
  type: "title",
  v: 1,
  title: "slot title",
  source: "auto",
  updatedAt: AT,
  x_slot: 1,
  pad: "  ",
})

function treeRecords(
  parts: readonly { own: Fields; more: Fields; entryId: string; parentId: string | null; linear: number }[],
) {
  let last: string | null = null
  return parts.map(({ own, more, entryId, parentId, linear }) => {
    // Mostly a chain, sometimes a branch, a duplicate id, a missing or a later parent.
    const record = { ...own, id: entryId, parentId: linear > 0 ? last : parentId, timestamp: AT, ...more }
    last = entryId
    return record
  })
}

/** A log of version 1, 2 or 3, whose tree may have any damage. */
export const olderLog: fc.Arbitrary<readonly Fields[]> = fc.constantFrom<1 | 2 | 3>(1, 2, 3).chain((version) => {
  const records: fc.Arbitrary<readonly Fields[]> =
    version === 1 ? fc.array(v1Entry, { maxLength: 16 }) : fc.array(treeEntry, { maxLength: 16 }).map(treeRecords)
  return fc
    .tuple(fc.option(slot, { freq: 3 }), oldHeader(version), records)
    .map(([own, first, rest]) => [...(own === null ? [] : [own]), first, ...rest])
})

const injury = fc.oneof(
  fc.record({ kind: fc.constantFrom("remove", "duplicate", "blank"), at: fc.nat() }),
  fc.record({ kind: fc.constant("tear"), at: fc.nat(), keep: fc.nat() }),
  fc.record({
    kind: fc.constant("insert"),
    at: fc.nat(),
    text: fc.oneof(
      fc.string().map((text) => text.replaceAll("\n", " ")),
      fc.constantFrom(
        "[1]",
        "null",
        "{}",
        '{"type":"message"}',
        '{"type":7}',
        '{"type":"session","id":"x"}',
        "\r",
        "\ufeff",
      ),
    ),
  }),
)
type Injury = { kind: string; at: number; keep?: number; text?: string }

/** Lines of a log, damaged at any position. */
export const damagedLines: fc.Arbitrary<readonly string[]> = fc
  .tuple(olderLog, fc.array(injury, { maxLength: 5 }))
  .map(([log, injuries]) => injuries.reduce<string[]>((damaged, next) => injure(damaged, next), lines(...log)))

function injure(log: string[], { kind, at, keep = 0, text = "" }: Injury): string[] {
  const place = at % (log.length + 1)
  const line = log[place] ?? ""
  if (kind === "remove") return log.toSpliced(place, 1)
  if (kind === "duplicate") return log.toSpliced(place, 0, line)
  if (kind === "blank") return log.toSpliced(place, 0, " ")
  if (kind === "tear") return log.toSpliced(place, 1, line.slice(0, keep % (line.length + 1)))
  return log.toSpliced(place, 0, text)
}
