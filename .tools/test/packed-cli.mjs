import { chmodSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { unpackAll } from "../lib/packed-project.mjs"
import { run } from "../lib/run.mjs"
import { absent } from "../lib/runtimes.mjs"
import { publishable } from "../lib/workspace.mjs"
import { withPackedAlone } from "./packed-step.mjs"

const CLI = "@sessions/cli"
const LOG = `{"type":"session","version":3,"id":"a","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/project"}
{"type":"message","id":"m1","parentId":null,"timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"user","content":"fix the tests"}}
`
/** What each command prints, and its exit status if it is not 0. */
const COMMANDS = [
  ["--version", /^\d+\.\d+\.\d+\n$/],
  ["import in.jsonl --id a", /^a\n/],
  ["list", /\na .* fix the tests\n$/],
  ["show @last", /\n {2}fix the tests\n/],
  ["context @last --window 200000", /^1 message · /],
  ["grep tests", /fix the tests/],
  ["verify --all", /\n1 session, 0 damaged\n$/],
  ["doctor", /^ok +store +fs:/m],
  ["export a --format html --out a.html", /^wrote a\.html /],
  ["copy a --to sqlite:a.db", /a\.db/],
  ["list --store sqlite:a.db", /\na .* fix the tests\n$/],
  // The packages of these stores are no dependencies of the command.
  ["list --store s3:bucket", /npm install @sessions\/s3 @aws-sdk\/client-s3/, 1],
  ["list --store postgres://localhost/none", /npm install @sessions\/postgres pg/, 1],
  ["lsit", /did you mean "list"/, 2],
]

/**
 * `npx @sessions/cli` in an empty folder, with nothing installed but the packages that its manifest names, as npm gets them. npx starts the first
 * command; the others start the program that it found, since npx takes a second of CPU time.
 */
export const packedCli = {
  name: "cli-packed",
  absent: absent.node,
  async run() {
    return withPackedAlone(async (tarballs, folder) => {
      await install(tarballs, folder)
      const cwd = mkdtempSync(join(folder, "empty-"))
      writeFileSync(join(cwd, "in.jsonl"), LOG)
      let output = ""
      let failed = 0
      const program = join(folder, "node_modules", ".bin", "sessions")
      for (const [i, [line, expected, exit = 0]] of COMMANDS.entries()) {
        // npx finds what is installed above the folder, as npm links it.
        const start = i === 0 ? ["npx", "--no-install", "sessions"] : [program]
        const [command, ...args] = [...start, ...line.split(" ")]
        const result = await run(command, args, { cwd })
        if (result.code === exit && expected.test(result.output)) continue
        failed++
        output += `sessions ${line} ended with ${result.code}:\n${result.output}\n`
      }
      return { passed: COMMANDS.length - failed, failed, skipped: 0, output }
    })
  },
}

async function install(tarballs, folder) {
  const needed = closure()
  await unpackAll(
    tarballs.filter(({ name }) => needed.has(name)),
    folder,
    needed.values(),
  )
  const dir = join(folder, "node_modules", CLI)
  const { bin } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"))
  mkdirSync(join(folder, "node_modules", ".bin"))
  for (const [name, path] of Object.entries(bin)) {
    chmodSync(join(dir, path), 0o755)
    symlinkSync(join(dir, path), join(folder, "node_modules", ".bin", name))
  }
}

/** The command and the packages of the workspace that it depends on, by name, without the optional ones: npx does not install them. */
function closure() {
  const found = new Map()
  const add = (name) => {
    const workspace = publishable().find(({ manifest }) => manifest.name === name)
    if (workspace === undefined || found.has(name)) return
    const { dependencies = {} } = workspace.manifest
    found.set(name, { dir: workspace.dir, manifest: { dependencies } })
    Object.keys(dependencies).forEach(add)
  }
  add(CLI)
  return found
}
