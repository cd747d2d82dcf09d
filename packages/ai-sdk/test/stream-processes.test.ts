/** Of each storage one of the two ends, since each process loads the whole AI SDK; the deep tests have the others. */
import { endedRunTest } from "./ended-run.ts"
import { kinds } from "./storage-of-process.ts"

for (const [n, kind] of kinds.entries()) endedRunTest(kind, n % 2 === 0 ? "killed" : "stopped")
