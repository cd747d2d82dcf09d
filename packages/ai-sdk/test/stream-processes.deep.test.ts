import { endedRunTest } from "./ended-run.ts"
import { kinds } from "./storage-of-process.ts"

for (const [n, kind] of kinds.entries()) endedRunTest(kind, n % 2 === 0 ? "stopped" : "killed")
