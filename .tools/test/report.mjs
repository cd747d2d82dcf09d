import { measured } from "../lib/run.mjs"
import { SLOW_CPU } from "../lib/test-files.mjs"
import { failureLines } from "./failures.mjs"

/** Runs a step and prints a line, and its whole output if it failed. Returns its outcome with its name and the seconds that it took. */
export async function report(step, options) {
  const reason = await step.absent?.()
  if (reason !== undefined) {
    console.log(`${options.ci ? "FAIL" : "skipped"}  ${step.name}: ${reason}`)
    return { name: step.name, passed: 0, failed: options.ci ? 1 : 0, skipped: 0, output: reason, absent: reason }
  }
  const started = performance.now()
  const { result: outcome, cpu } = await measured(() =>
    step.run(options).catch((error) => {
      // A defect of the step itself is one failure, and the other steps go on.
      return { passed: 0, failed: 1, skipped: 0, output: String(error?.stack ?? error) }
    }),
  )
  const wall = (performance.now() - started) / 1000
  if (outcome.failed > 0) console.log(`\n${outcome.output.trim()}\n`)
  const seconds = `${wall.toFixed(1).padStart(6)} s ${cpu.toFixed(1).padStart(6)} s CPU`
  console.log(
    `${outcome.failed > 0 ? "FAIL" : "ok  "}  ${step.name.padEnd(18)} ${counts(outcome).padEnd(26)} ${seconds}`,
  )
  for (const line of outcome.measured ?? []) console.log(`      ${line}`)
  return { ...outcome, name: step.name, wall, cpu }
}

const SLOWEST = 10

/** The slowest tests of a run, by CPU time where it was measured, and the steps that could not run. */
export function summary(outcomes) {
  const tests = outcomes
    .flatMap(({ name, tests = [] }) => tests.map((test) => ({ ...test, name: `${name} > ${test.name}` })))
    .toSorted((a, b) => (b.cpu ?? b.seconds) - (a.cpu ?? a.seconds))
    .slice(0, SLOWEST)
  const left = outcomes.filter(({ absent }) => absent !== undefined)
  return [
    ...(tests.length > 0 ? ["The slowest tests, in seconds of CPU, or of time where those are not known:"] : []),
    ...tests.map(
      ({ name, seconds, cpu, isTooSlow }) =>
        `  ${(cpu ?? seconds).toFixed(1).padStart(5)}  ${name}${isTooSlow ? TOO_SLOW : ""}`,
    ),
    ...(left.length > 0 ? ["What could not run on this machine:"] : []),
    ...left.map(({ name, absent }) => `  ${name}: ${absent}`),
  ]
}

const TOO_SLOW = `  (over ${SLOW_CPU} s, and not in a .deep file)`

/** The end of a run: each failed step with its failed tests, since a long output may be cut, and the counts in the last line. */
export function ending(outcomes) {
  const sum = total(outcomes)
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : ""
  return [...failureLines(outcomes), `${sum.passed} passed, ${sum.failed} failed${skipped}`].join("\n")
}

export function total(outcomes) {
  const sum = { passed: 0, failed: 0, skipped: 0 }
  for (const outcome of outcomes) for (const key of Object.keys(sum)) sum[key] += outcome[key]
  return sum
}

/**
 * The outcome of a runner, from the counts and the failures of its report and its exit code. A run that found no tests, or that failed outside of a test,
 * counts as one failure.
 */
export function outcomeOf(counted, { code, output }) {
  if (counted === undefined)
    return { passed: 0, failed: 1, skipped: 0, output: `${output}\nThe runner left no report.` }
  if (counted.failed === 0 && code !== 0) return { ...counted, failed: 1, output }
  if (counted.passed + counted.failed + counted.skipped === 0) {
    return { ...counted, failed: 1, output: `${output}\nNo tests were found.` }
  }
  return { ...counted, output }
}

function counts({ passed, failed, skipped }) {
  const parts = [`${passed} passed`]
  if (failed > 0) parts.push(`${failed} failed`)
  if (skipped > 0) parts.push(`${skipped} skipped`)
  return parts.join(", ")
}
