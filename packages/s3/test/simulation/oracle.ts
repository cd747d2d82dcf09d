/** What somebody who sees everything has to object to. */
import type { MadeAppend, Records } from "./actors.ts"
import type { Simulated } from "./designs.ts"
import { SESSION } from "./designs.ts"
import type { Logs } from "./observed-bucket.ts"
import type { WitnessedBucket } from "./observed-bucket.ts"

export async function brokenRules(
  storage: Simulated,
  records: Records,
  last: readonly MadeAppend[],
  witness: WitnessedBucket | undefined,
): Promise<string[]> {
  const broken = [...records.problems, ...(witness?.problems ?? [])]
  const final = await readAll(storage, broken)
  if (witness !== undefined && final.join() !== (witness.current?.lines ?? []).join()) {
    broken.push("what is read is not what the bucket holds")
  }
  const logs: Logs = witness?.logs ?? new Map([["one", final]])
  for (const append of records.appends) broken.push(...brokenByAppend(append, logs, witness?.ended ?? new Set()))
  broken.push(...twice(logs))
  for (const read of records.reads) broken.push(...(witness === undefined ? [] : brokenByRead(read, logs)))
  // In calm weather nobody is told anything but success in the end, so all of it stands there.
  for (const { lines } of last) {
    if (witness !== undefined && !lines.every((line) => final.includes(line))) broken.push("a last append is not there")
  }
  if (witness !== undefined) broken.push(...(await leftOver(storage, witness)))
  return broken
}

/**
 * Acknowledged: once, in its place, contiguous. Refused: in no log, unless that is gone, with the append that was under way.
 * Unknown: at most once.
 */
function brokenByAppend({ lines, outcome, expect }: MadeAppend, logs: Logs, ended: ReadonlySet<string>): string[] {
  const first = lines[0] as string
  if (outcome === undefined) return [`${first} was never answered`]
  if ("head" in outcome) {
    const { head } = outcome
    const there = logs.get(head.log)?.slice(head.next - lines.length, head.next) ?? []
    const follows =
      expect === 0 ? head.next === lines.length : head.log === expect.log && head.next === expect.next + lines.length
    return [
      ...(there.join() === lines.join() ? [] : [`${first} was acknowledged and is not in its place`]),
      ...(follows ? [] : [`${first} was acknowledged with a head that does not follow`]),
    ]
  }
  if (outcome.code === "indeterminate" || outcome.sent) return []
  const there = [...logs].some(([name, log]) => !ended.has(name) && lines.some((line) => log.includes(line)))
  return there ? [`${first} was refused (${outcome.code}) and is in a log`] : []
}

function twice(logs: Logs): string[] {
  const seen = new Set<string>()
  const broken: string[] = []
  for (const line of [...logs.values()].flat()) {
    if (seen.has(line)) broken.push(`${line} is there twice`)
    seen.add(line)
  }
  return broken
}

/** A reader gets a log from its beginning, and at least what was committed before it began. */
function brokenByRead({ lines, committed, log }: Records["reads"][number], logs: Logs): string[] {
  if (lines.length === 0) return log === undefined ? [] : ["a reader got nothing of a log that was there"]
  const found = [...logs].find(([, all]) => all[0] === lines[0])
  if (found === undefined) return ["a reader got lines of no log"]
  const [name, all] = found
  if (lines.some((line, seq) => all[seq] !== line)) return [`a reader got other lines than ${name} has`]
  return log === name && lines.length < (committed.get(name) ?? 0) ? ["a reader got less than was committed"] : []
}

async function readAll(storage: Simulated, broken: string[]): Promise<string[]> {
  const lines: string[] = []
  try {
    for await (const chunk of storage.read(SESSION)) lines.push(...chunk.lines)
  } catch (error) {
    broken.push(`the log cannot be read: ${String(error)}`)
  }
  return lines
}

/** A collection in calm weather leaves exactly what the tail names. */
async function leftOver(storage: Simulated, witness: WitnessedBucket): Promise<string[]> {
  await storage.collect(SESSION)
  const segments = [...witness.objects.keys()].filter((key) => key.startsWith("segments/")).sort()
  const named = [...(witness.current?.named ?? [])].sort()
  return segments.join() === named.join()
    ? []
    : [`there are ${segments.length} segments, and ${named.length} are named`]
}
