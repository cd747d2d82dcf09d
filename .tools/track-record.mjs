// `pnpm test:track-record [NAME…]`: takes the fix of each row of the track record out of a copy of the work tree, one by one, and checks that the tests
// of the row fail then. NAME is a part of a row's name. `--page` writes docs/track-record.md from the rows, `--check` fails if that is stale.
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { parseArgs } from "node:util"
import { install } from "./lib/install.mjs"
import { path, toPage } from "./track-record/page.mjs"
import { problemOf } from "./track-record/prove.mjs"
import { readRows } from "./track-record/row.mjs"
import { copyTree } from "./track-record/tree.mjs"

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { page: { type: "boolean" }, check: { type: "boolean" } },
})
const rows = readRows(positionals)
if (rows.length === 0) {
  console.error(`No row has ${positionals.join(" or ")} in its name.`)
  process.exit(2)
}
if (values.page) writeFileSync(path, toPage(rows))
else if (values.check) check()
else await prove()

function check() {
  if (readFileSync(path, "utf8") === toPage(rows)) return
  console.error("docs/track-record.md is not what the rows say. `pnpm docs:track-record` writes it.")
  process.exitCode = 1
}

async function prove() {
  if (!(await install())) process.exit(1)
  const sum = { passed: 0, failed: 0 }
  const left = rows.flatMap((row) => row.proofs.map((proof) => ({ row, proof })))
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism(), left.length) }, () => proveAll(left, sum)))
  console.log(`${sum.passed} passed, ${sum.failed} failed`)
  process.exitCode = sum.failed > 0 ? 1 : 0
}

/** Takes from `left` until nothing is left, in a copy of its own. */
async function proveAll(left, sum) {
  const tree = await copyTree()
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const { row, proof } = next
    const problem = await problemOf(proof, tree.folder)
    if (problem === undefined) sum.passed++
    else sum.failed++
    console.log(problem === undefined ? `ok    ${row.name}` : `FAIL  ${row.name}: ${proof.text}\n      ${problem}`)
  }
  tree.remove()
}
