/** `npm start`: runs the conformance suite against this storage. */
import { run } from "@sessions/conformance"
import subject from "./subject.ts"

const { counts } = await run(subject)
console.log(
  `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} for capabilities that this storage does not have`,
)
process.exitCode = counts.failed === 0 ? 0 : 1
