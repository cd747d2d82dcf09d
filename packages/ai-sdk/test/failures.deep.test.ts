import { killedRunTest } from "./killed-run.ts"
import { kinds } from "./storage-of-process.ts"

for (const kind of kinds) killedRunTest(kind, [1, 3, 4, 7, 30])
