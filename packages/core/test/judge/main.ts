/**
 * `pnpm test:judge [--histories N] [--seed S] [--shrink] [--table] [--planted]`: judges sessions that grow over windows, with simulated providers, by the laws
 * of `laws.ts` and `totals.ts`. A history is repeated by its seed. `--shrink` finds the shortest history that breaks each law of the first
 * seed, `--table` prints the sums. `--planted` takes a rule out of the sources, one after the other, and must find that each is missing.
 */
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { drawCase, judge } from "./judge.ts"
import { type Law, LAWS } from "./laws.ts"
import { findPlanted } from "./planted.ts"
import { shrink } from "./shrink.ts"
import { addOutcome, brokenSums, createTotals, MANY, type Totals } from "./totals.ts"
import { table } from "./table.ts"

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "300" },
    seed: { type: "string" },
    shrink: { type: "boolean", default: false },
    table: { type: "boolean", default: false },
    planted: { type: "boolean", default: false },
  },
})
const histories = Number(values.histories)
const first = Number(values.seed ?? Date.now() % 2 ** 31)
if (!(Number.isSafeInteger(histories) && histories > 0) || !Number.isSafeInteger(first)) {
  console.error("--histories takes a number above 0, --seed a whole number.")
  process.exit(2)
}
if (values.planted) process.exitCode = await findPlanted(fileURLToPath(import.meta.url), Number(values.seed ?? 1))
else if (values.shrink) await shrink(first)
else process.exitCode = await judgeAll()

async function judgeAll(): Promise<number> {
  const totals = createTotals()
  const examples = new Map<Law, string>()
  console.log(`seed ${first}`)
  for (let seed = first; seed < first + histories; seed++) {
    const { world, ops } = drawCase(seed)
    const outcome = await judge(world, ops)
    addOutcome(totals, world, outcome)
    for (const [law, what] of outcome.broken) if (!examples.has(law)) examples.set(law, `--seed ${seed}: ${what}`)
  }
  if (values.table) console.log(table(totals))
  const broken = [...brokenLaws(totals, examples), ...(histories >= MANY ? brokenSums(totals) : [])]
  for (const law of broken) console.log(law)
  console.log(`histories ${histories}, broken laws ${broken.length}`)
  return broken.length === 0 ? 0 : 1
}

function brokenLaws({ broken, histories }: Totals, examples: ReadonlyMap<Law, string>): string[] {
  return [...broken].map(
    ([law, count]) => `${law}: ${LAWS[law]}: broken in ${count} of ${histories} histories, ${examples.get(law) ?? ""}`,
  )
}
