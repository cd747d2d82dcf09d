import { absent } from "../lib/runtimes.mjs"
import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"

/** Kills processes of all three runtimes, and looks for what they had acknowledged in another process. Each round is one test. */
export const crash = killing("fs", "test:crash", 200, /^acknowledged [1-9]\d*, lost 0, corrupt 0$/m)
export const sqliteCrash = killing("sqlite", "test:sqlite-crash", 20, /^acknowledged [1-9]\d*, lost 0, doubled 0$/m)
const SOUND = /^killed [1-9]\d* of \d+ rounds, without backup 0, half written 0$/m
export const checkpointsCrash = killing("checkpoints", "test:checkpoints-crash", 24, SOUND)
const ALL_THERE = /^killed [1-9]\d* of \d+ processes, lost 0, damaged 0$/m
export const recallCrash = killing("recall", "test:recall-crash", 24, ALL_THERE)
const ALL_ONCE = /^killed [1-9]\d* processes, acknowledged [1-9]\d* lines, lost 0, doubled 0, moved 0$/m
export const claudeAgentCrash = killing("claude-agent", "test:claude-agent-crash", 6, ALL_ONCE)
const RUN_ONCE = /^killed [1-9]\d* servers, .*, interrupted [1-9]\d*, lost 0, doubled 0, unreported 0$/m
export const httpCrash = killing("http", "test:http-crash", 4, RUN_ONCE)

/** `rounds` are enough to interrupt each operation several times; the script with `--rounds N` runs more. */
function killing(what, script, rounds, whole) {
  return {
    name: `crash:${what}`,
    absent: async () => (await absent.node()) ?? (await absent.bun()) ?? (await absent.deno()),
    async run() {
      const { code, output } = await runScript(`${manifest.scripts[script]} --rounds ${rounds}`)
      const isWhole = code === 0 && whole.test(output)
      return { passed: isWhole ? rounds : 0, failed: isWhole ? 0 : 1, skipped: 0, output }
    },
  }
}
