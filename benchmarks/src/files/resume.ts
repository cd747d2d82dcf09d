/**
 * Opens a compacted session of 200 MB and reads its context in a new process, alternately with one of 2 MB; and reads the last 50
 * messages of sessions without a compaction. Counts the bytes and lines that the storage returns.
 */
import { inNewProcess } from "../child.ts"
import type { ResumeTimes } from "../children/resume.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { storedLog } from "./logs.ts"

const PROCESSES = 20

export function resumeScenarios(quick: boolean): readonly Scenario[] {
  const bytes = quick ? 20e6 : 200e6
  const processes = quick ? 5 : PROCESSES
  return [
    { id: "resume.compacted", run: () => resume("resume.compacted", { bytes, compacted: true }, processes) },
    { id: "resume.last50", run: () => resume("resume.last50", { bytes, compacted: false }, processes) },
  ]
}

async function resume(id: string, options: { bytes: number; compacted: boolean }, processes: number): Promise<Result> {
  const large = await storedLog(options)
  const small = await storedLog({ ...options, bytes: 2e6 })
  const times: number[] = []
  const twin: number[] = []
  const how = options.compacted ? "context" : "last50"
  for (let process = 0; process <= processes; process++) {
    const one = await inNewProcess<ResumeTimes>("resume", [large.root, large.session, how])
    const other = await inNewProcess<ResumeTimes>("resume", [small.root, small.session, how])
    // The first pair fills the cache of the operating system.
    if (process === 0) continue
    times.push(one.ms)
    twin.push(other.ms)
  }
  const counted = await inNewProcess<ResumeTimes>("resume", [large.root, large.session, how, "counted"])
  const { ms: _, ...work } = counted
  return { ...timed(id, "ms", { ours: times, raw: [] }), work: { ...work, twinMs: median(twin) } }
}
