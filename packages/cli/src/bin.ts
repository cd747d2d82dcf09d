#!/usr/bin/env node
import { version } from "./index.ts"

process.stdout.write(`${version}\n`)
