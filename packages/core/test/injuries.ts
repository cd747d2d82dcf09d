/** Damage to the lines of a log: duplicate ids, lines that are lost, cut or swapped, references that lead nowhere. */
import * as fc from "fast-check"
import { parseLine } from "../src/format/line.ts"

type Fields = Record<string, unknown>

const number = fc.nat({ max: 9_999 })

const INJURIES = [
  "duplicateId",
  "lose",
  "garble",
  "forward",
  "self",
  "orphan",
  "seq",
  "swap",
  "repeat",
  "crossTarget",
] as const
export type Injury = readonly [kind: (typeof INJURIES)[number], a: number, b: number]
export const injuries: fc.Arbitrary<readonly Injury[]> = fc.array(
  fc.tuple(fc.constantFrom(...INJURIES), number, number),
  { maxLength: 5 },
)

export function injureLog(lines: readonly string[], wounds: readonly Injury[]): string[] {
  return wounds.reduce<string[]>((log, wound) => injure(log, wound), [...lines])
}

function injure(lines: string[], [kind, a, b]: Injury): string[] {
  if (lines.length < 2) return lines
  const place = 1 + (a % (lines.length - 1))
  const other = 1 + (b % (lines.length - 1))
  const otherId = idOfLine(lines[other])
  switch (kind) {
    case "duplicateId":
      return otherId === undefined ? lines : lines.with(place, changed(lines[place], { id: otherId }))
    case "lose":
      return lines.toSpliced(place, 1 + (b % 3))
    case "garble":
      return lines.with(place, garbled(lines[place] ?? "", b))
    case "forward": {
      const later = idOfLine(lines[place + (b % (lines.length - place))])
      return later === undefined ? lines : lines.with(place, changed(lines[place], { parentId: later }))
    }
    case "self":
      return lines.with(place, changed(lines[place], { parentId: idOfLine(lines[place]) ?? null }))
    case "orphan":
      return lines.with(place, changed(lines[place], { parentId: "nobody" }))
    case "seq":
      return lines.with(place, changed(lines[place], { seq: pick([undefined, 0, b, -1, "1", 1.5], b) }))
    case "swap":
      return lines.with(place, lines[other] as string).with(other, lines[place] as string)
    case "repeat":
      return lines.toSpliced(other, 0, lines[place] as string)
    case "crossTarget":
      return lines.with(place, changed(lines[place], { targetId: otherId, firstKeptEntryId: otherId }))
  }
}

function garbled(line: string, b: number): string {
  const all = [
    "",
    "not json",
    line.slice(0, line.length >> 1),
    "[1]",
    '"text"',
    '{"type":"session","id":"x"}',
    '{"type":7}',
    "{}",
  ]
  // A storage has no empty lines.
  return pick(all, b) || " "
}

function changed(line: string | undefined, fields: Fields): string {
  const { record } = parseLine(line ?? "")
  if (record === undefined) return line ?? " "
  const known = Object.entries(fields).filter(([key]) => key in record)
  return JSON.stringify({ ...record, ...Object.fromEntries(known) })
}

function idOfLine(line: string | undefined): string | undefined {
  const id = parseLine(line ?? "").record?.["id"]
  return typeof id === "string" ? id : undefined
}

function pick<T>(all: readonly T[], n: number): T {
  return all[n % all.length] as T
}
