import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { packAll } from "../checks/packed.mjs"
import { link, unpackAll } from "../lib/packed-project.mjs"
import { packages } from "../lib/workspace.mjs"
import { build } from "./build.mjs"
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
      const built = await build()
      if (built.code !== 0) return { passed: 0, failed: 1, skipped: 0, output: built.output }
      const { tarballs, failure } = await packAll()
      if (failure !== undefined) return { passed: 0, failed: 1, skipped: 0, output: failure }
      const folder = mkdtempSync(join(tmpdir(), "sessions-docs-"))
      try {
        await unpackAll(tarballs, folder)
        const { dir, manifest } = packages().find(({ manifest: { name } }) => name === "@sessions/example-readme")
        for (const name of Object.keys(manifest.devDependencies))
          link(join(dir, "node_modules", name), join(folder, "node_modules", name))
        writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
        writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }))
        return await inWorkspace.run({ filters: TESTS, env: { PACKED_PROJECT: folder }, report: "docs-packed" })
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}
