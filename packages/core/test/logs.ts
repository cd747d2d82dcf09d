/**
 * Random logs of version 4, as lines: valid ones, ones that other programs could have written, and damaged ones. A log is made by a
 * script of small steps, so that a counterexample shrinks to the steps that matter.
 */
import * as fc from "fast-check"
import { parseLine } from "../src/format/line.ts"
import { FORMAT, VERSION } from "../src/format/header.ts"
import { parseEntry } from "../src/log/parse-entry.ts"
import type { EntrySlot } from "../src/log/entry-log.ts"
import { injureLog, injuries } from "./injuries.ts"
import { LogWriter } from "./log-writer.ts"

type Fields = Record<string, unknown>

/** The effect of a step, and how often it is drawn. */
const KINDS = {
  user: 6,
  assistant: 8,
  /** Results of the newest calls that have none: all of them, some, or in another order. */
  results: 8,
  /** A result without a call, or for a call that already has its result. */
  strayResult: 1,
  customMessage: 2,
  customRole: 2,
  state: 6,
  side: 4,
  unknown: 1,
  /** Moves the leaf by an entry. */
  leaf: 2,
  branchSummary: 1,
  /** Moves the leaf without a record of it. */
  jump: 1,
  reset: 1,
  edit: 6,
  tombstone: 3,
  /** As a session writes it: state, hint, first kept entry on the path. */
  compaction: 3,
  /** Invalid: without state or hint, with wrong ones, with a first kept entry elsewhere or nowhere. */
  foreignCompaction: 2,
} as const
type Kind = keyof typeof KINDS

export type Step = readonly [kind: Kind, a: number, b: number, c: number]

const kind = fc.oneof(
  ...Object.entries(KINDS).map(([name, weight]) => ({ weight, arbitrary: fc.constant(name as Kind) })),
)
const number = fc.nat({ max: 9_999 })

export const steps = (maxLength = 60): fc.Arbitrary<readonly Step[]> =>
  fc.array(fc.tuple(kind, number, number, number), { maxLength, size: "max" })

/** An undamaged log. */
export const validLog: fc.Arbitrary<readonly string[]> = steps().map(writeLog)

/** A log with up to five kinds of damage, or undamaged. */
export const anyLog: fc.Arbitrary<readonly string[]> = fc
  .tuple(steps(), injuries)
  .map(([script, wounds]) => injureLog(writeLog(script), wounds))

export const HEADER: Fields = {
  type: "session",
  format: FORMAT,
  version: VERSION,
  id: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
  timestamp: "2026-01-31T09:30:00.000Z",
  cwd: "/project",
}

/** Lines as entries; the header and invalid lines as undefined. */
export function slotsOf(lines: readonly string[]): EntrySlot[] {
  return lines.map((line, seq) => parseEntry(line, seq, () => undefined))
}

export function headerOf(lines: readonly string[]): Fields {
  return parseLine(lines[0] ?? "").record ?? {}
}

/** The lines of the log that a script makes. */
export function writeLog(script: readonly Step[]): string[] {
  const systemPromptOverride = script.length % 3 === 0 ? { systemPromptOverride: "Be brief." } : {}
  const writer = new LogWriter({ ...HEADER, ...systemPromptOverride })
  for (const step of script) writer.take(step)
  return writer.lines()
}
