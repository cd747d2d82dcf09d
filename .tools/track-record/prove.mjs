// Takes a fix out of a copy of the work tree, and says whether the test that a row names fails then.
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { run } from "../lib/run.mjs"
import { flags } from "../lib/from-sources.mjs"
import { newestNode } from "../lib/runtimes.mjs"
import { applyPatch } from "./tree.mjs"
import { isDeep } from "../lib/test-files.mjs"

/** Of the random cases: a proof holds always, or never. */
const SEED = "1"

/** Undefined if the proof holds, else what is wrong. The tree is as before. */
export async function problemOf(proof, folder) {
  if (proof.kind === "Mutant") return mutantProblem(proof.text, folder)
  const refused = await applyPatch(folder, proof.patch)
  if (refused !== undefined) return `the patch does not apply: ${refused}`
  try {
    return proof.kind === "Test" ? await testProblem(proof.text, folder) : await commandProblem(proof, folder)
  } finally {
    await applyPatch(folder, proof.patch, "--reverse")
  }
}

async function testProblem(text, folder) {
  const [file, name] = split(text)
  const report = join(folder, ".reports", "track-record.json")
  rmSync(report, { force: true })
  const program = join("node_modules", "vitest", "vitest.mjs")
  const output = ["--reporter=json", `--outputFile=${report}`]
  const args = [program, "run", "--config", ".config/vitest.config.ts", ...output, file, "-t", escaped(name)]
  const result = await run(newestNode(), args, { cwd: folder, env: { SEED, ...(isDeep(file) && { DEEP: "1" }) } })
  if (!existsSync(report)) return `vitest left no report: ${result.output}`
  const { testResults } = JSON.parse(readFileSync(report, "utf8"))
  const ran = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== "skipped")
  if (ran.some(({ status }) => status === "failed")) return undefined
  if (ran.length > 0) return `${ran.length} tests pass without the fix`
  return testResults.some(({ status }) => status === "failed")
    ? `${file} cannot be loaded without the fix: ${testResults[0].message}`
    : `${file} has no test "${name}"`
}

async function commandProblem({ text, prints }, folder) {
  const { code, output } = await run(text, [], { cwd: folder, shell: true })
  if (code === 0) return "the command succeeds without the fix"
  return output.includes(prints) ? undefined : `the command does not print "${prints}": ${output.slice(-2_000)}`
}

async function mutantProblem(name, folder) {
  const result = await run(newestNode(), [...flags, "conformance/test/mutants.ts", "--only", name], { cwd: folder })
  return result.code === 0 ? undefined : result.output.trim()
}

/** The file and a part of the name of a test, as `-t` of vitest takes it: the names of its groups and its own, with ` > ` between. */
function split(text) {
  const at = text.indexOf(" > ")
  return [text.slice(0, at), text.slice(at + " > ".length)]
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
