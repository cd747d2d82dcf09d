/** Checks the records of a run against the logs that the observed bucket has seen. */
import type { RecordedAppend, Records } from "./actors.ts"
import { SESSION, type Simulated } from "./designs.ts"
import type { Logs, ObservedBucket } from "./observed-bucket.ts"

export async function findViolations(
  storage: Simulated,
  records: Records,
  last: readonly RecordedAppend[],
  observed: ObservedBucket | undefined,
): Promise<string[]> {
  const violations = [...records.problems, ...(observed?.problems ?? [])]
  const final = await readAll(storage, violations)
  if (observed !== undefined && final.join() !== (observed.current?.lines ?? []).join()) {
    violations.push("the log that is read differs from the one in the bucket")
  }
  const logs: Logs = observed?.logs ?? new Map([["one", final]])
  for (const append of records.appends)
    violations.push(...violationsOfAppend(append, logs, observed?.ended ?? new Set()))
  violations.push(...duplicates(logs))
  for (const read of records.reads) violations.push(...(observed === undefined ? [] : violationsOfRead(read, logs)))
  // Without faults every writer's last append is acknowledged, so it must be in the log.
  for (const { lines } of last) {
    if (observed !== undefined && !lines.every((line) => final.includes(line)))
      violations.push("a last append is missing")
  }
  if (observed !== undefined) violations.push(...(await findOrphans(storage, observed)))
  return violations
}

/**
 * An acknowledged append is in its log once, contiguous, at the head it was given. A refused append is in no log, except in one
 * that ended while it was in flight. An append with an unknown outcome is in a log at most once.
 */
function violationsOfAppend(
  { lines, outcome, expect }: RecordedAppend,
  logs: Logs,
  ended: ReadonlySet<string>,
): string[] {
  const first = lines[0] as string
  if (outcome === undefined) return [`${first} was never settled`]
  if ("head" in outcome) {
    const { head } = outcome
    const found = logs.get(head.log)?.slice(head.next - lines.length, head.next) ?? []
    const follows =
      expect === 0 ? head.next === lines.length : head.log === expect.log && head.next === expect.next + lines.length
    return [
      ...(found.join() === lines.join() ? [] : [`${first} was acknowledged but is not at its seq`]),
      ...(follows ? [] : [`${first} was acknowledged with a head that does not follow`]),
    ]
  }
  if (outcome.code === "indeterminate" || outcome.sent) return []
  const isCommitted = [...logs].some(([name, log]) => !ended.has(name) && lines.some((line) => log.includes(line)))
  return isCommitted ? [`${first} was refused (${outcome.code}) but is in a log`] : []
}

function duplicates(logs: Logs): string[] {
  const seen = new Set<string>()
  const violations: string[] = []
  for (const line of [...logs.values()].flat()) {
    if (seen.has(line)) violations.push(`${line} is in the logs twice`)
    seen.add(line)
  }
  return violations
}

/** A read returns one log from its beginning, at least up to the lines committed before the read began. */
function violationsOfRead({ lines, committed, log }: Records["reads"][number], logs: Logs): string[] {
  if (lines.length === 0) return log === undefined ? [] : ["a reader got no line of an existing log"]
  const found = [...logs].find(([, all]) => all[0] === lines[0])
  if (found === undefined) return ["a reader got lines that are in no log"]
  const [name, all] = found
  if (lines.some((line, seq) => all[seq] !== line)) return [`a reader got lines that differ from those of ${name}`]
  return log === name && lines.length < (committed.get(name) ?? 0)
    ? ["a reader got fewer lines than were committed"]
    : []
}

async function readAll(storage: Simulated, violations: string[]): Promise<string[]> {
  const lines: string[] = []
  try {
    for await (const chunk of storage.read(SESSION)) lines.push(...chunk.lines)
  } catch (error) {
    violations.push(`the log cannot be read: ${String(error)}`)
  }
  return lines
}

/** After a collection without faults the bucket has exactly the segments that the tail names. */
async function findOrphans(storage: Simulated, observed: ObservedBucket): Promise<string[]> {
  await storage.collect(SESSION)
  const segments = [...observed.objects.keys()].filter((key) => key.startsWith("segments/")).sort()
  const named = [...(observed.current?.named ?? [])].sort()
  return segments.join() === named.join()
    ? []
    : [`there are ${segments.length} segments, and ${named.length} are named`]
}
