import { dirname, join } from "node:path"
import { link } from "../lib/packed-project.mjs"
import { run } from "../lib/run.mjs"
import { absent } from "../lib/runtimes.mjs"
import { root } from "../lib/workspace.mjs"
import { withPacked } from "./packed-step.mjs"

const COMMANDS = [["test"], ["run", "test:bun"], ["run", "test:deno"], ["run", "check"], ["run", "build"]]

/** `npm create @sessions/adapter` in an empty folder, with the packages as npm gets them: every command of the new project succeeds. */
export const createAdapter = {
  name: "create-adapter",
  absent: async () => (await absent.node()) ?? (await absent.bun()) ?? absent.deno(),
  async run() {
    return withPacked(async (_, folder) => {
      const types = join("node_modules", "@types", "node")
      link(join(root, types), join(folder, types))
      const generator = join(dirname(folder), "node_modules", "@sessions", "create-adapter", "dist", "bin.js")
      const results = [await run("node", [generator, "my-database"], { cwd: folder })]
      for (const args of COMMANDS) results.push(await run("npm", args, { cwd: join(folder, "my-database") }))
      const failed = results.filter(({ code }) => code !== 0)
      return {
        passed: results.length - failed.length,
        failed: failed.length,
        skipped: 0,
        output: failed.map(({ output }) => output).join("\n"),
      }
    })
  },
}
