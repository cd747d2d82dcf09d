#!/usr/bin/env node
import { processIo, run } from "./index.ts"

// Everything has been written by then, and a pipe that nobody reads any more must not keep the process.
process.exit(await run(process.argv.slice(2), processIo()))
