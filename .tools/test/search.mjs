import { run } from "../lib/run.mjs"

/** A long search ends by itself; this ends a hang. */
const LONGEST_MS = 6 * 60 * 60_000

/**
 * A step that draws its cases from the seed of the run: a few in `npm test`, many in `npm run test:deep`.
 * - `amount`: `test`, how many rounds `npm test` makes, `deep`, how much `npm run test:deep` does: rounds, seconds or minutes, and `least`, the least of
 *   that, by default the rounds of `test`;
 * - `command(amount, seed, deep)`: the command, `[program, args]`;
 * - `whole`: what its output has if it found nothing;
 * - `minutes`: how long the amount of `deep` takes on two cores.
 */
export function search({ name, absent, amount, minutes, whole, command }) {
  return {
    name,
    absent,
    minutes,
    isSearch: true,
    async run({ deep, scale, seed }) {
      const count = deep ? Math.max(amount.least ?? amount.test, Math.round(amount.deep * scale)) : amount.test
      const [program, args] = command(count, seed, deep)
      const { code, output } = await run(program, args, { timeout: LONGEST_MS })
      const found = whole.exec(output)
      if (code === 0 && found !== null) {
        return { passed: count, failed: 0, skipped: 0, output, measured: [found[0]] }
      }
      return { passed: 0, failed: 1, skipped: 0, output }
    },
  }
}

/**
 * A step that puts known faults into the code, one after the other; each is one test, which passes if the fault is found. Of `counts`, which matches
 * the last line of the output, the groups are `all` and `found` or `missed`.
 */
export function planted({ name, absent, minutes, command, counts }) {
  return {
    name,
    absent,
    minutes,
    async run() {
      const { output } = await run(...command, { timeout: LONGEST_MS })
      const groups = counts.exec(output)?.groups
      if (groups === undefined) return { passed: 0, failed: 1, skipped: 0, output }
      const failed = groups.missed === undefined ? groups.all - groups.found : Number(groups.missed)
      return { passed: groups.all - failed, failed, skipped: 0, output }
    },
  }
}
