import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { link } from "../lib/packed-project.mjs"
import { packages } from "../lib/workspace.mjs"
import { withPacked } from "./packed-step.mjs"
import { vitest } from "./vitest.mjs"

/** Those of `examples/readme` that run code as it stands in a page. */
const TESTS = ["pages", "http"].map((name) => `examples/readme/${name}.test.ts`)

/** The code of README and docs runs in a folder that has the packages as npm gets them, outside of this repository. */
export function packedDocs(runtime, absent, minutes) {
  const inWorkspace = vitest(runtime, absent)
  return {
    name: `docs-packed:${runtime}`,
    absent,
    minutes,
    async run() {
      return withPacked(async (_, folder) => {
        const { dir, manifest } = packages().find(({ manifest: { name } }) => name === "@sessions/example-readme")
        for (const name of Object.keys(manifest.devDependencies))
          link(join(dir, "node_modules", name), join(folder, "node_modules", name))
        writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }))
        return await inWorkspace.run({ filters: TESTS, env: { PACKED_PROJECT: folder }, report: "docs-packed" })
      })
    },
  }
}
