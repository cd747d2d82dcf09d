// `pnpm test:agents [NAME...]`: installs the agents' own programs from the registry into a temporary folder, makes real sessions with them and a model
// on loopback, and compares what they send with our contexts. AGENTS_FOLDER names a folder in which they are installed already. Prints the versions; an
// agent that cannot be installed is named, and is no failure.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AGENTS } from "./agents/programs.mjs"
import { runScenes } from "./agents/scenes.mjs"
import { run } from "./lib/run.mjs"

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !AGENTS.some(({ format }) => format === name))
if (unknown.length > 0) {
  console.error(`There is no agent ${unknown.join(", ")}; there are ${AGENTS.map(({ format }) => format).join(", ")}.`)
  process.exit(2)
}
const given = process.env["AGENTS_FOLDER"]
const folder = given ?? mkdtempSync(join(tmpdir(), "agents-installed-"))
if (given === undefined) writeFileSync(join(folder, "package.json"), '{"private":true}')
const totals = { passed: 0, failed: 0, absent: 0 }
try {
  const present = []
  for (const agent of AGENTS) {
    const reason = given === undefined ? await install(agent) : undefined
    const at = agent.program(folder)
    if (at === undefined) {
      totals.absent++
      console.log(
        `absent: ${agent.title}: ${reason ?? `${agent.package} is not in the folder, or has no program for this system`}`,
      )
    } else present.push({ ...agent, at, version: versionOf(agent) })
  }
  for (const agent of present.filter(({ format }) => wanted.length === 0 || wanted.includes(format))) {
    const others = present.filter(({ format }) => format !== agent.format)
    const { lines, passed, failed } = await runScenes(agent, others)
    totals.passed += passed
    totals.failed += failed
    console.log([`${agent.title} ${agent.version}: ${passed} hold, ${failed} do not`, ...lines].join("\n"))
  }
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true })
}
console.log(`agents: comparisons ${totals.passed + totals.failed}, failed ${totals.failed}, absent ${totals.absent}`)
process.exitCode = totals.failed === 0 ? 0 : 1

/** Why it is not there; undefined if it is. */
async function install({ package: name }) {
  const args = ["install", "--no-audit", "--no-fund", "--silent", `${name}@latest`]
  const { code, output } = await run("npm", args, { cwd: folder, shell: process.platform === "win32" })
  return code === 0 ? undefined : `npm ended with ${code}: ${output.trim().split("\n").at(-1)}`
}

function versionOf({ package: name }) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version
}
