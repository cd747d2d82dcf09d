// `node .tools/project.mjs` writes the addresses of .config/project.json into the manifest of each package. `--release` fails while one of
// them is empty: a registry would show packages that lead nowhere.
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { fieldsOf, folderOf, missingOf, project, withFields } from "./lib/project.mjs"
import { publishable } from "./lib/workspace.mjs"

if (process.argv.includes("--release")) {
  const missing = missingOf(project)
  for (const one of missing) console.error(`.config/project.json: ${one}. Fill it in, and run node .tools/project.mjs.`)
  process.exitCode = missing.length > 0 ? 1 : 0
} else {
  for (const { dir, manifest } of publishable()) {
    const fields = fieldsOf(project, folderOf(dir))
    writeFileSync(join(dir, "package.json"), `${JSON.stringify(withFields(manifest, fields), null, 2)}\n`)
  }
}
