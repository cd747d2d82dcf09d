// `node exam/make.mjs DIR`: makes the project folder in which the tasks are solved. It needs nothing of this repository afterwards.
import { mkdirSync, readdirSync } from "node:fs"
import { resolve } from "node:path"
import { packAll } from "../.tools/checks/packed.mjs"
import { run } from "../.tools/lib/run.mjs"
import { build } from "../.tools/test/build.mjs"
import { copyTasks, tasks, writeManifest } from "./lib/project.mjs"

const [given] = process.argv.slice(2)
if (given === undefined) fail("Usage: node exam/make.mjs DIR")
const folder = resolve(given)
mkdirSync(folder, { recursive: true })
if (readdirSync(folder).length > 0) fail(`${folder} is not empty.`)

const built = await build()
if (built.code !== 0) fail(built.output)
const { tarballs, failure } = await packAll()
if (failure !== undefined) fail(failure)
writeManifest(tarballs, folder)
const installed = await run("npm", ["install", "--no-audit", "--no-fund"], { cwd: folder })
if (installed.code !== 0) fail(installed.output)
copyTasks(folder)
console.log(`${folder} has ${tasks().length} tasks and ${tarballs.length} packages.`)

function fail(message) {
  console.error(message)
  process.exit(1)
}
