import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { linkDependencies } from "../lib/packed-project.mjs"
import { olderNode } from "../lib/runtimes.mjs"
import { packages } from "../lib/workspace.mjs"
import { withPacked } from "./packed-step.mjs"
import { vitest } from "./vitest.mjs"

/** These run code as it stands in a page. */
const BLOCKS = "examples/readme/pages.test.ts"
const SERVERS = "examples/readme/http.test.ts"

/** The code of README and docs runs in a folder that has the packages as npm gets them, outside of this repository. */
export function packedDocs(runtime, absent, minutes) {
  return packedPages({ name: runtime, runtime, absent, minutes, filters: [BLOCKS, SERVERS] })
}

/** Its blocks run on an older Node, too. */
export function packedDocsOnOlderNode(major, absent, minutes) {
  const env = { BLOCKS_NODE: olderNode(major) }
  return packedPages({ name: `node${major}`, runtime: "node", absent, minutes, filters: [BLOCKS], env })
}

function packedPages({ name, runtime, absent, minutes, filters, env = {} }) {
  const inWorkspace = vitest(runtime, absent)
  return {
    name: `docs-packed:${name}`,
    absent,
    minutes,
    async run() {
      return withPacked(async (_, folder) => {
        const { dir, manifest } = packages().find(({ manifest: { name } }) => name === "@sessions/example-readme")
        linkDependencies({ dir, manifest: { dependencies: manifest.devDependencies } }, folder)
        writeFileSync(join(folder, "deno.json"), JSON.stringify({ nodeModulesDir: "manual" }))
        return await inWorkspace.run({
          filters,
          env: { ...env, PACKED_PROJECT: folder },
          report: `docs-packed-${name}`,
        })
      })
    },
  }
}
