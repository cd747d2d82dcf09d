// `pnpm bench [GROUP…] [--runtime node|bun|deno] …`: builds the packages, so that what is measured is what users get, and runs the
// benchmarks in the runtime that is asked for.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { install } from "./lib/install.mjs"
import { newestNode } from "./lib/runtimes.mjs"
import { runScript } from "./lib/run.mjs"
import { manifest, root } from "./lib/workspace.mjs"

const runtimes = {
  node: [newestNode(), []],
  bun: [join(root, "node_modules", ".bin", "bun"), []],
  deno: [join(root, "node_modules", ".bin", "deno"), ["run", "-A", "--no-lock", "--cached-only"]],
}

const args = process.argv.slice(2)
const at = args.indexOf("--runtime")
const [name] = at === -1 ? ["node"] : args.splice(at, 2).slice(1)
const runtime = runtimes[name]
if (runtime === undefined) {
  console.error(`bench: there is no runtime ${name}; choose from ${Object.keys(runtimes).join(", ")}`)
  process.exit(2)
}

if (!(await install())) process.exit(1)
const built = await runScript(manifest.scripts.build)
if (built.code !== 0) {
  console.error(built.output)
  process.exit(1)
}
const [command, flags] = runtime
const child = spawn(command, [...flags, join(root, "benchmarks", "src", "main.ts"), ...args], { stdio: "inherit" })
child.on("close", (code) => {
  process.exitCode = code ?? 1
})
