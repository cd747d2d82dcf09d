#!/usr/bin/env node
import { processIo, run } from "./index.ts"
import { silenceSqliteWarning } from "./warnings.ts"

silenceSqliteWarning(process)

// All output is written by now. A pipe whose reader has gone must not keep the process alive.
process.exit(await run(process.argv.slice(2), processIo()))
