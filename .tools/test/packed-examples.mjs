import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { packAll } from "../checks/packed.mjs"
import { run } from "../lib/run.mjs"
import { absent, newestNode } from "../lib/runtimes.mjs"
import { packages, publishable, root } from "../lib/workspace.mjs"
import { build } from "./build.mjs"

/** The examples of the agent SDKs and the providers. Each prints the same in every run. */
const NAMES = ["ai-sdk-chat", "claude-agent", "langgraph", "openai-agents", "providers"]

/** Runs the examples in a folder of their own, with the packages as npm gets them: they print what they print in the workspace. */
export const packedExamples = {
  name: "example:packed",
  absent: absent.node,
  async run() {
    const built = await build()
    if (built.code !== 0) return { passed: 0, failed: 1, skipped: 0, output: built.output }
    const { tarballs, failure } = await packAll()
    if (failure !== undefined) return { passed: 0, failed: 1, skipped: 0, output: failure }
    const folder = mkdtempSync(join(tmpdir(), "sessions-packed-"))
    try {
      await install(tarballs, folder)
      let [failed, output] = [0, ""]
      for (const name of NAMES) {
        const [packed, source] = [await print(folder, name, []), await print(folder, name, ["--conditions=source"])]
        if (packed.code === 0 && packed.output === source.output) continue
        failed++
        output += `${name}, packed:\n${packed.output}\nin the workspace:\n${source.output}\n`
      }
      return { passed: NAMES.length - failed, failed, skipped: 0, output }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** Unpacks the packages, and links what they and the examples depend on. */
async function install(tarballs, folder) {
  for (const { name, file } of tarballs) {
    const to = join(folder, "node_modules", name)
    mkdirSync(to, { recursive: true })
    const { code, output } = await run("tar", ["-xzf", file, "-C", to, "--strip-components=1"])
    if (code !== 0) throw new Error(`${file} cannot be unpacked: ${output}`)
  }
  const examples = packages().filter(
    ({ dir }) => NAMES.includes(basename(dir)) && basename(dirname(dir)) === "examples",
  )
  for (const { dir, manifest } of [...publishable(), ...examples]) {
    for (const dependency of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
      const [from, to] = [join(dir, "node_modules", dependency), join(folder, "node_modules", dependency)]
      if (existsSync(to) || !existsSync(from)) continue
      mkdirSync(dirname(to), { recursive: true })
      symlinkSync(from, to, "junction")
    }
  }
  for (const { dir } of examples)
    cpSync(dir, join(folder, basename(dir)), { recursive: true, filter: (path) => basename(path) !== "node_modules" })
}

/** With conditions it is the example of the workspace, else the copy. */
async function print(folder, name, conditions) {
  const program = join(conditions.length > 0 ? join(root, "examples") : folder, name, "main.ts")
  const cwd = mkdtempSync(join(folder, "run-"))
  return run(newestNode(), [...conditions, program], { cwd, env: { NODE_NO_WARNINGS: "1" } })
}
