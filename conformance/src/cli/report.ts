/** Formats reports as text and as TAP. Pure functions. */
import type { CaseResult } from "../runner/result.ts"
import type { Report } from "../runner/run.ts"
import type { PropertyResult } from "./properties.ts"

export interface FullReport extends Report {
  readonly properties: readonly PropertyResult[]
}

export type Totals = Report["counts"]

export function totalsOf(reports: readonly FullReport[]): Totals {
  const count = (status: CaseResult["status"]): number =>
    reports.flatMap(({ results, properties }) => [...results, ...properties]).filter((one) => one.status === status)
      .length
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped") }
}

export function asText({
  suite,
  subject,
  runtime,
  capabilities,
  results,
  properties,
  milliseconds,
}: FullReport): string {
  const lines = [`${subject}, with suite ${suite} on ${runtime}, in ${(milliseconds / 1_000).toFixed(1)} s`]
  if (capabilities !== undefined) {
    const said = Object.entries(capabilities).map(([name, value]) => `${name} ${String(value)}`)
    lines.push(`  ${said.slice(0, 4).join(", ")}`, `  ${said.slice(4).join(", ")}`)
  }
  for (const [reason, ids] of skippedOf(results)) lines.push(`  skipped ${ids.join(" ")}: ${reason}`)
  for (const { failure } of results) if (failure !== undefined) lines.push("", failure.message)
  for (const { name, status, seed, message } of properties) {
    if (status === "passed") lines.push(`  property ${name} holds (seed ${seed})`)
    else lines.push("", `property ${name} ${status}: ${message ?? ""}`)
  }
  return lines.join("\n")
}

export function asLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

/** TAP 14 (testanything.org), with each failure message in the diagnostics block of its line. */
export function asTap(reports: readonly FullReport[]): string {
  const rows = reports.flatMap(({ subject, results, properties }) => [
    ...results.map(({ id, title, status, reason, failure }) => ({
      name: `${subject} ${id} ${title}`,
      status,
      text: failure?.message ?? reason,
    })),
    ...properties.map(({ name, status, seed, message }) => ({
      name: `${subject} property ${name} seed ${seed}`,
      status,
      text: message,
    })),
  ])
  const lines = rows.map(({ name, status, text }, index) => {
    const said = name.replaceAll("#", "\\#")
    const line = `${status === "failed" ? "not ok" : "ok"} ${index + 1} - ${said}`
    if (status === "skipped") return `${line} # SKIP ${text ?? ""}`
    if (text === undefined) return line
    return [line, "  ---", "  message: |", ...text.split("\n").map((one) => `    ${one}`), "  ..."].join("\n")
  })
  return ["TAP version 14", `1..${rows.length}`, ...lines].join("\n")
}

function skippedOf(results: readonly CaseResult[]): ReadonlyMap<string, readonly string[]> {
  const reasons = new Map<string, string[]>()
  for (const { id, status, reason } of results) {
    if (status !== "skipped") continue
    const ids = reasons.get(reason ?? "") ?? []
    ids.push(id)
    reasons.set(reason ?? "", ids)
  }
  return reasons
}
