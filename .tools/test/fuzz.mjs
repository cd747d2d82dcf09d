import { absentFromSystem, system } from "../lib/debian.mjs"
import { absent } from "../lib/runtimes.mjs"
import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"

/** Rounds and seed are fixed, so that every run does the same. `pnpm test:fuzz --minutes N` finds more. */
const ROUNDS = 150
const ROUNDS_ON_POSTGRES = 25

/** Damages logs of every version on each storage that needs no server. Each round is one test. */
export const fuzz = {
  name: "fuzz",
  absent: absent.node,
  run: () => fuzzing(manifest.scripts["test:fuzz"], ROUNDS),
}

/** The same on PostgreSQL. */
export const fuzzPostgres = {
  name: "fuzz:postgres",
  absent: async () =>
    (await absent.node()) ?? (process.env.SESSIONS_TEST_POSTGRES ? undefined : absentFromSystem(system.postgres)),
  run: () => fuzzing(manifest.scripts["test:fuzz-postgres"], ROUNDS_ON_POSTGRES),
}

async function fuzzing(script, rounds) {
  const { code, output } = await runScript(`${script} --rounds ${rounds} --seed 1`)
  const whole = code === 0 && output.includes(`rounds ${rounds}, findings 0,`)
  return { passed: whole ? rounds : 0, failed: whole ? 0 : 1, skipped: 0, output }
}
