#!/usr/bin/env node
/** `npm create @sessions/adapter FOLDER`. */
import { readFileSync } from "node:fs"
import { basename, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { createProject, UsageError } from "./create.ts"

const USAGE = `npm create @sessions/adapter FOLDER

Writes a storage for @sessions/core into a new folder, as a package of its own, with the conformance suite for Node, Bun and Deno.
The last part of FOLDER names the package, with a scope before it if there is one:

  npm create @sessions/adapter my-store
  npm create @sessions/adapter @acme/store
`

const [folder, ...more] = process.argv.slice(2)
if (folder === undefined || folder.startsWith("-") || more.length > 0) {
  const asked = folder === "--help" || folder === "-h"
  ;(asked ? process.stdout : process.stderr).write(USAGE)
  process.exitCode = asked ? 0 : 1
} else {
  const manifest = fileURLToPath(new URL("../package.json", import.meta.url))
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string }
  const template = fileURLToPath(new URL("../template", import.meta.url))
  try {
    const files = createProject({ template, folder, version, year: new Date().getFullYear() })
    process.stdout.write(`${basename(resolve(folder))}: ${files.length} files in ${folder}

  cd ${folder}
  npm install
  npm test

Then replace src/store.ts by your database. README.md says what else.
`)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
}
