import { fromSources } from "../lib/from-sources.mjs"
import { absent } from "../lib/runtimes.mjs"
import { run } from "../lib/run.mjs"

/** The agents' own programs, from the registry, resume their sessions and ours. Alone: a program that waits too long for a processor fails. */
export const agents = {
  name: "agents",
  alone: true,
  absent: absent.node,
  minutes: 90,
  async run() {
    const { code, output } = await run(...fromSources(".tools/agents.mjs"))
    const end = /^agents: comparisons (\d+), failed (\d+), absent (\d+)$/m.exec(output)
    if (end === null) return { passed: 0, failed: 1, skipped: 0, output }
    const [all, found, skipped] = end.slice(1).map(Number)
    const failed = code === 0 ? found : Math.max(1, found)
    return {
      passed: all - found,
      failed,
      skipped,
      output,
      measured: output.match(/^(?:absent: .*|.* hold, .*)$/gm) ?? [],
    }
  },
}
