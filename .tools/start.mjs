// `npm start [-- FILE]`: installs the development tools and runs the first example. Needs Node 20 and npm.
import { spawn } from "node:child_process"
import { join } from "node:path"
import { install } from "./lib/install.mjs"
import { newestNode } from "./lib/runtimes.mjs"
import { root } from "./lib/workspace.mjs"

if (!(await install())) process.exit(1)

const flags = ["--conditions=source", "--import", new URL("typescript.mjs", import.meta.url).href]
const example = join(root, "examples", "resume-after-crash", "main.ts")
const child = spawn(newestNode(), [...flags, example, ...process.argv.slice(2)], { stdio: "inherit" })
child.on("close", (code) => {
  process.exitCode = code ?? 1
})
