/**
 * `pnpm test:fuzz [--minutes N | --rounds N] [--seed S]`: damages logs of every version on each storage, and calls everything. Each round
 * has the seed after the one before it; `--seed S --rounds 1` repeats one.
 *
 * A finding is an error without a code, more steps of I/O than a log of that length may take, a log that reading changed, or an export
 * that differs from the stored lines.
 */
import { parseArgs } from "node:util"
import { fuzz } from "./round.ts"

const { values } = parseArgs({
  options: { minutes: { type: "string" }, rounds: { type: "string" }, seed: { type: "string" } },
})
const first = Number(values.seed ?? Date.now() % 2 ** 31)
const minutes = Number(values.minutes ?? 0)
const rounds = Number(values.rounds ?? (values.minutes === undefined ? 1_000 : Number.POSITIVE_INFINITY))
if (!Number.isSafeInteger(first) || !(minutes >= 0) || !(rounds >= 1)) {
  console.error("--minutes and --rounds take a number, --seed a whole number.")
  process.exit(2)
}

/** Findings that are shown: one defect usually has many. */
const SHOWN = 20
const end = minutes === 0 ? Number.POSITIVE_INFINITY : Date.now() + minutes * 60_000

let done = 0
let found = 0
let most = 0
console.log(`seed ${first}`)
for (; done < rounds && Date.now() < end; done++) {
  const seed = first + done
  const { name, findings, steps } = await fuzz(seed).catch((error: unknown) => ({
    name: "the round",
    findings: [error instanceof Error ? (error.stack ?? error.message) : String(error)],
    steps: 0,
  }))
  most = Math.max(most, steps)
  for (const finding of findings) if (++found <= SHOWN) console.log(`--seed ${seed} --rounds 1: ${name}: ${finding}`)
}
console.log(`rounds ${done}, findings ${found}, most steps ${Math.round(most * 100)} % of those allowed`)
process.exitCode = found > 0 ? 1 : 0
