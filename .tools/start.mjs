// `npm start [-- FILE]`: installs the development tools and runs the first example. Starts on Node 20 too, since a machine may have nothing newer: the Node that it installs runs the example.
import { spawn } from "node:child_process"
import { fromSources } from "./lib/from-sources.mjs"
import { install } from "./lib/install.mjs"

if (!(await install())) process.exit(1)

const child = spawn(...fromSources("examples/resume-after-crash/main.ts", ...process.argv.slice(2)), {
  stdio: "inherit",
})
child.on("close", (code) => {
  process.exitCode = code ?? 1
})
