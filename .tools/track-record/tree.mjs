// A copy of the work tree in a temporary folder, to change and to run.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { pnpm } from "../lib/install.mjs"
import { run } from "../lib/run.mjs"
import { root } from "../lib/workspace.mjs"

/** The files that git tracks and those that it would, installed. `remove` ends it; so does the end of the process. */
export async function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), "sessions-track-record-"))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once("exit", remove)
  const listed = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
  for (const file of listed.output.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  const installed = await pnpm(["install", "--frozen-lockfile", "--prefer-offline"], { cwd: folder })
  if (installed.code !== 0) throw new Error(`The copy cannot be installed: ${installed.output}`)
  return { folder, remove }
}

/** Applies a patch, or takes it back. Returns git's message if it does not apply. */
export async function applyPatch(folder, patch, ...options) {
  const file = join(folder, "row.patch")
  writeFileSync(file, patch)
  // The temporary folder may be inside of another repository.
  const env = { GIT_CEILING_DIRECTORIES: dirname(folder) }
  const { code, output } = await run("git", ["apply", ...options, file], { cwd: folder, env })
  rmSync(file)
  return code === 0 ? undefined : output.trim()
}
