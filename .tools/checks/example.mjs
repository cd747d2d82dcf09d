// Checks the size of the SQLite adapter, which is the template for authors and therefore has to stay small.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../lib/workspace.mjs"

const MOST = 250
const folder = join(root, "examples", "adapter-sqlite", "src")
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())

let lines = 0
for (const { parentPath, name } of files)
  lines += readFileSync(join(parentPath, name), "utf8").trimEnd().split("\n").length
console.log(`examples/adapter-sqlite/src has ${lines} lines; the limit is below ${MOST}.`)
process.exitCode = files.length > 0 && lines < MOST ? 0 : 1
