import { absent } from "../lib/runtimes.mjs"
import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"

/** Rounds and seed are fixed, so that every run does the same. `pnpm test:fuzz --minutes N` finds more. */
const ROUNDS = 150

/** Damages logs of every version on each storage. Each round is one test. */
export const fuzz = {
  name: "fuzz",
  absent: absent.node,
  async run() {
    const { code, output } = await runScript(`${manifest.scripts["test:fuzz"]} --rounds ${ROUNDS} --seed 1`)
    const whole = code === 0 && output.includes(`rounds ${ROUNDS}, findings 0,`)
    return { passed: whole ? ROUNDS : 0, failed: whole ? 0 : 1, skipped: 0, output }
  },
}
