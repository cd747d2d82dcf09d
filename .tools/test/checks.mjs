import { contentProblems, packAll } from "../checks/packed.mjs"
import { inPool } from "../lib/pool.mjs"
import { run, runScript } from "../lib/run.mjs"
import { manifest } from "../lib/workspace.mjs"
import { build } from "./build.mjs"
import { total } from "./report.mjs"

/** A static check is one test: it passes if a script of the root package.json exits with 0. */
export function scriptCheck(what, script) {
  return check(what, () => runScript(manifest.scripts[script]))
}

export function buildCheck(what) {
  return check(what, build)
}

/** Packs the packages as published; what a package contains is one test, and each tool that checks it another. */
export function packedChecks(what) {
  return {
    name: `checks:${what}`,
    alone: true,
    async run() {
      const built = await build()
      if (built.code !== 0) return { passed: 0, failed: 1, skipped: 0, output: built.output }
      const { tarballs, failure } = await packAll()
      if (failure !== undefined) return { passed: 0, failed: 1, skipped: 0, output: failure }
      const outcomes = [...(await inPool(tarballs, checkContent)), ...(await checkTarballs(tarballs))]
      return { ...total(outcomes), output: outcomes.map(({ output }) => output).join("") }
    },
  }
}

async function checkContent({ name, file }) {
  const problems = await contentProblems({ name, file })
  return outcomeOfCheck(problems.length === 0, `${name}:\n${problems.join("\n")}\n`)
}

async function checkTarballs(tarballs) {
  const files = tarballs.map(({ file }) => file)
  const { code, output } = await run(process.execPath, [".tools/checks/tarballs.mjs", ...files])
  if (code !== 0) return [outcomeOfCheck(false, output)]
  return output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
    .map(({ file, tool, problems }) =>
      outcomeOfCheck(problems.length === 0, `${file}: ${tool}\n${problems.join("\n")}\n`),
    )
}

function outcomeOfCheck(isRight, output) {
  return { passed: isRight ? 1 : 0, failed: isRight ? 0 : 1, skipped: 0, output: isRight ? "" : output }
}

/** Alone, since checks read what others write: types, builds, pages. */
function check(what, command) {
  return {
    name: `checks:${what}`,
    alone: true,
    async run() {
      const { code, output } = await command()
      return outcomeOfCheck(code === 0, output)
    },
  }
}
