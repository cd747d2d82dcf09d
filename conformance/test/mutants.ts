/**
 * `pnpm test:mutants [--only NAME]`: proves that every case of the suite can fail; with a name, that one mutant is killed. The last line is
 * `M mutants, K killed`.
 */
import { parseArgs } from "node:util"
import { cases } from "@sessions/conformance"
import { checkMutant, mutants } from "@sessions/conformance/mutants"

const { only } = parseArgs({ options: { only: { type: "string" } } }).values
const checked = mutants.filter(({ subject: { name } }) => only === undefined || name === only)
if (checked.length === 0) {
  console.error(`There is no mutant "${only}".`)
  process.exit(2)
}
const unnamed = only === undefined ? cases.filter(({ id }) => mutants.every(({ fails }) => !fails.includes(id))) : []
for (const { id, title } of unnamed) console.log(`${id} kills no mutant: ${title}`)

let killed = 0
for (const mutant of checked) {
  const verdict = await checkMutant(mutant)
  if (verdict.killed) killed++
  else console.log(`survives: a storage that ${verdict.mutant}`)
  for (const id of verdict.missing) console.log(`  ${id} passed, but should fail`)
  for (const { message } of verdict.unexpected) console.log(`  should pass: ${message}`)
}
console.log(`${checked.length} mutants, ${killed} killed`)
process.exitCode = killed === checked.length && unnamed.length === 0 ? 0 : 1
