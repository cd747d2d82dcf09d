import { absent } from "../lib/runtimes.mjs"
import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"

/** Enough to interrupt each operation several times. `pnpm test:crash --rounds N` runs more. */
const ROUNDS = 200

/** Kills processes of all three runtimes and opens their sessions in another process. Each round is one test. */
export const crash = {
  name: "crash:fs",
  absent: async () => (await absent.node()) ?? (await absent.bun()) ?? (await absent.deno()),
  async run() {
    const { code, output } = await runScript(`${manifest.scripts["test:crash"]} --rounds ${ROUNDS}`)
    const whole = code === 0 && /^acknowledged [1-9]\d*, lost 0, corrupt 0$/m.test(output)
    return { passed: whole ? ROUNDS : 0, failed: whole ? 0 : 1, skipped: 0, output }
  },
}
