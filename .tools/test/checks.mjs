import { contentProblems, packAll, packedTools } from "../checks/packed.mjs"
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

/** Packs the packages as published; what it contains is one test, and each tool that checks it another. */
export function packedChecks(what) {
  return {
    name: `checks:${what}`,
    alone: true,
    async run() {
      const built = await build()
      if (built.code !== 0) return { passed: 0, failed: 1, skipped: 0, output: built.output }
      const { tarballs, failure } = await packAll()
      if (failure !== undefined) return { passed: 0, failed: 1, skipped: 0, output: failure }
      const outcomes = []
      let output = ""
      for (const { name, file } of tarballs) {
        const problems = await contentProblems({ name, file })
        outcomes.push({ passed: problems.length === 0 ? 1 : 0, failed: problems.length === 0 ? 0 : 1, skipped: 0 })
        if (problems.length > 0) output += `${name}:\n${problems.join("\n")}\n`
        for (const [command, ...args] of packedTools(file)) {
          const result = await run(command, args)
          const failed = result.code === 0 ? 0 : 1
          outcomes.push({ passed: 1 - failed, failed, skipped: 0 })
          if (failed > 0) output += `${name}: ${command}\n${result.output}\n`
        }
      }
      return { ...total(outcomes), output }
    },
  }
}

/** Alone, since checks read what others write: types, builds, pages. */
function check(what, command) {
  return {
    name: `checks:${what}`,
    alone: true,
    async run() {
      const { code, output } = await command()
      return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, skipped: 0, output }
    },
  }
}
