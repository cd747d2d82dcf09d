// `pnpm test:track-record [NAME…] [--part N/M]`: takes the fix of each row of the track record out of a copy of the work tree, one by one, and
// checks that the test of the row fails then. NAME is a part of a row's name. `--page` writes docs/track-record.md.
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { install } from "./lib/install.mjs"
import { problemOf } from "./track-record/prove.mjs"
import { readRows } from "./track-record/row.mjs"
import { copyTree } from "./track-record/tree.mjs"

const { positionals } = parseArgs({ allowPositionals: true, options: {} })
const rows = readRows(positionals)
if (rows.length === 0) {
  console.error(`No row has ${positionals.join(" or ")} in its name.`)
  process.exit(2)
}
if (!(await install())) process.exit(1)

let passed = 0
let failed = 0
const left = rows.flatMap((row) => row.proofs.map((proof) => ({ row, proof })))
await Promise.all(Array.from({ length: Math.min(2, availableParallelism(), left.length) }, lane))
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

async function lane() {
  const tree = await copyTree()
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { row, proof } = next
    const problem = await problemOf(proof, tree.folder)
    if (problem === undefined) passed++
    else failed++
    console.log(problem === undefined ? `ok    ${row.name}` : `FAIL  ${row.name}: ${proof.text}\n      ${problem}`)
  }
  tree.remove()
}
