import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { link, unpackAll } from "../lib/packed-project.mjs"
import { packages } from "../lib/workspace.mjs"
import { withPacked } from "./packed-step.mjs"
import { vitest } from "./vitest.mjs"

/** Those of `examples/readme` that run code as it stands in a page. */
const TESTS = ["pages", "readme", "http"].map((name) => `examples/readme/${name}.test.ts`)

/** Runs the code of README and docs in a folder that has the packages as npm gets them, outside of this repository. */
export function packedDocs(runtime, absent) {
  const inWorkspace = vitest(runtime, absent)
  return {
    name: `docs-packed:${runtime}`,
    absent,
    async run() {
      return withPacked(async (tarballs, folder) => {
        await unpackAll(tarballs, folder)
        const { dir, manifest } = packages().find(({ manifest: { name } }) => name === "@sessions/example-readme")
        for (const name of Object.keys(manifest.devDependencies))
          link(join(dir, "node_modules", name), join(folder, "node_modules", name))
        writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
        writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }))
        return await inWorkspace.run({ filters: TESTS, env: { PACKED_PROJECT: folder }, report: "docs-packed" })
      })
    },
  }
}
