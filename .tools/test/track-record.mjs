import { run } from "../lib/run.mjs"
import { absent } from "../lib/runtimes.mjs"
import { outcomeOf } from "./report.mjs"

const LONGEST_MS = 3 * 60 * 60_000

/** Each fix of the track record is taken out of a copy of the work tree: the test of its row fails. */
export const trackRecord = {
  name: "track-record",
  alone: true,
  minutes: 20,
  absent: absent.node,
  async run() {
    const result = await run(process.execPath, [".tools/track-record.mjs"], { timeout: LONGEST_MS })
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(result.output) ?? []
    const failures = [...result.output.matchAll(/^FAIL {2}(.*)$/gm)].map(([, row]) => row)
    const counted = passed && { passed: Number(passed), failed: Number(failed), skipped: 0, failures }
    return outcomeOf(counted, result)
  },
}
