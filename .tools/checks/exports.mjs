// A manifest has its exports twice: with the sources, for this workspace, and without them, as published. Checks that the two agree
// with each other and with the files.
import { existsSync, readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { join } from "node:path"
import { publishable } from "../lib/workspace.mjs"

const problems = publishable().flatMap(({ dir, manifest }) =>
  problemsOf(dir, manifest).map((problem) => `${manifest.name}: ${problem}`),
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

function problemsOf(dir, manifest) {
  return [...exportProblems(dir, manifest), ...binProblems(dir, manifest)]
}

function exportProblems(dir, { exports, publishConfig }) {
  const problems = []
  const published = {}
  for (const [path, { source, ...rest }] of Object.entries(exports)) {
    published[path] = rest
    if (!existsSync(join(dir, source))) problems.push(`exports "${path}": there is no ${source}`)
    const built = source.replace("./src/", "./dist/").replace(/\.ts$/, "")
    const expected = { types: `${built}.d.ts`, default: `${built}.js` }
    if (!isDeepStrictEqual(rest, expected)) problems.push(`exports "${path}" should be ${JSON.stringify(expected)}`)
  }
  if (!isDeepStrictEqual(publishConfig.exports, published)) {
    problems.push(`publishConfig.exports should be ${JSON.stringify(published)}`)
  }
  return problems
}

function binProblems(dir, { bin = {} }) {
  return Object.values(bin).flatMap((file) => {
    const source = file.replace("./dist/", "./src/").replace(/\.js$/, ".ts")
    if (!existsSync(join(dir, source))) return [`bin: there is no ${source}`]
    const starts = readFileSync(join(dir, source), "utf8").startsWith("#!/usr/bin/env node\n")
    return starts ? [] : [`bin: ${source} must start with #!/usr/bin/env node`]
  })
}
