// `pnpm bench [GROUP…] [--runtime node|bun|deno|chromium|firefox|webkit] [--json FILE] [--quick]`: builds the packages, starts the
// servers that a group needs, and runs the benchmarks on the built packages. Without a group it runs all of them.
// `pnpm bench:compare DIR [GROUP…]` (`--before DIR`) compares another checkout, already built, with this one, row by row.
import { spawn } from "node:child_process"
import { rmSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { planOf } from "./lib/bench-plan.mjs"
import { absentFromSystem, system } from "./lib/debian.mjs"
import { install } from "./lib/install.mjs"
import { postgresUrl } from "./lib/postgres-server.mjs"
import { absent, newestNode } from "./lib/runtimes.mjs"
import { runScript } from "./lib/run.mjs"
import { s3Server } from "./lib/s3-server.mjs"
import { manifest, root } from "./lib/workspace.mjs"

const commands = {
  node: [newestNode()],
  bun: [join(root, "node_modules", ".bin", "bun")],
  deno: [join(root, "node_modules", ".bin", "deno"), "run", "-A", "--no-lock", "--cached-only"],
}

/** The servers of groups, each with the variable that tells the benchmarks its address. */
const servers = {
  s3: {
    software: system.s3,
    variable: "S3_BENCH_SERVER",
    address: async () => JSON.stringify(await s3Server()),
  },
  postgres: {
    software: system.postgres,
    variable: "POSTGRES_BENCH_SERVER",
    address: postgresUrl,
    given: process.env.SESSIONS_TEST_POSTGRES !== undefined,
  },
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    before: { type: "string" },
    runtime: { type: "string" },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
  },
})
/** A run of everything takes some minutes, a comparison about seven times as long. */
const TIMEOUT = (values.before === undefined ? 30 : 240) * 60_000
const plan = planOf(positionals, values.runtime)
if (typeof plan === "string") {
  console.error(`bench: ${plan}`)
  process.exit(2)
}
if (!(await install())) process.exit(1)
const built = await runScript(manifest.scripts.build)
if (built.code !== 0) {
  console.error(built.output)
  process.exit(1)
}
// A run of everything begins the file anew; a run of some groups replaces their results.
if (values.json !== undefined && positionals.length === 0 && values.runtime === undefined) {
  rmSync(values.json, { force: true })
}
let failed = false
for (const run of plan) {
  const code = await bench(run)
  failed ||= code !== 0
}
// An exit also stops the servers.
process.exit(failed ? 1 : 0)

async function bench({ runtime, groups: wanted, engine }) {
  const reason = await absent[runtime]()
  if (reason !== undefined) return skip(`${runtime} (${wanted.join(", ")})`, reason)
  const env = {}
  const here = []
  for (const name of wanted) {
    const lacking = await prepare(name, engine, env)
    if (lacking === undefined) here.push(name)
    else skip(name, lacking)
  }
  if (here.length === 0) return 0
  const flags = ["before", "json"].flatMap((name) => (values[name] === undefined ? [] : [`--${name}`, values[name]]))
  if (values.quick) flags.push("--quick")
  const program = values.before === undefined ? "main.ts" : "compare.ts"
  const args = [join(root, "benchmarks", "src", program), ...here, "--engine", engine, ...flags]
  return runHere([...commands[runtime], ...args], env)
}

/** Provides what a group needs of the system. Returns the reason if that is impossible. */
async function prepare(group, engine, env) {
  if (group === "browser") return absentFromSystem(system[engine], [system[engine]])
  const server = servers[group]
  if (server === undefined) return undefined
  const lacking = server.given ? undefined : await absentFromSystem(server.software, [server.software])
  if (lacking !== undefined) return lacking
  try {
    env[server.variable] = await server.address()
    return undefined
  } catch (error) {
    return `the server did not start: ${error.message}`
  }
}

/** A missing browser, server or runtime is no failure. */
function skip(what, reason) {
  console.error(`skipped: ${what}: ${reason}`)
  return 0
}

/** Runs a command and returns its exit code. After SIGTERM the benchmarks have ten seconds to close what they have started. */
function runHere([command, ...args], env) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: "inherit", env: { ...process.env, ...env } })
    const late = setTimeout(() => {
      console.error(`bench: ended after ${TIMEOUT / 60_000} minutes`)
      child.kill("SIGTERM")
      setTimeout(() => child.kill("SIGKILL"), 10_000).unref()
    }, TIMEOUT)
    const stop = () => child.kill("SIGTERM")
    process.once("exit", stop)
    const ended = (code) => {
      clearTimeout(late)
      process.off("exit", stop)
      resolve(code ?? 1)
    }
    child.on("error", () => ended(1))
    child.on("close", ended)
  })
}
