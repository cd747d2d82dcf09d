/** An import only reads its sources, whatever they are. */
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { createWorkspace } from "./workspace.ts"

const fixtures = fileURLToPath(new URL("../../../formats/test/fixtures/", import.meta.url))

/** Names, contents and times of a folder. */
function stateOf(folder: string): readonly unknown[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const path = join(folder, name)
      if (!existsSync(path) || statSync(path).isDirectory()) return name
      return [name, statSync(path).mtimeMs, readFileSync(path, "utf8")]
    })
}

test("a folder of many formats, with links that lead nowhere and in a circle, is imported and stays as it was", async () => {
  const workspace = createWorkspace()
  const folder = join(workspace.cwd, "files")
  mkdirSync(join(folder, "loop"), { recursive: true })
  let count = 0
  for (const format of readdirSync(fixtures)) {
    if (!statSync(join(fixtures, format)).isDirectory()) continue
    const [name] = readdirSync(join(fixtures, format)).filter((one) => /^(?!metadata|v4).*\.jsonl?$/.test(one))
    if (name === undefined) continue
    cpSync(join(fixtures, format, name), join(folder, `${format}-${name}`))
    count++
  }
  symlinkSync(folder, join(folder, "loop", "up"))
  symlinkSync(join(folder, "gone"), join(folder, "dangling.jsonl"))
  chmodSync(folder, 0o555)
  onTestFinished(() => chmodSync(folder, 0o755))
  const before = stateOf(folder)
  const first = await workspace.cli("import", folder)
  expect(stateOf(folder)).toEqual(before)
  expect(first.stdout + first.stderr).toContain(`imported ${count} sessions; 0 were there already`)
})
