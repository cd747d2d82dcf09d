/** `pnpm test:mutants`: proves that every case of the suite can fail. The last line is `M mutants, K killed`. */
import { cases } from "@sessions/conformance"
import { checkMutant, mutants } from "@sessions/conformance/mutants"

const unnamed = cases.filter(({ id }) => mutants.every(({ fails }) => !fails.includes(id)))
for (const { id, title } of unnamed) console.log(`${id} kills no mutant: ${title}`)

let killed = 0
for (const mutant of mutants) {
  const verdict = await checkMutant(mutant)
  if (verdict.killed) killed++
  else console.log(`survives: a storage that ${verdict.mutant}`)
  for (const id of verdict.missing) console.log(`  ${id} passed, but should fail`)
  for (const { message } of verdict.unexpected) console.log(`  should pass: ${message}`)
}
console.log(`${mutants.length} mutants, ${killed} killed`)
process.exitCode = killed === mutants.length && unnamed.length === 0 ? 0 : 1
