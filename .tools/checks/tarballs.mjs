// node .tools/checks/tarballs.mjs FILE…: what publint and Are The Types Wrong find in packed packages, `{ file, tool, problems }` as JSON, a line for
// each file and tool. In one process, since a start of either takes several times as long as a check.
import { readFileSync } from "node:fs"
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core"
import { publint } from "publint"
import { formatMessage } from "publint/utils"

/** How a package that is only ESM cannot be loaded by definition: the profile `esm-only` of the command `attw`. */
const NOT_FOR_ESM = ["node10", "node16-cjs"]

for (const file of process.argv.slice(2)) {
  const bytes = new Uint8Array(readFileSync(file))
  print(file, "publint", await lint(bytes))
  print(file, "attw", await typeProblems(bytes))
}

async function lint(bytes) {
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true })
  return messages.filter(({ type }) => type === "error").map((message) => formatMessage(message, pkg) ?? message.code)
}

async function typeProblems(bytes) {
  const { types, problems = [] } = await checkPackage(createPackageFromTarballData(bytes))
  if (!types) return []
  return problems
    .filter(({ resolutionKind }) => !NOT_FOR_ESM.includes(resolutionKind))
    .map((one) => JSON.stringify(one))
}

function print(file, tool, problems) {
  console.log(JSON.stringify({ file, tool, problems }))
}
