/** The result of a measurement, and the table that shows results. */
import { cpus, release, totalmem, type } from "node:os"
import type { Pair } from "./rounds.ts"

export interface Scenario {
  readonly id: string
  readonly run: () => Promise<Result>
}

export interface Result {
  readonly id: string
  readonly runtime: string
  /** Median. */
  readonly value: number
  readonly unit: string
  /** Smallest and largest of all rounds. */
  readonly spread: readonly [number, number]
  readonly rounds: number
  /** Measured with less data and fewer rounds than usual. */
  readonly quick?: true
  /** Median of the raw loop, in the same unit. */
  readonly raw?: number
  /** Ours over raw as rates: 1 is the limit. */
  readonly ratio?: number
  /** Medians of other programs that do the same, in the same unit and run. */
  readonly peers?: Readonly<Record<string, number>>
  /** Counts, e.g. of requests, lines, bytes. */
  readonly work?: Readonly<Record<string, number>>
  /** Curves for plots by name: pairs of the varied quantity and the value. */
  readonly series?: Readonly<Record<string, readonly (readonly [number, number])[]>>
}

/** The same in every runtime. */
export function machine(): Readonly<Record<string, unknown>> {
  const all = cpus()
  const system = `${type()} ${release().split("-")[0] ?? ""}`
  return { cpu: all[0]?.model.trim(), cores: all.length, memoryGB: Math.round(totalmem() / 1e9), system }
}

export function runtime(): string {
  const { bun, deno, node } = process.versions as Readonly<Record<string, string | undefined>>
  return bun !== undefined ? `bun ${bun}` : deno !== undefined ? `deno ${deno}` : `node ${node}`
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** A result of times: smaller is better, so the ratio of rates is raw over ours. */
export function timed(id: string, unit: string, { ours, raw }: Pair): Result {
  const value = median(ours)
  const base = {
    id,
    runtime: runtime(),
    value,
    unit,
    spread: [Math.min(...ours), Math.max(...ours)] as const,
    rounds: ours.length,
  }
  return raw.length === 0 ? base : { ...base, raw: median(raw), ratio: median(raw) / value }
}

export function table(results: readonly Result[]): string {
  const rows = results.map(({ id, value, unit, spread, raw, ratio, work, peers }) => [
    id,
    `${show(value)} ${unit}`,
    `${show(spread[0])} to ${show(spread[1])}`,
    raw === undefined ? "" : `${show(raw)} ${unit}`,
    ratio === undefined ? "" : ratio.toFixed(2),
    [
      ...Object.entries(work ?? {}).map(([name, count]) => `${name} ${show(count)}`),
      ...Object.entries(peers ?? {}).map(([name, time]) => `${name} ${show(time)}`),
    ].join(", "),
  ])
  return aligned([["id", "median", "spread", "raw", "ratio", "work, peers"], ...rows])
}

/** The rows as lines of text whose columns are padded to the widest cell. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n")
}

export function show(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3)
}
