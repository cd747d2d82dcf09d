// A manifest has its exports twice: with the sources, for this workspace, and without them, as published. Checks that the two agree
// with each other and with the files, that the fields that a registry shows are there, and that the README has what it begins with.
import { existsSync, readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { join } from "node:path"
import { fieldsOf, folderOf, project } from "../lib/project.mjs"
import { publishable } from "../lib/workspace.mjs"

const problems = publishable().flatMap(({ dir, manifest }) =>
  problemsOf(dir, manifest).map((problem) => `${manifest.name}: ${problem}`),
)
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0

function problemsOf(dir, manifest) {
  return [
    ...exportProblems(dir, manifest),
    ...binProblems(dir, manifest),
    ...fieldProblems(dir, manifest),
    ...readmeProblems(dir),
  ]
}

function fieldProblems(dir, manifest) {
  const { description = "", keywords = [], license, engines, sideEffects, files = [], type } = manifest
  const problems = []
  if (description.length < 20 || description.length > 160) problems.push("description must have 20 to 160 characters")
  if (keywords.length < 4 || new Set(keywords).size !== keywords.length)
    problems.push("keywords must be at least four, each once")
  if (license !== "MIT") problems.push('license should be "MIT"')
  if (type !== "module") problems.push('type should be "module"')
  if (engines?.node !== ">=22.13") problems.push('engines.node should be ">=22.13"')
  if (sideEffects !== false) problems.push("sideEffects should be false")
  for (const pattern of ["dist/**/*.js", "dist/**/*.d.ts"])
    if (!files.includes(pattern)) problems.push(`files must have ${pattern}`)
  for (const [field, expected] of Object.entries(fieldsOf(project, folderOf(dir))))
    if (!isDeepStrictEqual(manifest[field], expected))
      problems.push(`${field} is not that of .config/project.json: run node .tools/project.mjs`)
  return problems
}

function readmeProblems(dir) {
  if (!existsSync(join(dir, "README.md"))) return ["there is no README.md"]
  const text = readFileSync(join(dir, "README.md"), "utf8")
  return [
    [/^(?:npm (?:install|create)|npx|bun add) /m, "says how to install it"],
    [/^```(?:ts|sh)$/m, "has an example"],
    [/`docs\/[\w-]+\.md`/, "names its page of docs/"],
  ].flatMap(([pattern, what]) => (pattern.test(text) ? [] : [`README.md: nothing ${what}`]))
}

function exportProblems(dir, { exports, publishConfig }) {
  const problems = []
  const published = {}
  for (const [path, { "@sessions/source": source, ...rest }] of Object.entries(exports)) {
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
