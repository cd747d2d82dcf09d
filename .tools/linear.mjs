// `pnpm test:linear [--adapter NAME] [--seconds N | --rounds N] [--seed S] [--planted]`: checks that what several clients see of one
// session at once is linearizable, on one storage or all of them in turn; `.tools/runtimes/linear` says how. `--planted` checks that
// planted defects are found, by default on files.
import { spawn } from "node:child_process"
import { parseArgs } from "node:util"
import { linearAdapters, linearCommand } from "./lib/linear.mjs"

const { values } = parseArgs({
  options: {
    adapter: { type: "string" },
    seconds: { type: "string" },
    rounds: { type: "string" },
    seed: { type: "string" },
    planted: { type: "boolean", default: false },
  },
})
const { adapter, planted, ...passed } = values
if (adapter !== undefined && linearAdapters[adapter] === undefined) {
  console.error(`There is no adapter ${adapter}; choose from ${Object.keys(linearAdapters).join(", ")}.`)
  process.exit(2)
}
const args = [...Object.entries(passed).map(([name, value]) => `--${name}=${value}`), ...(planted ? ["--planted"] : [])]
const all = planted ? ["files"] : Object.keys(linearAdapters)
let failed = false
for (const one of adapter === undefined ? all : [adapter]) {
  const reason = await linearAdapters[one].absent()
  if (reason !== undefined) {
    console.log(`${one}: skipped, ${reason}`)
    failed ||= adapter !== undefined
    continue
  }
  const code = await runHere(linearCommand(one, args), await linearAdapters[one].start?.())
  failed ||= code !== 0
}
// An exit also stops the servers.
process.exit(failed ? 1 : 0)

/** The run asks for a crash of its server by a message, and gets one when the server runs again. */
function runHere([command, args], { env, crash } = {}) {
  return new Promise((resolve) => {
    const channel = crash === undefined ? [] : ["ipc"]
    const child = spawn(command, args, {
      stdio: ["inherit", "inherit", "inherit", ...channel],
      env: { ...process.env, ...env },
    })
    child.on("message", () => void crash().then(() => child.send("running")))
    child.once("error", () => resolve(127))
    child.once("exit", (code) => resolve(code ?? 1))
  })
}
