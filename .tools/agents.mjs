// `pnpm test:agents [NAME...]`: installs the agents' own programs from the registry into a temporary folder, makes real sessions with them and a model
// on loopback, and compares what they send with our contexts. AGENTS_FOLDER names a folder in which they are installed already, SCENES a pattern of the names
// of the scenes that are played, TARGETS=all hands each session over to every agent and not to itself and one other, TARGETS=self to itself, TARGETS=none to
// nobody. KEEP=1 leaves the folders of what differs, with the requests. Prints the versions; an agent that cannot be installed is named, and is no failure.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { AGENTS } from "./agents/drivers/index.mjs"
import { absenceOf, play } from "./agents/play.mjs"
import { SCENES } from "./agents/scenes.mjs"
import { sideBySide } from "./agents/side-by-side.mjs"
import { inPool } from "./lib/pool.mjs"
import { run } from "./lib/run.mjs"
import { TARGETS } from "../packages/cli/src/agents/table.ts"

const wanted = process.argv.slice(2)
const unknown = wanted.filter((name) => !AGENTS.some(({ format }) => format === name))
if (unknown.length > 0) {
  console.error(`There is no agent ${unknown.join(", ")}; there are ${AGENTS.map(({ format }) => format).join(", ")}.`)
  process.exit(2)
}
const given = process.env["AGENTS_FOLDER"]
const folder = given ?? mkdtempSync(join(tmpdir(), "agents-installed-"))
if (given === undefined) writeFileSync(join(folder, "package.json"), '{"private":true}')
const isKept = process.env["KEEP"] === "1"
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
  for (const agent of present.filter(({ format }) => wanted.length === 0 || wanted.includes(format)))
    await playAll(agent, present)
} finally {
  if (given === undefined) rmSync(folder, { recursive: true, force: true })
}
console.log(`agents: comparisons ${totals.passed + totals.failed}, failed ${totals.failed}, absent ${totals.absent}`)
process.exitCode = totals.failed === 0 ? 0 : 1

/** Several scenes at a time: each has its own model and its own home. */
async function playAll(agent, present) {
  const scenes = SCENES.filter(({ name }) => new RegExp(process.env["SCENES"] ?? "").test(name))
  const playAndTell = async (scene, i) => {
    const report = await playOne(agent, scene, targetsOf(agent, present, i))
    console.log([`${agent.title}, ${scene.name}: ${report.passed} hold`, ...report.lines].join("\n"))
    return report
  }
  const reports = await inPool(scenes, playAndTell, Math.max(1, availableParallelism() - 1))
  const sum = (name) => reports.reduce((all, one) => all + one[name], 0)
  totals.passed += sum("passed")
  totals.failed += sum("failed")
  const played = reports.filter(({ absent }) => absent === undefined).length
  console.log(
    `${agent.title} ${agent.version}: ${played} scenes, ${sum("passed")} comparisons hold, ${sum("failed")} do not`,
  )
}

async function playOne(agent, scene, targets) {
  const report = { passed: 0, failed: 0, lines: [], absent: absenceOf(agent, scene) }
  if (report.absent !== undefined) {
    report.lines.push(`  not played: ${report.absent}`)
    return report
  }
  const check = (name, expected, found) => {
    if (JSON.stringify(expected) === JSON.stringify(found)) report.passed++
    else {
      report.failed++
      report.lines.push(`  differs: ${name}`, ...sideBySide(expected, found))
    }
  }
  const failed = (error) => {
    report.failed++
    report.lines.push(`  failed: ${error.stack}`)
  }
  const left = (folder) => {
    if (!isKept || report.failed === 0) return false
    report.lines.push(`  kept: ${folder}`)
    return true
  }
  await play(agent, scene, targets, { check, failed, left }).catch(failed)
  return report
}

/** The agent itself and one of the others, in turn; `TARGETS=all`, `TARGETS=self` and `TARGETS=none` are what they say. */
function targetsOf(agent, present, i) {
  if (process.env["TARGETS"] === "none") return []
  const written = present.filter(({ format }) => TARGETS.some((target) => target.format.format === format))
  const others = written.filter(({ format }) => format !== agent.format)
  const itself = written.filter(({ format }) => format === agent.format)
  if (process.env["TARGETS"] === "self") return itself
  return process.env["TARGETS"] === "all"
    ? [...itself, ...others]
    : [...itself, ...others.slice(i % others.length).slice(0, 1)]
}

/** Why it is not there; undefined if it is. */
async function install({ package: name }) {
  const args = ["install", "--no-audit", "--no-fund", "--silent", `${name}@latest`]
  const { code, output } = await run("npm", args, { cwd: folder, shell: process.platform === "win32" })
  return code === 0 ? undefined : `npm ended with ${code}: ${output.trim().split("\n").at(-1)}`
}

function versionOf({ package: name }) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version
}
