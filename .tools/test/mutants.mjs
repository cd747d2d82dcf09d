import { runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"
import { outcomeOf } from "./report.mjs"

/** Storages with a deliberate defect. Each is one test, which passes if the suite finds exactly that defect. */
export function mutants(absent) {
  return {
    name: "mutants",
    absent,
    async run() {
      const result = await runScript(manifest.scripts["test:mutants"])
      const [, all, killed] = /^(\d+) mutants, (\d+) killed$/m.exec(result.output) ?? []
      const counted =
        all === undefined ? undefined : { passed: Number(killed), failed: Number(all) - Number(killed), skipped: 0 }
      return outcomeOf(counted, result)
    },
  }
}
