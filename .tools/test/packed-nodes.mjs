import { join } from "node:path"
import { mkdirSync, writeFileSync } from "node:fs"
import { run } from "../lib/run.mjs"
import { olderNode } from "../lib/runtimes.mjs"
import { publishable } from "../lib/workspace.mjs"
import { withPacked } from "./packed-step.mjs"

/** A session is written and read with the storage of files. */
const PROGRAM = `
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"

const sessions = createSessions({ storage: createFileStorage({ root: "sessions" }) })
const session = await sessions.create({ id: "a" })
await session.append({ type: "message", message: { role: "user", content: "fix the tests" } })
await session.close()
const again = await sessions.open("a")
const { messages } = await again.context()
await sessions.close()
console.log(messages.length, process.version)
`

/** On an older Node, with the packages as npm gets them: every entry can be imported, a session comes back, and the command reads it. */
export function packedOnOlderNode(major, absent) {
  return {
    name: `packed:node${major}`,
    absent,
    async run() {
      return withPacked(async (_, folder) => {
        const imports = entries().map((name) => `await import(${JSON.stringify(name)})`)
        writeFileSync(join(folder, "imports.mjs"), `${imports.join("\n")}\nconsole.log("imported ${imports.length}")\n`)
        writeFileSync(join(folder, "session.mjs"), PROGRAM)
        const command = join(folder, "..", "node_modules", "@sessions", "cli", "dist", "bin.js")
        mkdirSync(join(folder, "sessions"))
        const runs = [
          [["imports.mjs"], new RegExp(`^imported ${imports.length}$`, "m")],
          [["session.mjs"], new RegExp(`^1 v${major}\\.`, "m")],
          [[command, "show", "a", "--store", "file:sessions"], /fix the tests/],
        ]
        let [failed, output] = [0, ""]
        for (const [args, expected] of runs) {
          const result = await run(olderNode(major), args, { cwd: folder })
          if (result.code === 0 && expected.test(result.output)) continue
          failed++
          output += `${args.join(" ")} ended with ${result.code}:\n${result.output}\n`
        }
        return { passed: runs.length - failed, failed, skipped: 0, output }
      })
    },
  }
}

/** What can be imported of all packages: not the entries of commands, which would run. */
function entries() {
  return publishable().flatMap(({ manifest: { name, exports, bin = {} } }) =>
    Object.entries(exports)
      .filter(([, { default: file }]) => !Object.values(bin).includes(file))
      .map(([path]) => name + path.slice(1)),
  )
}
